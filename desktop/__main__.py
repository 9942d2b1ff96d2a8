"""The doors: `gram` in a terminal, the window, and the worker process.

Imports happen behind each door: the terminal never loads Qt, the worker neither Qt nor keys.
"""

import sys


def main() -> int:
    """Open the door that the command line asks for; returns the exit status."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["--worker"]:
        from desktop.bench.worker import main as worker  # noqa: PLC0415

        return worker(arguments[1:])
    if arguments[:1] == ["--first-run"]:
        return _first_run(arguments[1:])
    # its help is the terminal's: it needs no Qt
    if arguments[:1] == ["window"] and not {"-h", "--help"} & set(arguments):
        return _window(arguments[1:])
    from desktop.cli import main as terminal  # noqa: PLC0415

    return terminal(arguments)


def window() -> int:
    """Open the window: the door of the windowed program."""
    return _window(sys.argv[1:])


def _window(arguments: list[str]) -> int:
    from desktop.app import main as app  # noqa: PLC0415

    return app(arguments)


def _first_run(arguments: list[str]) -> int:
    """Detect, measure the reference build, sign, keep, show; in a window if there is a screen."""
    from desktop.machine.screen import screen_held  # noqa: PLC0415

    with screen_held() as there:
        if there:
            return _window(["--measure", "--allow-key-file", *arguments])
    from desktop.cli import main as terminal  # noqa: PLC0415

    return terminal(["bench", "--allow-key-file", *arguments])


if __name__ == "__main__":
    sys.exit(main())
