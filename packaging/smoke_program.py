"""The frozen program under test: how the smoke test runs it and looks at what it says."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SUFFIX = ".exe" if sys.platform == "win32" else ""
# Lines on stderr that may stand there, with the reason why.
ALLOWED: tuple[tuple[str, str], ...] = ()
NOT_CARRIED = ("PYTHON", "QT_", "GRAM_HOME", "DBUS_SESSION", "WAYLAND_DISPLAY", "DISPLAY", "LD_")


class SmokeError(Exception):
    """The frozen program did not do what it should."""


@dataclass(frozen=True, slots=True)
class Done:
    """How one command ended."""

    status: int
    out: str
    err: str
    wall_s: float


@dataclass(frozen=True, slots=True)
class Frozen:
    """The folder under test and a profile of its own."""

    folder: Path
    home: Path

    def program(self, name: str = "gram") -> str:
        """The path of one program.

        Raises:
            SmokeError: it is not there.
        """
        path = self.folder / (name + SUFFIX)
        if not path.is_file():
            raise SmokeError(f"there is no {path}")
        return str(path)

    def run(self, *words: str, timeout_s: float = 60.0) -> Done:
        """Run the console program without a screen and look at every line that it should not say.

        Raises:
            SmokeError: it takes too long, or says something that nobody asked for.
        """
        done = execute([self.program(), *words], self.environment(), timeout_s)
        refuse_strange_lines(done.err)
        return done

    def environment(self, **more: str) -> dict[str, str]:
        """This process's variables without those that lead to another profile, screen or Python."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(NOT_CARRIED)}
        return {**kept, "GRAM_HOME": str(self.home), **more}


def execute(argv: Sequence[str], env: dict[str, str], timeout_s: float) -> Done:
    """Run one command with stdin closed.

    Raises:
        SmokeError: it does not end in time.
    """
    start_s = time.perf_counter()
    try:
        ended = subprocess.run(
            argv,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as e:
        raise SmokeError(f"{' '.join(argv[1:])} did not end within {timeout_s:.0f} s") from e
    return Done(ended.returncode, ended.stdout, ended.stderr, time.perf_counter() - start_s)


def refuse_strange_lines(text: str) -> None:
    """Let pass only lines of `ALLOWED`.

    Raises:
        SmokeError: with the first other line.
    """
    for line in text.splitlines():
        if line.strip() and not any(re.fullmatch(p, line.strip()) for p, _ in ALLOWED):
            raise SmokeError(f"unexpected line of output: {line[:300]!r}\n{text[-1500:]}")


def must(is_so: object, what: str, done: Done | None = None) -> None:
    """Fail with `what`, and with what the program said.

    Raises:
        SmokeError: `is_so` is false.
    """
    if not is_so:
        said = f"\nstatus {done.status}\n{done.out[-1500:]}\n{done.err[-1500:]}" if done else ""
        raise SmokeError(what + said)
