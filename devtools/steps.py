"""Steps: a line for a person with the time it took, everything else into a log file."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from devtools.places import LOGS, ROOT

TAIL_LINES = 25
TENTHS_BELOW_S = 10


class StepError(Exception):
    """A step failed; the message says what to do next."""


class Progress:
    """The line of the step that runs now: rewritten on a terminal, else printed now and then."""

    def __init__(self, title: str, every_s: float = 15.0) -> None:
        self._title = title
        self._note = ""
        self._every_s = every_s
        self._live = sys.stdout.isatty()
        self._start_s = self._printed_s = time.monotonic()
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def start(self) -> None:
        """Print the title and, on a terminal, let the seconds run."""
        if self._live:
            self._ticker.start()
        else:
            say(f"... {self._title}")

    def note(self, text: str) -> None:
        """Say how far the step is; shown at once on a terminal, else at most every 15 s."""
        if not text:
            return
        self._note = text
        now_s = time.monotonic()
        if not self._live and now_s - self._printed_s >= self._every_s:
            self._printed_s = now_s
            say(f"    {text}")

    def end(self, word: str) -> None:
        """Print the step's last line: how it ended and its seconds."""
        self._over.set()
        if self._live:
            self._ticker.join()
        line = f"{word:>6}  {self._title}  {self._elapsed()}"
        say(f"\r{line:<100}".rstrip() if self._live else line)

    def _elapsed(self) -> str:
        return show_s(time.monotonic() - self._start_s)

    def _tick(self) -> None:
        while not self._over.wait(0.5):
            line = f"   ...  {self._title}  {self._elapsed()}  {self._note}"
            print(f"\r{line[:100]:<100}", end="", flush=True)


def say(text: str) -> None:
    """Print a line at once, also when the output is a pipe."""
    print(text, flush=True)


def show_s(seconds: float) -> str:
    """Seconds for a person: `0.4 s`, `39 s`, `2 min 21 s`."""
    if seconds < TENTHS_BELOW_S:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


@contextlib.contextmanager
def step(title: str) -> Iterator[Progress]:
    """Show `title` while the body runs, then `ok` or `FAILED` with the time."""
    progress = Progress(title)
    progress.start()
    try:
        yield progress
    except BaseException:
        progress.end("FAILED")
        raise
    progress.end("ok")


def run_logged(
    argv: Sequence[str | Path],
    log_name: str,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    on_line: Callable[[str], None] | None = None,
) -> None:
    """Run a command with its output in `.dev/logs/<log_name>.log`.

    `env` is added to this process's environment; `on_line` is called with each line of output.
    Raises StepError with the log's path and last lines when the command fails or is not there.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{log_name}.log"
    words = [str(word) for word in argv]
    try:
        code = _run_into(log, words, {**os.environ, **(env or {})}, cwd, on_line)
    except OSError as error:
        raise StepError(f"Cannot start {words[0]}: {error}") from error
    if code != 0:
        raise StepError(f"{tail(log)}\n\nThe command ended with code {code}. Whole log: {log}")


def _run_into(
    log: Path,
    argv: list[str],
    env: dict[str, str],
    cwd: Path,
    on_line: Callable[[str], None] | None,
) -> int:
    with log.open("w", encoding="utf-8", errors="replace") as out:
        out.write("$ " + " ".join(argv) + "\n")
        with subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        ) as process:
            for line in process.stdout or ():
                out.write(line)
                out.flush()
                if on_line:
                    on_line(line)
        return process.returncode


def tail(log: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a log, each cut to 300 characters."""
    text = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(line[:300] for line in text[-lines:])
