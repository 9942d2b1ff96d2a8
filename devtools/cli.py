"""dev.py's command line."""

import argparse
from collections.abc import Callable, Sequence

from devtools import commands
from devtools.backend import NAMES
from devtools.steps import StepError, say

Command = Callable[[Sequence[str], str | None], int]
# Name, what it does, what its further arguments are.
COMMANDS: tuple[tuple[str, Command, str], ...] = (
    ("run", commands.run, "set up what is missing and measure; arguments as for gram bench"),
    ("test", commands.test, "all checks and tests; further arguments: just pytest with those"),
    ("coverage", commands.coverage, "the tests with their coverage counted, which takes longer"),
    ("package", commands.package, "freeze the program into dist/gram and try it"),
    ("docs", commands.docs, "take the documentation's pictures anew"),
    ("soak", commands.soak, "the long proofs: kill -9, full disks; further arguments to pytest"),
    ("release", commands.release, "test, coverage, package, and both commands on a clean Debian"),
    ("setup", commands.setup, "set up for run and test, and start nothing"),
    ("engine", commands.engine, "build the engine, put it in the environment, say which it is"),
    ("lock", commands.lists, "make requirements/*.txt anew (all, or the lists named)"),
)
EPILOG = """\
The first start makes .venv, compiles llama.cpp for this machine (minutes, once) and fetches a
98 MB model to measure with; the next one starts at once. Variables: GRAM_DEV_CACHE is where the
compiled engine and the model are kept; GRAM_REFERENCE_FILE is a model file to take instead.
"""


def main(argv: Sequence[str]) -> int:
    """Run one command; the exit code: 0 done, 1 failed, 2 not understood, 130 interrupted."""
    own, passed = split(argv)
    args = _parser().parse_args(own)
    command: Command = args.command
    try:
        return command(passed, args.backend)
    except StepError as error:
        say(f"\n{error}")
        return 1
    except KeyboardInterrupt:
        say("\nInterrupted; the next start goes on from here.")
        return 130


def split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """dev.py's own words (the command and options right after it), and those it passes on."""
    own = list(argv[:1])
    rest = list(argv[1:])
    while rest and _is_own(rest[0]):
        takes_value = rest[0] == "--backend"
        own += rest[: 1 + takes_value]
        rest = rest[1 + takes_value :]
    return own, rest[1:] if rest[:1] == ["--"] else rest


def _is_own(word: str) -> bool:
    return word in ("-h", "--help", "--backend") or word.startswith("--backend=")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dev.py",
        description="Set up, run, test and package Gram from a clone.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    chosen = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command, text in COMMANDS:
        one = chosen.add_parser(name, help=text, description=text, usage=f"dev.py {name} [ARG ...]")
        one.add_argument("--backend", choices=NAMES, help="what the engine is built for")
        one.set_defaults(command=command)
    return parser
