"""Whether a GGUF file is a build: a language model, and whole."""

from typing import BinaryIO, Final

from desktop.builds.header import read_header_from
from desktop.builds.on_disk.naming import part_of
from desktop.errors import BuildError
from desktop.records.build import Header

_MAGIC: Final = b"GGUF"
_OTHER_TYPES: Final = frozenset({"adapter", "imatrix", "mmproj"})
"""Of `general.type`; source: llama.cpp, `gguf-py/gguf/constants.py` (`GGUFType`)."""
_OTHER_ARCHITECTURES: Final = frozenset({"clip", "imatrix"})


def is_build(file: BinaryIO, size_bytes: int, name: str) -> bool:
    """Whether a language model can be loaded from it; later parts of a split set count as such.

    Raises:
        BuildError: it is no GGUF file, or damaged, or cut short.
        OSError: it cannot be read.
    """
    part = part_of(name)
    if part is not None and part[1] > 1:
        # its header has the tensors of the part and no architecture
        return file.read(len(_MAGIC)) == _MAGIC
    try:
        header = read_header_from(file, size_bytes, name)
    except BuildError:
        if _declares(file, b"imatrix"):
            return False
        raise
    return _is_language_model(header)


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
    return begin.startswith(_MAGIC) and b"general.type" in begin and kind in begin
