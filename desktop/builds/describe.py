"""From a file to what identifies the build in it."""

import math
from collections import Counter
from pathlib import Path
from typing import Final

from desktop.builds.hashes import Hashes, Progress, sha256_of
from desktop.builds.header import shown_name
from desktop.builds.same_files import identities
from desktop.builds.split_names import whole_path
from desktop.builds.split_sets import beside, read_whole, sum_of
from desktop.errors import BuildError
from desktop.records.build import Build, Header, LocalBuild
from desktop.rules.ggml_types import FILE_TYPES, GUESSED

SYNTHETIC_KEY: Final = "gram.synthetic"
REHEARSAL_KEY: Final = "gram.rehearsal"
MAX_MODEL_NAME: Final = 120


def local_build(
    path: Path,
    *,
    name: str | None = None,
    synthetic: bool = False,
    progress: Progress | None = None,
    hashes: Hashes | None = None,
) -> LocalBuild:
    """Read the header and hash the file; of a split set, whichever part `path` is, those of all.

    `name` defaults to the file's own name without folders and without the number of a part;
    `synthetic` only adds to what the file says of itself. With `hashes`, a file that was hashed
    before is not read again.

    Raises:
        BuildError: see `read_whole`; `rehearsal_no_result` for a file that was made for a
            rehearsal: whatever is measured of it is no result; `build_replaced` for one that
            is changed meanwhile.
    """
    before = identities(beside(path))
    whole = read_whole(path)
    header, first = whole.header, whole.files[0]
    refuse_rehearsal(header, shown_name(path))
    try:
        sha256, size_bytes = _hashed(whole.files, progress, hashes)
    except OSError as e:
        detail = e.strerror or str(e)
        raise BuildError("build_unreadable", name=shown_name(path), detail=detail) from e
    after = identities(whole.files)
    if any(before.get(file) is None or before[file] != after.get(file) for file in whole.files):
        raise BuildError("build_replaced", name=shown_name(path))
    own_name = whole_path(shown_name(first)) if len(whole.files) > 1 else shown_name(first)
    build = Build(
        name=name or own_name,
        sha256=sha256,
        size_bytes=size_bytes,
        architecture=header.architecture,
        model_name=_model_name(header),
        quantization=quantization(header),
        parameters=parameters(header),
        context_trained=_context_trained(header),
        synthetic=synthetic or header.metadata.get(SYNTHETIC_KEY) is True,
        files=len(whole.files),
    )
    return LocalBuild(build, first, whole.files[1:], tuple(after.values()))


def describe(
    path: Path,
    *,
    name: str | None = None,
    synthetic: bool = False,
    progress: Progress | None = None,
    hashes: Hashes | None = None,
) -> Build:
    """As `local_build`, without where it lies."""
    return local_build(path, name=name, synthetic=synthetic, progress=progress, hashes=hashes).build


def _hashed(
    files: tuple[Path, ...], progress: Progress | None, hashes: Hashes | None
) -> tuple[str, int]:
    """What identifies a build, and its size; progress is told of all files together."""
    sizes = [file.stat().st_size for file in files]
    total, before, digests = sum(sizes), 0, []
    for file, size_bytes in zip(files, sizes, strict=True):
        step = _after(before, total, progress)
        digests.append(hashes.sha256(file, step) if hashes else sha256_of(file, step))
        before += size_bytes
    return sum_of(digests), total


def _after(before: int, total: int, progress: Progress | None) -> Progress | None:
    return None if progress is None else lambda done, _: progress(before + done, total)


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
