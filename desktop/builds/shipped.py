"""Builds that are known as shipped: `resources/catalogue/builds.csv`.

What a repository itself answers is newer and goes before. A sum here that differs from it is of an
older file.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from desktop import resources
from desktop.builds.grouping import name_in
from desktop.builds.hashes import is_sha256
from desktop.builds.names import is_repository, is_safe_path
from desktop.builds.quant_labels import is_beside, label_of
from desktop.builds.split_names import PART, part_of, whole_path
from desktop.builds.split_sets import known_sum
from desktop.records.model import Model
from desktop.records.offers import OfferedBuild
from desktop.records.remote import RemoteFile
from desktop.rules.run_limits import MAX_FILES
from desktop.rules.table_rows import Row, chosen, filled, read_table, shown, whole_figure

RESOURCE: Final = "catalogue/builds.csv"
COLUMNS: Final = (
    "model", "repository", "file", "quantization", "size_bytes", "sha256", "gated", "source",
)  # fmt: skip
_MAX_BYTES: Final = 1 << 50
_GATED: Final = {"yes": True, "no": False, "": None}


@dataclass(frozen=True, slots=True)
class ShippedFile:
    """One row: a file of a build."""

    model: str
    """The id in the catalogue of models."""
    repository: str
    """`owner/repo`."""
    path: str
    """Inside the repository, folders with forward slashes."""
    quantization: str | None
    """By the file's name; None: it does not tell."""
    size_bytes: int | None
    """None: not known."""
    sha256: str | None
    """64 lower-case hexadecimal digits; None: not known."""
    gated: bool | None
    """Its repository gives it only to who agreed to terms; None: not known."""


def shipped_builds(models: Iterable[Model]) -> tuple[OfferedBuild, ...]:
    """The builds of `models` that Gram knows without asking, in the order of the table.

    Raises:
        GramError: `resource_damaged`, naming line and column.
    """
    return builds_of(_files(), models)


def builds_of(files: Iterable[ShippedFile], models: Iterable[Model]) -> tuple[OfferedBuild, ...]:
    """The builds of `models` among `files`; split sets that lack parts are none."""
    known = {model.id: model for model in models}
    whole = [parts for parts in sets_of(files) if is_whole(parts)]
    labels = Counter(_label(parts) for parts in whole)
    return tuple(
        _offered(known[parts[0].model], parts, alone=labels[_label(parts)] == 1)
        for parts in whole
        if parts[0].model in known
    )


def read_files(text: str) -> tuple[ShippedFile, ...]:
    """The rows of a table as `resources/catalogue/builds.csv`, in its order.

    Raises:
        GramError: `resource_damaged`, naming line and column.
    """
    return read_table(
        RESOURCE,
        text,
        COLUMNS,
        lambda row: (_file(row),),
        key=lambda file: f"{file.repository}/{file.path}".casefold(),
    )


def sets_of(files: Iterable[ShippedFile]) -> tuple[tuple[ShippedFile, ...], ...]:
    """Files that belong together: each alone, or the parts of a split set in their order."""
    found: defaultdict[tuple[str, str, int], list[ShippedFile]] = defaultdict(list)
    for file in files:
        part = part_of(file.path)
        count = 0 if part is None else part[2]
        found[file.repository, whole_path(file.path), count].append(file)
    return tuple(tuple(sorted(parts, key=_number)) for parts in found.values())


def is_whole(files: Sequence[ShippedFile]) -> bool:
    """Whether no part of the set is missing."""
    part = part_of(files[0].path)
    return len(files) == (1 if part is None else part[2])


def shipped_sums(repository: str) -> frozenset[str]:
    """What identifies the builds of `owner/repo` that are in the table, as `split_sets.sum_of`.

    Raises:
        GramError: `resource_damaged`, naming line and column.
    """
    key = repository.casefold()
    whole = filter(is_whole, sets_of(f for f in _files() if f.repository.casefold() == key))
    sums = (known_sum([file.sha256 for file in parts]) for parts in whole)
    return frozenset(filter(None, sums))


@lru_cache(1)
def _files() -> tuple[ShippedFile, ...]:
    return read_files(resources.text(RESOURCE))


def _label(files: Sequence[ShippedFile]) -> tuple[str, str | None]:
    """What names a build where no other has it."""
    return files[0].repository.casefold(), files[0].quantization


def _offered(model: Model, files: tuple[ShippedFile, ...], *, alone: bool) -> OfferedBuild:
    first = files[0]
    sizes = [file.size_bytes for file in files if file.size_bytes is not None]
    told = tuple(
        RemoteFile(file.path, file.size_bytes, file.sha256)
        for file in files
        if file.size_bytes is not None and file.sha256 is not None
    )
    return OfferedBuild(
        name_in(first.repository, first.quantization, first.path, alone=alone),
        first.repository,
        first.quantization,
        model.id,
        sum(sizes) if len(sizes) == len(files) else None,
        first.sha256,
        told if len(told) == len(files) else (),
        model.context_trained,
        model.license,
        first.gated,
    )


def _file(row: Row) -> ShippedFile:
    return ShippedFile(
        filled(row, "model"),
        _repository(row),
        _path(row),
        _quantization(row),
        whole_figure(row, "size_bytes", _MAX_BYTES),
        _sha256(row),
        _GATED[chosen(row, "gated", tuple(_GATED))],
    )


def _repository(row: Row) -> str:
    told = filled(row, "repository")
    if not is_repository(told):
        raise ValueError(f"repository is {shown(told)}, not owner/repo")
    return told


def _path(row: Row) -> str:
    told = filled(row, "file")
    if not told.lower().endswith(".gguf") or not is_safe_path(told) or is_beside(told):
        raise ValueError(f"file is {shown(told)}, the path of no build's GGUF file")
    part = part_of(told)
    if PART.fullmatch(told) and (part is None or part[2] > MAX_FILES):
        raise ValueError(f"file is {shown(told)}, no part of a set of 1 to {MAX_FILES}")
    return told


def _quantization(row: Row) -> str | None:
    label = label_of(whole_path(row["file"]))
    if row["quantization"] != (label or ""):
        raise ValueError(
            f"quantization is {shown(row['quantization'])}, the file's name says {label}"
        )
    return label


def _sha256(row: Row) -> str | None:
    told = row["sha256"]
    if told and not is_sha256(told):
        raise ValueError(f"sha256 is {shown(told)}, not 64 lower-case hexadecimal digits")
    return told or None


def _number(file: ShippedFile) -> int:
    part = part_of(file.path)
    return 1 if part is None else part[1]
