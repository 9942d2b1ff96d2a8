"""All finders together: what is found is told once for each build, with every place it was seen."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from desktop.builds.hashes import Hashes
from desktop.builds.memory import Memory
from desktop.builds.on_disk import (
    gpt4all,
    hugging_face,
    jan,
    llama_cpp,
    lm_studio,
    ollama,
    own_folders,
)
from desktop.builds.on_disk.here import Here
from desktop.builds.on_disk.join import joined, whole_sets
from desktop.builds.on_disk.kinds import Headers
from desktop.builds.on_disk.limits import Limits
from desktop.builds.on_disk.look import Look
from desktop.errors import Reason
from desktop.paths import Paths
from desktop.records.on_disk import FoundFile, OnDisk

Finder: TypeAlias = Callable[[Here, Look], Iterator[FoundFile]]

FINDERS: Final[Mapping[str, Finder]] = {
    hugging_face.PROGRAM: hugging_face.find_hugging_face,
    llama_cpp.PROGRAM: llama_cpp.find_llama_cpp,
    lm_studio.PROGRAM: lm_studio.find_lm_studio,
    ollama.PROGRAM: ollama.find_ollama,
    jan.PROGRAM: jan.find_jan,
    gpt4all.PROGRAM: gpt4all.find_gpt4all,
}
"""By the program's name; the first that has a build tells its name."""


def here_now(paths: Paths) -> Here:
    """This person on this machine.

    Raises:
        RuntimeError: the system knows no home of theirs.
    """
    return Here(Path.home(), os.environ, sys.platform, own=paths.builds)


def headers_in(paths: Paths) -> Memory:
    """What is remembered of headers in this profile."""
    return Memory(paths.cache / "headers.json")


def find_on_disk(
    here: Here,
    *,
    folders: tuple[str, ...] = (),
    hashes: Hashes | None = None,
    headers: Memory | None = None,
    limits: Limits | None = None,
) -> OnDisk:
    """Look at what other programs keep. Reads a few bytes of each file; changes nothing.

    Args:
        here: whose folders.
        folders: more folders, as the person wrote them.
        hashes: what is remembered of files; nothing is hashed.
        headers: what is remembered of headers; what is read is added.
        limits: of each program's search.

    Returns:
        The builds, and what could not be used. Never raises for what lies on the disk.
    """
    limits, kinds = limits or Limits(), Headers(headers)
    finders = {**FINDERS, own_folders.PROGRAM: own_folders.finder_in(folders)}
    found: list[FoundFile] = []
    told: list[Reason] = []
    for program, finder in finders.items():
        look = Look(program, limits, kinds)
        found.extend(whole_sets(_tried(finder, here, look), look))
        told.extend(look.told)
        kinds.keep()
    return OnDisk(joined(found, hashes), tuple(told))


def find_in(here: Here, folder: str, *, headers: Memory | None = None) -> OnDisk:
    """The builds in one folder or file of the person's own, as `find_on_disk` would find them."""
    kinds = Headers(headers)
    look = Look(own_folders.PROGRAM, Limits(), kinds)
    found = list(whole_sets(_tried(own_folders.finder_in((folder,)), here, look), look))
    kinds.keep()
    return OnDisk(joined(found), tuple(look.told))


def _tried(finder: Finder, here: Here, look: Look) -> Iterator[FoundFile]:
    """What a finder finds, as far as it comes: one program's mess is not another's."""
    own = os.path.realpath(here.own) + os.sep if here.own else None
    try:
        for file in finder(here, look):
            if own is None or not os.path.realpath(file.path).startswith(own):
                # bytes that are no UTF-8 can be opened, not shown
                yield replace(file, name=file.name.encode("utf-8", "replace").decode())
    except (OSError, ValueError, RuntimeError) as e:
        look.tell("on_disk_unreadable", here.home, detail=type(e).__name__)
