"""Checks the catalogue: `python3 -m devtools.catalogue_check [--packages FOLDER]`.

Always: each row reads, adds up, names its sources, goes with its class, and is found by its own key
and by no other; builds, targets and what is held back are read as well.
With a folder of downloaded packages (wheels and archives, named in the catalogue's README), the
figures that they hold are rebuilt from them and compared.
"""

import argparse
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from desktop import resources as resource_files
from desktop.builds import shipped
from desktop.errors import GramError
from desktop.estimate import device_row, held_back, quant_row, targets
from desktop.estimate.architectures import TRAITS
from desktop.estimate.catalogue import (
    DEVICES,
    MODELS,
    QUANTS,
    read_configurations,
    read_models,
    read_quants,
)
from desktop.estimate.held_back import read_held_back
from desktop.estimate.targets import read_targets, targets_for
from desktop.records.estimate import Configuration, Target
from desktop.records.model import Model, Quant
from desktop.rules.catalogue import read_catalogue
from desktop.rules.quant_table import MIXES
from desktop.rules.table_rows import Row, numbered_rows
from desktop.rules.tensor_shapes import tensors_of
from desktop.rules.tensor_table import RECIPES
from devtools.catalogue_builds import build_problems
from devtools.catalogue_classes import KINDS, class_problems

RESOURCES = Path(__file__).resolve().parent.parent / "resources"
README = "catalogue/README.md"
CLASSES = "estimate/README.md"
FEWEST = {"models": 120, "configurations": 250, "quantizations": 33, "files": 300}
CONFIG_ADDRESS = re.compile(r"https://huggingface\.co/([\w.-]+/[\w.-]+)/raw/main/config\.json")
MONTH = re.compile(r"20[12]\d-(0[1-9]|1[0-2])(-\d\d)?")
ID = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")
TENSOR_SUM_SHARE = 0.005
"""How far the sum of a model's tensors may be from its parameters."""
COLUMNS = {
    DEVICES: (device_row.COLUMNS, README),
    QUANTS: (quant_row.COLUMNS, README),
    shipped.RESOURCE: (shipped.COLUMNS, README),
    targets.RESOURCE: (targets.COLUMNS, CLASSES),
    held_back.RESOURCE: (held_back.COLUMNS, CLASSES),
}
"""The tables of rows, each with the columns that it has to have and the page that explains them."""
REGIMES = {"public-fit": "fitted", "public-law": "law", "assumed": "assumed"}
"""Of the table of targets, by source."""
_READERS: dict[str, Callable[[str], object]] = {
    MODELS: read_models,
    QUANTS: read_quants,
    DEVICES: lambda text: (read_catalogue(text), read_configurations(text)),
    shipped.RESOURCE: shipped.read_files,
    targets.RESOURCE: read_targets,
    held_back.RESOURCE: read_held_back,
}


def problems(resources: Path = RESOURCES) -> tuple[str, ...]:
    """Everything that is wrong with the tables, one sentence each; empty when right."""
    unread = tuple(_unread(resources))
    if unread:
        return unread
    models = read_models(_text(resources, MODELS))
    quants = read_quants(_text(resources, QUANTS))
    configurations = read_configurations(_text(resources, DEVICES))
    reached = read_targets(_text(resources, targets.RESOURCE))
    builds = _text(resources, shipped.RESOURCE)
    readme, classes = _text(resources, README), _text(resources, CLASSES)
    return (
        *_too_few(
            models=models,
            configurations=configurations,
            quantizations=quants,
            files=shipped.read_files(builds),
        ),
        *(p for model in models for p in _of_model(model, readme)),
        *(p for quant in quants for p in _of_quant(quant)),
        *(p for c in configurations for p in _of_configuration(c, classes, reached)),
        *_of_classes(resources),
        *_of_targets(reached, quants, classes),
        *build_problems(builds, models, quants),
        *_of_regimes(resources),
        *_unexplained(resources),
        *_keys(models),
        *_keys(configurations),
        *_ranks(quants),
    )


def _unread(resources: Path) -> Iterator[str]:
    """Why a table cannot be read, for each such table."""
    for name, read in _READERS.items():
        try:
            read(_text(resources, name))
        except (GramError, OSError) as e:
            yield str(e)


def _text(resources: Path, name: str) -> str:
    return resource_files.text_of(resources / name, name)


def _rows(resources: Path, name: str) -> Iterator[tuple[int, Row]]:
    return numbered_rows(name, _text(resources, name), COLUMNS[name][0])


def _too_few(**tables: Sequence[object]) -> Iterator[str]:
    for name, rows in tables.items():
        if len(rows) < FEWEST[name]:
            yield f"{len(rows)} {name}, fewer than {FEWEST[name]}"


def _of_model(model: Model, readme: str) -> Iterator[str]:
    """Its sources, dates and sums; what a single row must fulfil the reader has checked."""
    address = CONFIG_ADDRESS.fullmatch(model.sources[0])
    if not address or address.group(1) not in model.aliases:
        yield f"{model.id}: the first source is not the config.json of one of its aliases"
    unknown = [code for code in model.sources[1:] if f"`{code}`" not in readme]
    if unknown or len(model.sources) == 1:
        yield f"{model.id}: source {unknown} is not in the README"
    if not MONTH.fullmatch(model.released or ""):
        yield f"{model.id}: released {model.released!r} is no month"
    if model.active_parameters and not model.active_parameters < model.parameters:
        yield f"{model.id}: more parameters are active than there are"
    if bool(model.active_parameters) != model.is_mixture:
        yield f"{model.id}: active parameters and experts do not go together"
    if model.architecture not in TRAITS:
        yield f"{model.id}: the architecture {model.architecture} is not known"
    yield from _sum_of_tensors(model)


