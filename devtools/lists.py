"""`dev.py lock`: the pinned lists of requirements/, made anew from what is asked for there."""

from collections.abc import Sequence
from pathlib import Path

from devtools.environment import Environment
from devtools.places import REQUIREMENTS, cache_dir
from devtools.steps import StepError, run_logged, step

# No addresses: which index is used is the affair of whoever installs.
OPTIONS = (
    *("--universal", "--python-version", "3.11", "--generate-hashes"),
    *("--no-header", "--quiet", "--no-emit-index-url", "--no-emit-find-links"),
)
# Name, and the options of its own. Each list keeps to the versions of the one it builds on.
LISTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("core", ()),
    ("app", ("--constraint", "core.txt")),
    ("test", ("--constraint", "app.txt")),
    ("test-core", ("--constraint", "test.txt")),
    ("engine", ("--no-deps", "--no-binary", "llama-cpp-python")),
    ("engine-build", ()),
    ("reference", ("--no-deps",)),
    ("gemma", ("--no-deps",)),
    ("lock", ()),
)


def lock(names: Sequence[str]) -> None:
    """Make the named lists anew, or all of them. Raises StepError."""
    if unknown := set(names) - {name for name, _ in LISTS}:
        raise StepError(f"There is no list named {', '.join(sorted(unknown))}")
    tools = Environment(cache_dir() / "lock-tools")
    tools.ensure(["lock"])
    for name, options in LISTS:
        if not names or name in names:
            _lock_one(tools, name, options)


def _lock_one(tools: Environment, name: str, options: Sequence[str]) -> None:
    files = [f"{name}.in", "--output-file", f"{name}.txt"]
    with step(f"requirements/{name}.txt"):
        argv: list[str | Path] = [
            tools.python,
            "-m",
            "uv",
            "pip",
            "compile",
            *OPTIONS,
            *options,
            *files,
        ]
        run_logged(argv, f"lock-{name}", cwd=REQUIREMENTS)
    if "://" in (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8"):
        raise StepError(f"requirements/{name}.txt holds an address; see `uv pip compile --help`")
