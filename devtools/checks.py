"""What `dev.py test` runs: every check in turn, then a table of how each ended."""

import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from devtools.environment import Environment
from devtools.places import ROOT, VENV, VENV_NO_QT
from devtools.steps import say, show_s

PYTEST = ("-m", "pytest")
OFFSCREEN = {"QT_QPA_PLATFORM": "offscreen", "PYTEST_QT_API": "pyside6"}
X11 = {"QT_QPA_PLATFORM": "xcb", "PYTEST_QT_API": "pyside6"}
NO_QT = {"GRAM_NO_QT": "1"}
# Several files of tests at once. Those of the engine take all cores each, so they run one by one.
AT_ONCE = ("-n", "auto", "--maxprocesses=4", "--dist=loadfile")
QUICK = (*AT_ONCE, "-m", "not engine")
ENGINE = ("-m", "engine")
COVERAGE = ("--cov", "--cov-branch")
REPORTS = ("--cov-report=term:skip-covered", "--cov-report=xml")
# A screen and a session bus of their own, so that neither the person's desktop nor its keychain
# is touched. The bus is inside: what it starts on demand must see the screen.
ON_SCREEN = ("xvfb-run", "-a", "-s", "-screen 0 1600x1000x24", "dbus-run-session", "--")


@dataclass(frozen=True)
class Check:
    """One check: what it is called and how to run it (an exit code; 0 is passed)."""

    title: str
    run: Callable[[], int]


@dataclass(frozen=True)
class Outcome:
    """How a check ended, and its seconds."""

    title: str
    code: int
    seconds_s: float


def checks(env: dict[str, str]) -> list[Check]:
    """All checks, the quick ones first; `env` goes to every program that is tested."""
    qt, no_qt = Environment(VENV), Environment(VENV_NO_QT)
    window = [*PYTEST, "tests/gui", *AT_ONCE]
    unit = [*PYTEST, "-p", "no:pytest-qt", "tests/unit"]
    found = [
        Check("ruff check", lambda: qt.run(["-m", "ruff", "check", "."])),
        Check("ruff format", lambda: qt.run(["-m", "ruff", "format", "--check", "."])),
        Check("mypy", lambda: qt.run(["-m", "mypy"])),
        Check("import contracts", lambda: qt.run(["-c", LINT_IMPORTS])),
        Check("tests of the window", lambda: qt.run(window, OFFSCREEN | env)),
    ]
    if sys.platform == "linux" and _has_tests(ROOT / "tests" / "x11"):
        found.append(Check("tests under X", lambda: on_screen(qt, [*PYTEST, "tests/x11"], env)))
    # where Qt is not installed, so that what needs none is known to need none
    found += [
        Check("tests without Qt", lambda: no_qt.run([*unit, *QUICK], NO_QT | env)),
        Check("tests of the engine", lambda: no_qt.run([*unit, *ENGINE], NO_QT | env)),
    ]
    return found


def coverage_checks(env: dict[str, str]) -> list[Check]:
    """The tests in one environment with their coverage counted, which takes twice as long."""
    qt = Environment(VENV)
    rest = ("tests", "--ignore=tests/x11", "--ignore=tests/soak")
    quick = [*PYTEST, *rest, *QUICK, *COVERAGE, "--cov-report="]
    engine = [*PYTEST, *rest, *ENGINE, *COVERAGE, "--cov-append", *REPORTS]
    return [
        Check("coverage of the tests", lambda: qt.run(quick, OFFSCREEN | env)),
        Check("and of the engine's", lambda: qt.run(engine, OFFSCREEN | env)),
    ]


LINT_IMPORTS = "import sys; from importlinter.cli import lint_imports_command as c; sys.exit(c())"


def _has_tests(folder: Path) -> bool:
    return any(folder.rglob("test_*.py"))


def on_screen(environment: Environment, argv: Sequence[str | Path], env: dict[str, str]) -> int:
    """Run the environment's Python on a screen of its own under Linux, else on the one here."""
    if sys.platform != "linux":
        return environment.run(argv, env)
    if absent := [name for name in ("xvfb-run", "dbus-run-session") if not shutil.which(name)]:
        say(f"{' and '.join(absent)} not found: install the packages named above")
        return 1
    return environment.run(argv, X11 | env, before=ON_SCREEN)


def run_all(found: Sequence[Check]) -> int:
    """Run every check, also after one failed, and print the table. 0 when all passed, else 1."""
    outcomes = [_run_one(check, at, len(found)) for at, check in enumerate(found, 1)]
    say("")
    for outcome in outcomes:
        say(summary_line(outcome))
    total_s = sum(outcome.seconds_s for outcome in outcomes)
    failed = [outcome.title for outcome in outcomes if outcome.code != 0]
    say(f"{'FAILED: ' + ', '.join(failed) if failed else 'All passed'}, {show_s(total_s)}")
    return 1 if failed else 0


def _run_one(check: Check, at: int, total: int) -> Outcome:
    say(f"\n== {at}/{total} {check.title}")
    start_s = time.monotonic()
    code = check.run()
    return Outcome(check.title, code, time.monotonic() - start_s)


def summary_line(outcome: Outcome) -> str:
    """`    ok  mypy               12 s`."""
    word = "ok" if outcome.code == 0 else "FAILED"
    return f"{word:>6}  {outcome.title:<18} {show_s(outcome.seconds_s):>12}"


def pytest_only(args: Sequence[str], env: dict[str, str]) -> int:
    """Just pytest, with a person's own arguments, offscreen unless they chose otherwise."""
    chosen = os.environ.get("QT_QPA_PLATFORM")
    qt = OFFSCREEN | ({"QT_QPA_PLATFORM": chosen} if chosen else {})
    return Environment(VENV).run([*PYTEST, *args], qt | env)