def _sum_of_tensors(model: Model) -> Iterator[str]:
    tensors = tensors_of(model)
    if tensors is None:
        if model.architecture in RECIPES:
            yield f"{model.id}: a measure that its tensors need is missing"
        return
    total = sum(math.prod(shape) for _, shape in tensors)
    if abs(total - model.parameters) > TENSOR_SUM_SHARE * model.parameters:
        yield f"{model.id}: its tensors have {total} elements, not {model.parameters}"


def _of_quant(quant: Quant) -> Iterator[str]:
    if quant.file_type and not re.search(rf"\b{quant.file_type}\b", MIXES):
        yield f"{quant.id}: llama.cpp has no mix {quant.file_type}"


def _of_configuration(
    configuration: Configuration, classes: str, reached: Sequence[Target]
) -> Iterator[str]:
    if not _is_class(configuration.device_class, classes):
        yield f"{configuration.id}: class {configuration.device_class} is not in {CLASSES}"
    if not targets_for(configuration, reached):
        yield f"{configuration.id}: no back end has its class {configuration.device_class}"
    memory = str(round(configuration.memory_bytes / 2**30))
    if f"-{memory}gb" not in configuration.id or f"{memory} GB" not in configuration.name:
        yield f"{configuration.id}: id or name does not say its memory"


def _of_classes(resources: Path) -> Iterator[str]:
    for line, row in _rows(resources, DEVICES):
        yield from (f"{DEVICES} line {line}, {row['id']}: {p}" for p in class_problems(row))


def _of_targets(reached: Sequence[Target], quants: Sequence[Quant], classes: str) -> Iterator[str]:
    families = {quant.family for quant in quants}
    for target in reached:
        name = f"{target.id} on {target.device_class}"
        if not _is_class(target.device_class, classes) or target.device_class not in KINDS:
            yield f"{name}: the class is not in {CLASSES}"
        unknown = [family for family, _ in target.efficiencies if family not in families]
        if unknown:
            yield f"{name}: no quantization is of the family {unknown[0]}"


def _is_class(code: str, classes: str) -> bool:
    """Whether the table lists it: by name, or between two, as `apple-m1` … `apple-m6`."""
    if f"`{code}`" in classes:
        return True
    spans = re.findall(r"`([a-z-]+)(\d)([a-z-]*)` … `\1(\d)\3`", classes)
    return any(
        code == f"{head}{n}{tail}"
        for head, first, tail, last in spans
        for n in range(int(first), int(last) + 1)
    )


def _of_regimes(resources: Path) -> Iterator[str]:
    for line, row in _rows(resources, targets.RESOURCE):
        if row["regime"] != REGIMES.get(row["source"], row["regime"]):
            yield f"{targets.RESOURCE} line {line}: regime {row['regime']} of {row['source']}"


def _unexplained(resources: Path) -> Iterator[str]:
    """Columns, and codes of sources and regimes, that the table's page does not explain."""
    for name, (_, page) in COLUMNS.items():
        text = _text(resources, page)
        rows = [row for _, row in _rows(resources, name)]
        columns = rows[0].keys() if rows else ()
        yield from (f"{name}: the column {column} is not in {page}" for column in columns
                    if not _is_explained(column, text))  # fmt: skip
        codes = {code for row in rows for code in _codes(row)}
        yield from (f"{name}: source {c} is not in the README" for c in sorted(codes)
                    if f"`{c}`" not in text)  # fmt: skip


def _is_explained(column: str, page: str) -> bool:
    """By its name, or with the other end of its range, as `layer_us_*`."""
    stem = re.sub(r"_(low|high)$", "_*", column)
    return f"`{column}`" in page or f"`{stem}`" in page


def _codes(row: Row) -> Iterator[str]:
    for column, cell in row.items():
        if column.endswith("source") and cell:
            yield from cell.split(" + ")


def _keys(entries: Sequence[Model | Configuration]) -> Iterator[str]:
    """Each whole name is one entry's."""
    owners: dict[str, set[str]] = {}
    for entry in entries:
        for name in (entry.id, entry.name, *entry.aliases):
            owners.setdefault(name.casefold(), set()).add(entry.id)
    yield from (f"{name!r} is a name of {' and '.join(sorted(ids))}"
                for name, ids in owners.items() if len(ids) > 1)  # fmt: skip
    yield from (f"{entry.id}: an id is lower case, digits, points and hyphens"
                for entry in entries if not ID.fullmatch(entry.id))  # fmt: skip


def _ranks(quants: Sequence[Quant]) -> Iterator[str]:
    """The best two have one rank: they are as good. No others do."""
    for rank, count in Counter(quant.rank for quant in quants).items():
        if count > 1 and rank != max(quant.rank for quant in quants):
            yield f"{count} quantizations have the rank {rank}"


def main(argv: Sequence[str] | None = None) -> int:
    """Print what is wrong, and with packages what differs. 1 when something is wrong."""
    parser = argparse.ArgumentParser(prog="python3 -m devtools.catalogue_check")
    parser.add_argument("--packages", type=Path, metavar="FOLDER", help="rebuild from the packages")
    arguments = parser.parse_args(argv)
    found = list(problems())
    if arguments.packages:
        from devtools.catalogue_rebuild import differences  # noqa: PLC0415 - rarely needed

        found += differences(RESOURCES, arguments.packages)
    print("\n".join(found) or "The catalogue is right.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
