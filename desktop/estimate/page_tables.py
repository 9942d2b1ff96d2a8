"""Reads the tables of the compatibility profile (`resources/estimate/page`)."""

import math
from typing import Final

from desktop.estimate.catalogue import read_quants
from desktop.estimate.counting import PageCounting
from desktop.estimate.printed import GB
from desktop.estimate.profile import Profile, ProfileId
from desktop.records.estimate import Configuration, Efficiency, Interval, Target, Tier
from desktop.rules.table_rows import Row, figure, filled, listed, number, read_table

QUANTS: Final = "estimate/page/quants.csv"
CONFIGURATIONS: Final = "estimate/page/configurations.csv"
TARGETS: Final = "estimate/page/targets.csv"
_CONFIGURATION_COLUMNS: Final = (
    "id", "name", "vendor", "target", "memory_gb", "usable_gb", "bandwidth_gb_s", "price_usd",
    "price_source",
)  # fmt: skip
_TARGET_COLUMNS: Final = (
    "id", "engine", "backend", "families", "share_low", "share_high", "overhead_gb",
    "regime_from_gb",
)  # fmt: skip
_MOST: Final = 1e7
"""Of any figure in its unit; more is a slip."""
_MOST_SHARE: Final = 1.5
_ZERO: Final = Interval(0, 0)


def page_profile(quants: str, configurations: str, targets: str) -> Profile:
    """The compatibility profile from the texts of its three tables.

    Raises:
        GramError: `resource_damaged`, naming the line.
    """
    return Profile(
        id=ProfileId.PAGE,
        quants=read_quants(quants, QUANTS),
        configurations=read_table(
            CONFIGURATIONS,
            configurations,
            _CONFIGURATION_COLUMNS,
            lambda row: (_configuration(row),),
            key=lambda c: c.id,
        ),
        targets=read_table(
            TARGETS, targets, _TARGET_COLUMNS, lambda row: (_target(row),), key=lambda t: t.id
        ),
        tier=Tier.B,
        counting=PageCounting(),
        ceiling_with_cache=False,
        memory_unit_bytes=GB,
    )


def _configuration(row: Row) -> Configuration:
    return Configuration(
        id=filled(row, "id"),
        name=filled(row, "name"),
        vendor=filled(row, "vendor"),
        device_class=row["target"],
        memory_bytes=round(_positive(row, "memory_gb") * GB),
        usable_bytes=round(_positive(row, "usable_gb") * GB),
        bandwidth_bytes_s=_positive(row, "bandwidth_gb_s") * GB,
        fp16_flops=None,
        price_usd=figure(row, "price_usd", _MOST),
        source="page-003" if row["price_source"] != "hf" else "page-003; hf",
    )


def _target(row: Row) -> Target:
    """A back end drives the configurations that name it: its id is their class."""
    regime = row["regime_from_gb"]
    start = number("regime_from_gb", regime, most=_MOST) * GB if regime else None
    efficiency = Efficiency(
        bandwidth_share=_share(row),
        layer_s=_ZERO,
        token_s=_ZERO,
        source="page-003",
        regime_bytes=None if start is None else Interval(start, math.inf),
    )
    filled(row, "families")
    return Target(
        id=filled(row, "id"),
        engine=filled(row, "engine"),
        backend=filled(row, "backend"),
        device_class=row["id"],
        efficiencies=tuple((family, efficiency) for family in listed(row, "families")),
        overhead_bytes=round(_positive(row, "overhead_gb") * GB),
    )


def _share(row: Row) -> Interval:
    low, high = (_positive(row, f"share_{end}", _MOST_SHARE) for end in ("low", "high"))
    if low > high:
        raise ValueError(f"share_low is {low}, share_high is {high}")
    return Interval(low, high)


def _positive(row: Row, column: str, most: float = _MOST) -> float:
    return number(column, row[column], most=most, above_zero=True)
