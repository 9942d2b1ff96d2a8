"""dev.py's commands. Each returns the exit code of the program."""

import os
import subprocess
import sys
from collections.abc import Sequence

from devtools import checks, system
from devtools.engine import ensure_engine, plan
from devtools.environment import Environment
from devtools.launcher import write_launcher
from devtools.lists import lock
from devtools.locking import held
from devtools.places import ROOT, STATE, VENV, VENV_NO_QT
from devtools.reference import GEMMA, REFERENCE, build_env
from devtools.steps import say


def set_up(lists: Sequence[str], packages: Sequence[str], backend: str | None) -> dict[str, str]:
    """Make `.venv` hold `lists` and the engine; variables for the program that is started next."""
    with held(STATE / "lock", "setting up this clone"):
        system.ensure_packages(packages)
        environment = Environment(VENV)
        environment.ensure(lists)
        ensure_engine(environment, backend)
        reference = build_env(environment, REFERENCE)
        write_launcher(reference)
        return reference


def _for_running() -> list[str]:
    return [*system.BASE, *(system.WINDOW if system.has_screen() else [])]


def _for_tests(backend: str | None) -> dict[str, str]:
    packages = [*system.BASE, *system.WINDOW, *system.TESTS]
    return set_up(["app", "test"], packages, backend)


def setup(_args: Sequence[str], backend: str | None) -> int:
    """Everything that `run` and `test` need, without running anything."""
    _for_tests(backend)
    _set_up_without_qt(backend)
    say(f"Ready: {VENV.name} and {VENV_NO_QT.name}")
    return 0


def _set_up_without_qt(backend: str | None) -> None:
    with held(STATE / "lock", "setting up this clone"):
        environment = Environment(VENV_NO_QT)
        environment.ensure(["test-core"])
        ensure_engine(environment, backend)


def run(args: Sequence[str], backend: str | None) -> int:  # noqa: RET503 - see its last line
    """Start the program; it takes this process's place where the system can do that."""
    env = set_up(["app"], _for_running(), backend)
    argv = [str(Environment(VENV).python), "-m", "desktop", "--first-run", *args]
    whole = {**os.environ, **env, "PYTHONPATH": _with_root(), "PYTHONSAFEPATH": "1"}
    if sys.platform == "win32":  # there exec would hand the terminal back at once
        return subprocess.run(argv, env=whole, check=False).returncode
    sys.stdout.flush()
    os.execve(argv[0], argv, whole)  # noqa: S606 - never returns; no shell is wanted


def _with_root() -> str:
    """PYTHONPATH that finds the package of this clone from any folder a person stands in."""
    return os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))


def test(args: Sequence[str], backend: str | None) -> int:
    """All checks; with arguments just pytest with those."""
    env = _for_tests(backend)
    if args:
        return checks.pytest_only(args, env)
    _set_up_without_qt(backend)
    return checks.run_all(checks.checks(env))


def coverage(_args: Sequence[str], backend: str | None) -> int:
    """The tests once more, with statement and branch coverage counted."""
    return checks.run_all(checks.coverage_checks(_for_tests(backend)))


def package(args: Sequence[str], backend: str | None) -> int:
    """Freeze the program into dist/gram and try it."""
    env = _for_tests(backend)
    system.ensure_packages(system.python_library())
    environment = Environment(VENV)
    folders = ["--distpath", "dist", "--workpath", "build"]
    build = ["-m", "PyInstaller", "--noconfirm", *folders, *args, "packaging/gram.spec"]
    return environment.run(build, env) or environment.run(["packaging/smoke.py", "dist/gram"], env)


def docs(args: Sequence[str], backend: str | None) -> int:
    """Take the pictures of the documentation anew, on a screen of their own."""
    env = _for_tests(backend)
    return checks.on_screen(Environment(VENV), ["docs/screenshots.py", *(args or ["--real"])], env)


def soak(args: Sequence[str], backend: str | None) -> int:
    """The long proofs: kills, loads, fuzzing."""
    env = _for_tests(backend)
    env |= build_env(Environment(VENV), GEMMA)
    return checks.pytest_only(["tests/soak", "-m", "soak", *args], env)


def release(args: Sequence[str], backend: str | None) -> int:
    """What must pass before a release: all checks, the frozen program, a clean machine."""
    clean_root = [sys.executable, str(ROOT / "packaging" / "clean_root.py"), *args]
    return (
        test((), backend)
        or coverage((), backend)
        or package((), backend)
        or subprocess.run(clean_root, check=False).returncode
    )


def engine(_args: Sequence[str], backend: str | None) -> int:
    """Build the engine and put it into the environment; say which one it is."""
    set_up(["app"], system.BASE, backend)
    build = plan(backend or Environment(VENV).stamp.get("backend", "auto"))
    say(f"llama.cpp of llama-cpp-python {build.version} for {build.backend.name}")
    say(f"  because {build.backend.why}\n  kept in {build.folder}")
    return 0


def lists(args: Sequence[str], _backend: str | None) -> int:
    """Make the pinned lists in requirements/ anew."""
    lock(args)
    return 0
