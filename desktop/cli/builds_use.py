"""`gram builds use`: how to run a build best here with other programs."""

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from typing import Final

from desktop.cli.begin import begin_log
from desktop.cli.output import say, say_json, say_reason
from desktop.cli.plain import to_plain
from desktop.cli.prose import heading, paragraph
from desktop.errors import Reason
from desktop.paths import default_paths
from desktop.records.offers import BuildUse, UseWay
from desktop.services.build_use import use_of_build
from desktop.services.ground import read_ground

_CLIPBOARDS: Final[Sequence[Sequence[str]]] = (
    ("pbcopy",),
    ("clip.exe",),
    ("wl-copy",),
    ("xclip", "-selection", "clipboard"),
    ("xsel", "--clipboard", "--input"),
)
_COPY_S: Final = 5.0
_NAMES_FILE: Final = frozenset({"use_ollama_modelfile"})
"""Steps that say where to put a way's file, so they stand before it."""


def run(name: str, *, context: int | None, copy: bool, as_json: bool) -> None:
    """Show each program's way.

    Raises:
        GramError: there is no such build, or it cannot be read.
    """
    paths = default_paths()
    begin_log(paths)
    found = use_of_build(paths, name, lambda: read_ground(paths), context=context)
    if as_json:
        say_json(to_plain(found))
    else:
        ways(found)
    if copy:
        _copy(next(way for way in found.ways if way.command))


def ways(found: BuildUse) -> None:
    """Each program's way."""
    for reason in found.told:
        say_reason(reason)
    for way in found.ways:
        _way(way)


def _way(way: UseWay) -> None:
    """What it is, then what is to be pasted, each with its own line before it; notes last."""
    heading(way.program)
    if way.file:
        _steps(step for step in way.steps if step.code in _NAMES_FILE)
        say("")
        say(way.file.rstrip())
        say("")
    if way.command:
        say("Then run:" if way.file else "Run:")
        say("")
        # never wrapped: it is to be pasted
        say(way.command)
        say("")
    _steps(step for step in way.steps if step.code not in _NAMES_FILE)


def _steps(steps: Iterable[Reason]) -> None:
    for step in steps:
        paragraph(f"{step.text()} {step.advice()}".strip())


def _copy(way: UseWay) -> None:
    """By the first program that can."""
    program = next((words for words in _CLIPBOARDS if shutil.which(words[0])), None)
    if program is None:
        say_reason(Reason("copy_failed", {"detail": "no program for it was found"}))
        return
    command, nowhere = way.command.encode(), subprocess.DEVNULL
    try:
        subprocess.run(program, input=command, check=True, timeout=_COPY_S, stdout=nowhere)
    except (OSError, subprocess.SubprocessError) as e:
        say_reason(Reason("copy_failed", {"detail": str(e)}))
    else:
        say(f"Copied: the command of {way.program}", err=True)
