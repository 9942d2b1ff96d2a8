"""Folders that the person added in the settings, and single files."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from desktop.builds.header import shown_name
from desktop.builds.on_disk.here import Here, expanded, is_file, is_folder
from desktop.builds.on_disk.look import Look
from desktop.builds.on_disk.naming import is_gguf
from desktop.builds.split_sets import beside
from desktop.records.on_disk import FoundFile

PROGRAM: Final = "own folder"


def finder_in(folders: tuple[str, ...]) -> Callable[[Here, Look], Iterator[FoundFile]]:
    """A finder of GGUF files in the folders, however deep; one that is not there is told.

    In place of a folder there may be a GGUF file; of a split set, any of its parts.
    """

    def find(here: Here, look: Look) -> Iterator[FoundFile]:
        for folder in (expanded(here, text) for text in folders if text.strip()):
            if is_folder(folder):
                paths: Iterable[Path] = look.files(folder)
            elif is_gguf(folder) and is_file(folder):
                paths = beside(folder)
            else:
                look.tell("on_disk_no_folder", folder)
                continue
            for path in filter(is_gguf, paths):
                yield from look.found(path, shown_name(path))

    return find
