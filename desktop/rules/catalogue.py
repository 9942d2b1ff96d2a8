"""What is published of cards and chips: memory, bandwidth, fp16 rate, watts, price; and whose.

A name is found by all of its words, never by a part of them: `RTX 3080` is not `RTX 3080 Ti`, and a
laptop's card is not the desktop's of the same number. What is not in the table is unknown: there is
no default (public case A08).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from desktop.rules.device_names import makers, memory_gib_in, words_of
from desktop.rules.table_rows import Row, figure, filled, listed, read_table, whole_figure

__all__ = [
    "GIB",
    "RESOURCE",
    "CatalogueDevice",
    "device_figure",
    "device_year",
    "find_device",
    "read_catalogue",
    "row_sources",
    "words_of",
]

RESOURCE: Final = "catalogue/devices.csv"
GIB: Final = 2**30
MEMORY_FIT: Final = (0.88, 1.05)
"""What a driver reports ÷ what is printed on the box: error correction takes up to a tenth
(a Tesla T4 of 16 GB reports 14.6 GiB), and 141 GB cards are decimal."""

_MOST: Final = {
    "memory_gib": 1 << 14,
    "bandwidth_gb_s": 10**6,
    "fp16_tflops": 10**6,
    "fp32_tflops": 10**6,
    "power_w": 10**5,
    "price_usd": 10**7,
    "gpu_cores": 10**5,
}
"""Of each figure in its unit; more is a slip."""
_YEARS: Final = range(1990, 2100)
_COLUMNS: Final = (
    "name", "also", "vendor", "gpu_cores", "memory_gib", "bandwidth_gb_s", "bandwidth_source",
    "fp16_tflops", "fp16_source", "power_w", "price_usd", "year", "source",
)  # fmt: skip
_SOURCE_OF: Final = {
    "bandwidth_gb_s": "bandwidth_source",
    "fp16_tflops": "fp16_source",
    "name": "source",
}
_FIGURES: Final = (
    "memory_gib",
    "bandwidth_bytes_s",
    "fp16_flops",
    "power_w",
    "price_usd",
    "year",
    "gpu_cores",
)


@dataclass(frozen=True, slots=True)
class CatalogueDevice:
    """One card or chip as its maker sells it. None where no source tells.

    A chip that shares the system's memory has no memory of its own: `memory_gib` is None.
    """

    name: str
    vendor: str
    memory_gib: float | None
    """As printed on the box; drivers report up to a tenth less."""
    bandwidth_bytes_s: float | None
    fp16_flops: float | None
    """Dense fp16 matrix products with fp32 sums, operations a second."""
    power_w: float | None
    """The most that the whole board draws; of Apple chips the package, which is estimated."""
    price_usd: float | None
    """At launch, without tax, rounded. Of a chip that is sold in computers only: of a computer with
    all its cores and the most memory. Laptops' cards are not sold, and have none."""
    year: int | None
    source: str
    """Codes of `resources/catalogue/README.md`: of bandwidth, of fp16, of all else."""
    gpu_cores: int | None = None
    """Apple only: chips of one name have fewer or more, and bandwidth goes with them."""
    words: tuple[frozenset[str], ...] = ()
    """The words of its name, and of its other names."""


def read_catalogue(text: str) -> tuple[CatalogueDevice, ...]:
    """The devices of a table as `resources/catalogue/devices.csv`, in its order.

    Raises:
        GramError: `resource_damaged`, naming the line, when a column is missing, a figure is none
            or is not positive, or a row names no source.
    """
    return read_table(RESOURCE, text, _COLUMNS, lambda row: (_device(row),))


def find_device(
    name: str,
    devices: Sequence[CatalogueDevice],
    memory_bytes: int | None = None,
    *,
    vendor: str | None = None,
    gpu_cores: int | None = None,
) -> CatalogueDevice | None:
    """The device of that name; None when it is not in `devices`: there is no default.

    Where several go by one name (A100 of 40 and 80 GB; M4 Max of 32 and 40 cores), memory or cores
    tell them apart. Where those are not known, the answer has the figures that all of them share,
    and None for the others.

    Args:
        name: as a driver, the system or the engine tells it.
        devices: the catalogue.
        memory_bytes: what the driver says the card has; not looked at for shared memory.
        vendor: who made it, where that is known besides: `NVIDIA`, `AMD`, `Intel`, `Apple`.
        gpu_cores: of an Apple chip.
    """
    words = words_of(name)
    vendors = {vendor} if vendor else makers(name)
    found = [d for d in devices if words in d.words and vendors <= {d.vendor}]
    gib = memory_bytes / GIB if memory_bytes is not None else memory_gib_in(name)
    if gib is not None:
        found = _nearest(found, gib)
    if gpu_cores is not None:
        found = [d for d in found if d.gpu_cores in {None, gpu_cores}]
    return _shared(found) if found else None


def _nearest(found: Sequence[CatalogueDevice], gib: float) -> list[CatalogueDevice]:
    """Those whose memory fits best; shared memory is its owner's choice and always fits."""
    low, high = MEMORY_FIT
    own = [d.memory_gib for d in found if d.memory_gib and low <= gib / d.memory_gib <= high]
    best = min(own, key=lambda m: abs(m - gib), default=None)
    return [d for d in found if d.memory_gib is None or d.memory_gib == best]


def _shared(found: Sequence[CatalogueDevice]) -> CatalogueDevice:
    """What all of `found` have in common, under the first one's name."""
    first = found[0]
    differing: dict[str, Any] = {
        name: None
        for name in _FIGURES
        if any(getattr(d, name) != getattr(first, name) for d in found)
    }
    return replace(first, **differing, source=_sources(found))


def _sources(found: Sequence[CatalogueDevice]) -> str:
    return "; ".join(dict.fromkeys(d.source for d in found))


def _device(row: Row) -> CatalogueDevice:
    name = filled(row, "name")
    bandwidth, tera = device_figure(row, "bandwidth_gb_s"), device_figure(row, "fp16_tflops")
    return CatalogueDevice(
        name=name,
        vendor=filled(row, "vendor"),
        memory_gib=device_figure(row, "memory_gib"),
        bandwidth_bytes_s=bandwidth * 1e9 if bandwidth else None,
        fp16_flops=tera * 1e12 if tera else None,
        power_w=device_figure(row, "power_w"),
        price_usd=device_figure(row, "price_usd"),
        year=device_year(row),
        source=row_sources(row),
        gpu_cores=whole_figure(row, "gpu_cores", _MOST["gpu_cores"]),
        words=tuple(words_of(known) for known in (name, *listed(row, "also"))),
    )


def device_figure(row: Row, column: str) -> float | None:
    """The positive number of a column, in its unit; None where the cell is empty.

    Raises:
        ValueError: it is not one, or more than any device has.
    """
    return figure(row, column, _MOST[column])


def device_year(row: Row) -> int | None:
    """The year in which it was first sold; None where the cell is empty.

    Raises:
        ValueError: it is none.
    """
    year = whole_figure(row, "year", _YEARS.stop)
    if year is not None and year not in _YEARS:
        raise ValueError(f"year is {year}")
    return year


def row_sources(row: Row) -> str:
    """The row's sources, each once.

    Raises:
        ValueError: a figure, or the row, is given without its source.
    """
    for column, source in _SOURCE_OF.items():
        if row[column] and not row[source]:
            raise ValueError(f"{column} has no source")
    given = (row[source] for source in dict.fromkeys(_SOURCE_OF.values()))
    return "; ".join(dict.fromkeys(filter(None, given)))
