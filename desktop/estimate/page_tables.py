"""Reads the tables of the compatibility profile (`resources/estimate/page`)."""

import csv
import io
import math
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from desktop.errors import GramError
from desktop.estimate.catalogue import read_quants
from desktop.estimate.counting import PageCounting
from desktop.estimate.printed import GB
from desktop.estimate.profile import Profile, ProfileId
from desktop.records.estimate import Configuration, Efficiency, Interval, Target, Tier

QUANTS: Final = "estimate/page/quants.csv"
CONFIGURATIONS: Final = "estimate/page/configurations.csv"
TARGETS: Final = "estimate/page/targets.csv"
_ZERO: Final = Interval(0, 0)

_T = TypeVar("_T")


def page_profile(quants: str, configurations: str, targets: str) -> Profile:
    """The compatibility profile from the texts of its three tables.

    Raises:
        GramError: `resource_damaged`, naming the line.
    """
    return Profile(
        id=ProfileId.PAGE,
        quants=read_quants(quants),
        configurations=_read(CONFIGURATIONS, configurations, _configuration),
        targets=_read(TARGETS, targets, _target),
        tier=Tier.B,
        counting=PageCounting(),
        ceiling_with_cache=False,
        memory_unit_bytes=GB,
    )


def _read(name: str, text: str, one: Callable[[Mapping[str, str]], _T]) -> tuple[_T, ...]:
    found: list[_T] = []
    for number, row in enumerate(csv.DictReader(io.StringIO(text)), start=2):
        try:
            found.append(one(row))
        except (KeyError, ValueError, TypeError, AttributeError) as e:
            raise GramError("resource_damaged", name=name, detail=f"line {number}: {e}") from e
    return tuple(found)


def _configuration(row: Mapping[str, str]) -> Configuration:
    return Configuration(
        id=row["id"],
        name=row["name"],
        vendor=row["vendor"],
        device_class=row["target"],
        memory_bytes=round(_positive(row, "memory_gb") * GB),
        usable_bytes=round(_positive(row, "usable_gb") * GB),
        bandwidth_bytes_s=_positive(row, "bandwidth_gb_s") * GB,
        fp16_flops=None,
        price_usd=_positive(row, "price_usd") if row["price_usd"] else None,
        source="page-003" if row["price_source"] != "hf" else "page-003; hf",
    )


def _target(row: Mapping[str, str]) -> Target:
    """A back end drives the configurations that name it: its id is their class."""
    regime = row["regime_from_gb"]
    efficiency = Efficiency(
        bandwidth_share=Interval(_positive(row, "share_low"), _positive(row, "share_high")),
        layer_s=_ZERO,
        token_s=_ZERO,
        source="page-003",
        regime_bytes=Interval(float(regime) * GB, math.inf) if regime else None,
    )
    return Target(
        id=row["id"],
        engine=row["engine"],
        backend=row["backend"],
        device_class=row["id"],
        efficiencies=tuple((family, efficiency) for family in row["families"].split("|")),
        overhead_bytes=round(_positive(row, "overhead_gb") * GB),
    )


def _positive(row: Mapping[str, str], column: str) -> float:
    value = float(row[column])
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{column} is {row[column]}")
    return value
