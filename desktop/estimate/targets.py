"""What back ends reach on classes of devices: the table, and whose rows apply."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from desktop.estimate.work import EXPERTS, LATENT, STATE
from desktop.records.estimate import Configuration, Efficiency, Interval, Target
from desktop.records.model import Quant
from desktop.rules.table_rows import Row, damaged, figure, filled, listed, number, numbered_rows

COLUMNS: Final = (
    "engine", "backend", "class", "families", "share_low", "share_high", "weight_flop_low",
    "weight_flop_high", "attention_low", "attention_high", "layer_us_low", "layer_us_high",
    "token_us_low", "token_us_high", "experts_us_low", "experts_us_high", "state_us_low",
    "state_us_high", "latent_us_low", "latent_us_high", "compute_low", "compute_high",
    "flop_per_byte", "overhead_mib", "devices", "regime", "source",
)  # fmt: skip
"""Of the table of targets."""
RESOURCE: Final = "estimate/targets.csv"
MIB: Final = 2**20
MICRO: Final = 1e-6
_MOST: Final = 1e7
"""Of any figure in its unit; more is a slip."""
_MOST_SHARE: Final = 1.5
_MOST_DEVICES: Final = 10**6
_SHARED: Final = ("overhead_mib", "devices")
"""What the rows of one target have in common."""
_Key: TypeAlias = tuple[str, str, str]
"""Engine, back end, class."""


def read_targets(text: str) -> tuple[Target, ...]:
    """The targets of a table as `resources/estimate/targets.csv`, in its order.

    Rows of one engine, back end and class stand together: one for each group of quant families.

    Raises:
        GramError: `resource_damaged`, naming line and column, when a column is missing, a figure is
            none or a low end is above its high one, a row names no source, or a target's rows
            contradict each other.
    """
    found: dict[_Key, _Rows] = {}
    last: _Key | None = None
    for line, row in numbered_rows(RESOURCE, text, COLUMNS):
        try:
            key = _key(row)
            rows = found.setdefault(key, _Rows(row))
            rows.add(row, follows=last in {key, None} or rows.first is row)
            last = key
        except ValueError as e:
            raise damaged(RESOURCE, line, str(e)) from e
    return tuple(rows.target() for rows in found.values())


def targets_for(configuration: Configuration, targets: Iterable[Target]) -> tuple[Target, ...]:
    """The targets that run on the configuration; the first is the one to take.

    The table has them in order of preference: what llama.cpp's packages use on such a device comes
    first. Others are there for who chooses them.
    """
    return tuple(t for t in targets if t.device_class == configuration.device_class)


def efficiency_of(target: Target, quant: Quant) -> Efficiency | None:
    """What the target reaches with the quantization; None where it does not run it."""
    return dict(target.efficiencies).get(quant.family)


def _key(row: Row) -> _Key:
    return filled(row, "engine"), filled(row, "backend"), filled(row, "class")


@dataclass(slots=True)
class _Rows:
    """The rows of one target, as they come."""

    first: Row
    efficiencies: dict[str, Efficiency] = field(default_factory=dict)

    def add(self, row: Row, *, follows: bool) -> None:
        """Take one more group of families. `follows`: it is the first row, or behind the last.

        Raises:
            ValueError: a target or family stands twice, or what all rows share differs.
        """
        if not follows:
            raise ValueError(f"{', '.join(_key(row))} stands twice")
        for column in _SHARED:
            if row[column] != self.first[column]:
                raise ValueError(f"{column} is {row[column]}, and was {self.first[column]}")
        number("overhead_mib", row["overhead_mib"], most=_MOST)
        if not number("devices", row["devices"], most=_MOST_DEVICES).is_integer():
            raise ValueError(f"devices is {row['devices']}, no whole number")
        filled(row, "families")
        efficiency = _efficiency(row)
        for family in listed(row, "families"):
            if family in self.efficiencies:
                raise ValueError(f"families says {family} twice")
            self.efficiencies[family] = efficiency

    def target(self) -> Target:
        """What they say together."""
        engine, backend, device_class = _key(self.first)
        return Target(
            id=f"{engine}-{backend}".lower().replace(".", "-"),
            engine=engine,
            backend=backend,
            device_class=device_class,
            efficiencies=tuple(self.efficiencies.items()),
            overhead_bytes=round(float(self.first["overhead_mib"]) * MIB),
            measured_devices=int(float(self.first["devices"])),
        )


def _efficiency(row: Row) -> Efficiency:
    filled(row, "regime")
    return Efficiency(
        bandwidth_share=_required(row, "share", most=_MOST_SHARE),
        layer_s=_required(row, "layer_us", MICRO),
        token_s=_required(row, "token_us", MICRO),
        compute_share=_interval(row, "compute"),
        source=filled(row, "source"),
        attention_share=_interval(row, "attention"),
        weight_flop=_interval(row, "weight_flop"),
        extra_layer_s=tuple(
            (kind, interval)
            for kind in (EXPERTS, STATE, LATENT)
            if (interval := _interval(row, f"{kind}_us", MICRO)) is not None
        ),
        flop_per_byte=figure(row, "flop_per_byte", _MOST),
    )


def _required(row: Row, column: str, unit: float = 1, most: float = _MOST) -> Interval:
    found = _interval(row, column, unit, most)
    if found is None:
        raise ValueError(f"{column}_low and {column}_high are empty")
    return found


def _interval(row: Row, column: str, unit: float = 1, most: float = _MOST) -> Interval | None:
    """The two ends of a column; None where both cells are empty."""
    low, high = figure(row, f"{column}_low", most), figure(row, f"{column}_high", most)
    if low is None and high is None:
        return None
    if low is None or high is None or low > high:
        raise ValueError(f"{column}_low is {low}, {column}_high is {high}")
    return Interval(low * unit, high * unit)
