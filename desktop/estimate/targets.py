"""What back ends reach on classes of devices: the table, and whose rows apply."""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final

from desktop.errors import GramError
from desktop.estimate.work import EXPERTS, LATENT, STATE
from desktop.records.estimate import Configuration, Efficiency, Interval, Target
from desktop.records.model import Quant

RESOURCE: Final = "estimate/targets.csv"
MIB: Final = 2**20
MICRO: Final = 1e-6


def read_targets(text: str) -> tuple[Target, ...]:
    """The targets of a table as `resources/estimate/targets.csv`, in its order.

    Rows of one engine, back end and class stand together: one for each group of quant families.

    Raises:
        GramError: `resource_damaged`, naming the row, when a column is missing, a figure is none or
            a low end is above its high one, or a row names no source.
    """
    rows = list(csv.DictReader(io.StringIO(text)))
    try:
        targets = tuple(_target(list(group)) for _, group in groupby(rows, _key))
    except (KeyError, ValueError, AttributeError) as e:
        raise GramError("resource_damaged", name=RESOURCE, detail=str(e)) from e
    if len({(t.id, t.device_class) for t in targets}) != len(targets):
        raise GramError("resource_damaged", name=RESOURCE, detail="a target stands twice")
    return targets


def targets_for(configuration: Configuration, targets: Iterable[Target]) -> tuple[Target, ...]:
    """The targets that run on the configuration; the first is the one to take.

    The table has them in order of preference: what llama.cpp's packages use on such a device comes
    first. Others are there for who chooses them.
    """
    return tuple(t for t in targets if t.device_class == configuration.device_class)


def efficiency_of(target: Target, quant: Quant) -> Efficiency | None:
    """What the target reaches with the quantization; None where it does not run it."""
    return dict(target.efficiencies).get(quant.family)


def _key(row: Mapping[str, str]) -> tuple[str, str, str]:
    return row["engine"], row["backend"], row["class"]


def _target(rows: Sequence[Mapping[str, str]]) -> Target:
    first = rows[0]
    engine, backend, device_class = _key(first)
    if not (engine and backend and device_class):
        raise ValueError("a row without engine, backend or class")
    overhead = _figure(first, "overhead_mib")
    return Target(
        id=f"{engine}-{backend}".lower().replace(".", "-"),
        engine=engine,
        backend=backend,
        device_class=device_class,
        efficiencies=tuple(
            (family, efficiency)
            for row in rows
            for efficiency in (_efficiency(row),)
            for family in row["families"].split("|")
        ),
        overhead_bytes=round((overhead or 0) * MIB),
        measured_devices=int(first["devices"]),
    )


def _efficiency(row: Mapping[str, str]) -> Efficiency:
    if not row["source"].strip():
        raise ValueError(f"{_key(row)}: no source")
    share, layer = _interval(row, "share"), _interval(row, "layer_us", MICRO)
    token = _interval(row, "token_us", MICRO)
    if share is None or layer is None or token is None:
        raise ValueError(f"{_key(row)}: no share, layer_us or token_us")
    return Efficiency(
        bandwidth_share=share,
        layer_s=layer,
        token_s=token,
        compute_share=_interval(row, "compute"),
        source=row["source"],
        attention_share=_interval(row, "attention"),
        weight_flop=_interval(row, "weight_flop"),
        extra_layer_s=tuple(
            (kind, interval)
            for kind in (EXPERTS, STATE, LATENT)
            if (interval := _interval(row, f"{kind}_us", MICRO)) is not None
        ),
        flop_per_byte=_figure(row, "flop_per_byte"),
    )


def _interval(row: Mapping[str, str], column: str, unit: float = 1) -> Interval | None:
    """The two ends of a column; None where both cells are empty."""
    low, high = _figure(row, f"{column}_low"), _figure(row, f"{column}_high")
    if low is None and high is None:
        return None
    if low is None or high is None or low > high:
        raise ValueError(f"{_key(row)}: {column} is {low} to {high}")
    return Interval(low * unit, high * unit)


def _figure(row: Mapping[str, str], column: str) -> float | None:
    """The positive number of a column; None where the cell is empty."""
    text = row[column].strip()
    if not text:
        return None
    value = float(text)
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{_key(row)}: {column} is {text}")
    return value
