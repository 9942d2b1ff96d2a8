"""Whether a GGUF file is a build: a language model, and whole; and in which quantization."""

import os
from pathlib import Path
from typing import BinaryIO, Final

from desktop.builds.describe import quantization
from desktop.builds.header import MAGIC, read_header_from
from desktop.builds.memory import Memory, identity
from desktop.builds.split_names import part_of
from desktop.errors import BuildError
from desktop.own_files import never_a_pipe
from desktop.records.build import Header

_BUILD: Final = "build"
_OTHER: Final = "other"
_OTHER_TYPES: Final = frozenset({"adapter", "imatrix", "mmproj"})
"""Of `general.type`; source: llama.cpp, `gguf-py/gguf/constants.py` (`GGUFType`)."""
_OTHER_ARCHITECTURES: Final = frozenset({"clip", "imatrix"})


class Headers:
    """What the headers of files say, each read once until its file changes."""

    def __init__(self, memory: Memory | None = None) -> None:
        self._memory = memory
        self._fresh: dict[str, str] = {}

    def is_build(self, path: Path, found: os.stat_result) -> bool:
        """Whether the file at `path`, which is as `found` says, holds a language model.

        Raises:
            BuildError, OSError: as `header_of_build`; such a file is read again next time.
        """
        return self._said(path, found).partition(" ")[0] == _BUILD

    def quantization(self, path: Path, found: os.stat_result) -> str | None:
        """What its header tells, `Q4_K_M`; None where it is no build or tells nothing.

        Raises:
            BuildError, OSError: as `is_build`.
        """
        kind, _, label = self._said(path, found).partition(" ")
        return label or None if kind == _BUILD else None

    def keep(self) -> None:
        """Remember for other times what was read."""
        if self._memory is not None:
            self._memory.remember(self._fresh)
            self._fresh.clear()

    def _said(self, path: Path, found: os.stat_result) -> str:
        key = identity(found)
        known = self._fresh.get(key) or (self._memory.known(key) if self._memory else None)
        if known is None:
            with open(path, "rb", opener=never_a_pipe) as file:
                header = header_of_build(file, found.st_size, path.name)
            told = _OTHER if header is None else f"{_BUILD} {quantization(header) or ''}".strip()
            self._fresh[key] = known = told
        return known


def header_of_build(file: BinaryIO, size_bytes: int, name: str) -> Header | None:
    """The header of a file from which a language model can be loaded; None of another GGUF file.

    Later parts of a split set count as such.

    Raises:
        BuildError: it is no GGUF file, or damaged, or cut short.
        OSError: it cannot be read.
    """
    part = part_of(name)
    if part is not None and part[1] > 1:
        # its header has the tensors of the part and no architecture
        return read_header_from(file, size_bytes, name, later_part=True)
    try:
        header = read_header_from(file, size_bytes, name)
    except BuildError:
        if _declares(file, b"imatrix"):
            return None
        raise
    return header if _is_language_model(header) else None


def _is_language_model(header: Header) -> bool:
    """llama.cpp loads nothing without a count of blocks; models of images have none."""
    kind = header.metadata.get("general.type")
    return (
        kind not in _OTHER_TYPES
        and header.architecture not in _OTHER_ARCHITECTURES
        and header.integer("block_count") is not None
    )


def _declares(file: BinaryIO, kind: bytes) -> bool:
    """Whether the first keys say `general.type`; statistics have no architecture."""
    file.seek(0)
    begin = file.read(4096)
    return begin.startswith(MAGIC) and b"general.type" in begin and kind in begin
