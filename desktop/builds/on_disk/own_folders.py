"""Folders that the person added in the settings."""

from collections.abc import Callable, Iterator
from typing import Final

from desktop.builds.header import shown_name
from desktop.builds.on_disk.here import Here, expanded, is_folder
from desktop.builds.on_disk.look import Look
from desktop.builds.on_disk.naming import is_gguf
from desktop.records.on_disk import FoundFile

PROGRAM: Final = "own folder"


def finder_in(folders: tuple[str, ...]) -> Callable[[Here, Look], Iterator[FoundFile]]:
    """A finder of GGUF files in the folders, however deep; one that is not there is told."""

    def find(here: Here, look: Look) -> Iterator[FoundFile]:
        for folder in (expanded(here, text) for text in folders if text.strip()):
            if not is_folder(folder):
                look.tell("on_disk_no_folder", folder)
                continue
            for path in filter(is_gguf, look.files(folder)):
                yield from look.found(path, shown_name(path))

    return find
