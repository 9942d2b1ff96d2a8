"""One row of the table of devices: what it is sold as."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from desktop.records.estimate import Configuration
from desktop.rules.catalogue import GIB, device_figure, device_year, row_sources
from desktop.rules.table_rows import Row, chosen, filled, listed, number, whole_figure

COLUMNS: Final = (
    "id", "name", "also", "title", "vendor", "class", "gpu_cores", "memory_gib", "memory_type",
    "system_memory_gb", "usable_share", "usable_source", "bandwidth_gb_s", "bandwidth_source",
    "fp16_tflops", "fp16_source", "fp32_tflops", "fp32_source", "bf16", "power_w", "price_usd",
    "year", "source",
)  # fmt: skip
"""Of the table of devices."""
MAX_MEMORY_GIB: Final = 1 << 14
_MOST_CORES: Final = 10**5
_SIZE: Final = "{gb}"


def configurations_of_row(row: Row) -> Iterator[Configuration]:
    """One configuration for each size of memory that the device is sold with.

    Args:
        row: of `resources/catalogue/devices.csv`. `{gb}` in its id and title is the size.

    Raises:
        ValueError: a value is missing or out of range, or a figure has no source.
    """
    sizes = _sizes(row)
    for size in sizes:
        found = _configuration(row, size)
        # of a computer the price is that with the most memory: the others were cheaper
        yield found if size == max(sizes) else replace(found, price_usd=None)


def with_unique_aliases(found: Sequence[Configuration]) -> tuple[Configuration, ...]:
    """`found` without the other names that several of them have: those find none."""
    counts = Counter(n.casefold() for c in found for n in {c.id, c.name, *c.aliases})
    return tuple(
        replace(c, aliases=tuple(a for a in c.aliases if counts[a.casefold()] == 1)) for c in found
    )


def _sizes(row: Row) -> list[float]:
    """The memory of each configuration, in GiB: its own, or each size of the system's."""
    shared = row["memory_gib"] == ""
    column = "system_memory_gb" if shared else "memory_gib"
    if row["memory_gib"] and row["system_memory_gb"]:
        raise ValueError("memory_gib and system_memory_gb are both given")
    filled(row, column)
    parts = listed(row, column) if shared else (row[column],)
    sizes = [number(column, part, most=MAX_MEMORY_GIB, above_zero=True) for part in parts]
    if len(set(sizes)) > 1 and not all(_SIZE in row[name] for name in ("id", "title")):
        raise ValueError(f"id and title of several sizes do not have {_SIZE} in them")
    return sizes


def _configuration(row: Row, size_gib: float) -> Configuration:
    bandwidth, tera = device_figure(row, "bandwidth_gb_s"), device_figure(row, "fp16_tflops")
    shader_tera = device_figure(row, "fp32_tflops")
    if shader_tera and not row["fp32_source"]:
        raise ValueError("fp32_tflops has no source")
    sources = (*row_sources(row).split("; "), filled(row, "usable_source"))
    return Configuration(
        id=filled(row, "id").replace(_SIZE, f"{size_gib:g}"),
        name=filled(row, "title").replace(_SIZE, f"{size_gib:g}"),
        vendor=filled(row, "vendor"),
        device_class=filled(row, "class"),
        memory_bytes=round(size_gib * GIB),
        usable_bytes=round(size_gib * _share(row) * GIB),
        bandwidth_bytes_s=bandwidth * 1e9 if bandwidth else None,
        fp16_flops=tera * 1e12 if tera else None,
        power_w=device_figure(row, "power_w"),
        price_usd=device_figure(row, "price_usd"),
        year=device_year(row),
        bf16=chosen(row, "bf16", ("yes", "no")) == "yes",
        source="; ".join(dict.fromkeys(sources)),
        gpu_cores=whole_figure(row, "gpu_cores", _MOST_CORES),
        shader_flops=shader_tera * 1e12 if shader_tera else None,
        shared_memory=row["memory_gib"] == "",
        aliases=(filled(row, "name"), *listed(row, "also")),
    )


def _share(row: Row) -> float:
    return number("usable_share", row["usable_share"], most=1, above_zero=True)
