"""Checks the catalogue: `python3 -m devtools.catalogue_check [--packages FOLDER]`.

Always: each row reads, adds up, names its sources, and is found by its own key and by no other.
With a folder of downloaded packages (wheels and archives, named in the catalogue's README), the
figures that they hold are rebuilt from them and compared.
"""

import argparse
import csv
import io
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from desktop.errors import GramError
from desktop.estimate.catalogue import (
    DEVICES,
    MODELS,
    QUANTS,
    read_configurations,
    read_models,
    read_quants,
)
from desktop.records.estimate import Configuration
from desktop.records.model import Model, Quant
from desktop.rules.quant_table import MIXES
from desktop.rules.tensor_shapes import tensors_of

RESOURCES = Path(__file__).resolve().parent.parent / "resources"
README = "catalogue/README.md"
CLASSES = "estimate/README.md"
FEWEST = {"models": 120, "configurations": 250, "quantizations": 33}
CONFIG_ADDRESS = re.compile(r"https://huggingface\.co/([\w.-]+/[\w.-]+)/raw/main/config\.json")
MONTH = re.compile(r"20[12]\d-(0[1-9]|1[0-2])(-\d\d)?")
ID = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")
TENSOR_SUM_SHARE = 0.005
"""How far the sum of a model's tensors may be from its parameters."""
YEARS = range(2012, 2028)


def problems(resources: Path = RESOURCES) -> tuple[str, ...]:
    """Everything that is wrong with the three tables, one sentence each; empty when right."""
    try:
        models = read_models(_text(resources, MODELS))
        quants = read_quants(_text(resources, QUANTS))
        configurations = read_configurations(_text(resources, DEVICES))
    except (GramError, OSError) as e:
        return (str(e),)
    readme, classes = _text(resources, README), _text(resources, CLASSES)
    return (
        *_too_few(models=models, configurations=configurations, quantizations=quants),
        *(p for model in models for p in _of_model(model, readme)),
        *(p for quant in quants for p in _of_quant(quant)),
        *(p for c in configurations for p in _of_configuration(c, classes)),
        *_unknown_codes(resources, readme),
        *_keys(models),
        *_keys(configurations),
        *_ranks(quants),
    )


def _text(resources: Path, name: str) -> str:
    return (resources / name).read_text(encoding="utf-8")


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
    yield from _sum_of_tensors(model)


def _sum_of_tensors(model: Model) -> Iterator[str]:
    tensors = tensors_of(model)
    if tensors is None:
        return
    total = sum(math.prod(shape) for _, shape in tensors)
    if abs(total - model.parameters) > TENSOR_SUM_SHARE * model.parameters:
        yield f"{model.id}: its tensors have {total} elements, not {model.parameters}"


def _of_quant(quant: Quant) -> Iterator[str]:
    if quant.file_type and not re.search(rf"\b{quant.file_type}\b", MIXES):
        yield f"{quant.id}: llama.cpp has no mix {quant.file_type}"


def _of_configuration(configuration: Configuration, classes: str) -> Iterator[str]:
    if not _is_class(configuration.device_class, classes):
        yield f"{configuration.id}: class {configuration.device_class} is not in {CLASSES}"
    if configuration.year is not None and configuration.year not in YEARS:
        yield f"{configuration.id}: sold in {configuration.year}"
    memory = str(round(configuration.memory_bytes / 2**30))
    if f"-{memory}gb" not in configuration.id or f"{memory} GB" not in configuration.name:
        yield f"{configuration.id}: id or name does not say its memory"


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


def _unknown_codes(resources: Path, readme: str) -> Iterator[str]:
    """Source codes of the two CSV tables that the README does not explain."""
    for name in (DEVICES, QUANTS):
        rows = csv.DictReader(io.StringIO(_text(resources, name)))
        codes = {code for row in rows for code in _codes(row)}
        yield from (f"{name}: source {c} is not in the README" for c in sorted(codes)
                    if f"`{c}`" not in readme)  # fmt: skip


def _codes(row: Mapping[str, str]) -> Iterator[str]:
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
