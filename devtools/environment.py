"""Virtual environments from hash-pinned lists, made once and topped up when a list is added."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from devtools.places import REQUIREMENTS, ROOT, venv_python
from devtools.stamp import Stamp, base_stamp, file_sha256, holds, read_stamp, write_stamp
from devtools.steps import run_logged, step

PIP = ["-m", "pip", "--disable-pip-version-check", "--no-input"]
ONE_BY_ONE = ["--require-hashes", "--no-deps"]  # the lists are complete: nothing is to be resolved


class Environment:
    """One virtual environment and its stamp, which is written after everything it tells of."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = venv_python(folder)
        self._stamp_path = folder / "gram-stamp.json"

    @property
    def stamp(self) -> Stamp:
        """What the environment was made from; empty when it is not whole."""
        return read_stamp(self._stamp_path)

    def ready(self, wanted: Stamp) -> bool:
        """Whether the environment was made by this Python and holds all that is wanted."""
        return self.python.exists() and holds(self.stamp, base_stamp() | wanted)

    def ensure(self, lists: Sequence[str]) -> None:
        """Make the environment hold `lists` (names in requirements/, without .txt).

        A list that changed means a new environment: nothing of the old one may stay behind.
        Raises StepError with the log when an installation fails; the next call starts over.
        """
        wanted = {name: file_sha256(REQUIREMENTS / f"{name}.txt") for name in lists}
        if self.ready(wanted):
            return
        known = {name: self.stamp.get(name, sha256) for name, sha256 in wanted.items()}
        if known != wanted or not self.ready({}):
            self._create()
        for name in lists:
            if name not in self.stamp:
                with self.changing({name: wanted[name]}):
                    self._install(name)

    @contextlib.contextmanager
    def changing(self, facts: Stamp) -> Iterator[None]:
        """Change the environment in the body, then add `facts` to its stamp.

        There is no stamp meanwhile: packages that an interrupted pip left half installed look
        whole to the next pip, so that an environment without a stamp is made anew.
        """
        before = self.stamp
        self._stamp_path.unlink(missing_ok=True)
        yield
        write_stamp(self._stamp_path, before | facts)

    def _create(self) -> None:
        # dev.py may itself run inside the environment that is made anew.
        python = getattr(sys, "_base_executable", sys.executable)
        with step(f"environment {self.folder.name} (Python {base_stamp()['python']})"):
            if self.folder.exists():
                shutil.rmtree(self.folder)
            run_logged([python, "-m", "venv", self.folder], f"{self.folder.name}-create")
            write_stamp(self._stamp_path, base_stamp())

    def _install(self, name: str) -> None:
        source = REQUIREMENTS / f"{name}.txt"
        with step(f"{self.folder.name}: packages of requirements/{name}.txt") as progress:
            self.pip(
                ["install", *ONE_BY_ONE, "--requirement", source],
                f"{self.folder.name}-{name}",
                on_line=lambda line: progress.note(short_pip_line(line)),
            )

    def pip(
        self,
        argv: Sequence[str | Path],
        log_name: str,
        *,
        env: Mapping[str, str] | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> None:
        """Run this environment's pip, its output into `.dev/logs/<log_name>.log`."""
        with_root = {"PIP_ROOT_USER_ACTION": "ignore", **(env or {})}
        run_logged([self.python, *PIP, *argv], log_name, env=with_root, on_line=on_line)

    def run(
        self,
        argv: Sequence[str | Path],
        env: Mapping[str, str] | None = None,
        before: Sequence[str] = (),
    ) -> int:
        """Run this environment's Python on this terminal; its exit code.

        `env` is added to the variables; `before` are the words of a program that starts it.
        """
        words = [*before, str(self.python), *(str(word) for word in argv)]
        whole = {**os.environ, **(env or {})}
        return subprocess.run(words, env=whole, cwd=ROOT, check=False).returncode


def short_pip_line(line: str) -> str:
    """The part of a line of pip's output that is worth showing: what it does with which package."""
    return " ".join(line.split()[:2]) if line.startswith(("Collecting", "Installing")) else ""
