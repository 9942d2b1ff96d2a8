"""From a file to what identifies the build in it."""

import math
from collections import Counter
from pathlib import Path
from typing import Final

from desktop.builds.hashes import Hashes, Progress, sha256_of
from desktop.builds.header import read_header, shown_name
from desktop.errors import BuildError
from desktop.records.build import Build, Header
from desktop.rules.ggml_types import FILE_TYPES, GUESSED

SYNTHETIC_KEY: Final = "gram.synthetic"
REHEARSAL_KEY: Final = "gram.rehearsal"
MAX_MODEL_NAME: Final = 120


def describe(
    path: Path,
    *,
    name: str | None = None,
    synthetic: bool = False,
    progress: Progress | None = None,
    hashes: Hashes | None = None,
) -> Build:
    """Read the header and hash the file.

    `name` defaults to the file's own name without folders; `synthetic` only adds to what the file
    says of itself. With `hashes`, a file that was hashed before is not read again.

    Raises:
        BuildError: see `read_header`; `build_split` for one part of several, `rehearsal_no_result`
            for a file that was made for a rehearsal: whatever is measured of it is no result.
    """
    header = read_header(path)
    refuse_part(header, shown_name(path))
    refuse_rehearsal(header, shown_name(path))
    try:
        sha256 = hashes.sha256(path, progress) if hashes else sha256_of(path, progress)
        size_bytes = path.stat().st_size
    except OSError as e:
        detail = e.strerror or str(e)
        raise BuildError("build_unreadable", name=shown_name(path), detail=detail) from e
    return Build(
        name=name or shown_name(path),
        sha256=sha256,
        size_bytes=size_bytes,
        architecture=header.architecture,
        model_name=_model_name(header),
        quantization=quantization(header),
        parameters=parameters(header),
        context_trained=_context_trained(header),
        synthetic=synthetic or header.metadata.get(SYNTHETIC_KEY) is True,
    )


def refuse_part(header: Header, name: str) -> None:
    """Refuse a part of a split set: its facts are not the build's.

    Raises:
        BuildError: `build_split`.
    """
    count = header.metadata.get("split.count")
    if isinstance(count, int) and count > 1:
        raise BuildError("build_split", name=name, count=count)


def refuse_rehearsal(header: Header, name: str) -> None:
    """Refuse a file whose layers were left out: it is no build.

    Raises:
        BuildError: `rehearsal_no_result`.
    """
    if header.metadata.get(REHEARSAL_KEY) is True:
        raise BuildError("rehearsal_no_result", name=name)


def parameters(header: Header) -> int:
    """Elements of all tensors together."""
    return sum(math.prod(t.shape) for t in header.tensors)


def quantization(header: Header) -> str | None:
    """`Q4_K_M` as declared, else the type that holds most elements; None without tensors."""
    declared = header.metadata.get("general.file_type")
    if isinstance(declared, int) and (name := FILE_TYPES.get(declared & ~GUESSED)):
        return name
    elements: Counter[str] = Counter()
    for tensor in header.tensors:
        elements[tensor.type] += math.prod(tensor.shape)
    return elements.most_common(1)[0][0] if elements else None


def _model_name(header: Header) -> str | None:
    declared = header.metadata.get("general.name")
    if not isinstance(declared, str):
        return None
    printable = "".join(c if c.isprintable() else " " for c in declared)
    return " ".join(printable.split())[:MAX_MODEL_NAME] or None


def _context_trained(header: Header) -> int | None:
    declared = header.integer("context_length")
    return declared if declared and declared > 0 else None
