"""One row of the table of devices: what it is sold as."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from desktop.records.estimate import Configuration
from desktop.rules.catalogue import GIB, figure, row_sources

MAX_MEMORY_GIB: Final = 1 << 14


def configurations_of_row(row: Mapping[str, str]) -> Iterator[Configuration]:
    """One configuration for each size of memory that the device is sold with.

    Args:
        row: of `resources/catalogue/devices.csv`. `{gb}` in its id and title is the size.

    Raises:
        ValueError: a value is missing or out of range, or a figure has no source.
        KeyError: a column is missing.
    """
    for column in ("id", "title", "class", "usable_share", "usable_source"):
        if not row[column].strip():
            raise ValueError(f"{row['id'] or row['name']}: {column} is missing")
    own = row["memory_gib"]
    sizes = [float(size) for size in (own or row["system_memory_gb"]).split("|")]
    for size in sizes:
        found = _configuration(row, size, shared=not own)
        # of a computer the price is that with the most memory: the others were cheaper
        yield found if size == max(sizes) else replace(found, price_usd=None)


def with_unique_aliases(found: Sequence[Configuration]) -> tuple[Configuration, ...]:
    """`found` without the other names that several of them have: those find none."""
    counts = Counter(n.casefold() for c in found for n in {c.id, c.name, *c.aliases})
    return tuple(
        replace(c, aliases=tuple(a for a in c.aliases if counts[a.casefold()] == 1)) for c in found
    )


def _configuration(row: Mapping[str, str], size_gib: float, *, shared: bool) -> Configuration:
    bandwidth, tera = figure(row, "bandwidth_gb_s"), figure(row, "fp16_tflops")
    year, cores = figure(row, "year"), figure(row, "gpu_cores")
    shader_tera = figure(row, "fp32_tflops")
    if shader_tera and not row["fp32_source"].strip():
        raise ValueError(f"{row['id']}: fp32_tflops has no source")
    return Configuration(
        id=row["id"].replace("{gb}", f"{size_gib:g}"),
        name=row["title"].replace("{gb}", f"{size_gib:g}"),
        vendor=row["vendor"],
        device_class=row["class"],
        memory_bytes=_memory(row, size_gib, 1),
        usable_bytes=_memory(row, size_gib, _share(row)),
        bandwidth_bytes_s=bandwidth * 1e9 if bandwidth else None,
        fp16_flops=tera * 1e12 if tera else None,
        power_w=figure(row, "power_w"),
        price_usd=figure(row, "price_usd"),
        year=int(year) if year else None,
        bf16={"yes": True, "no": False}[row["bf16"]],
        source="; ".join(dict.fromkeys((*row_sources(row).split("; "), row["usable_source"]))),
        gpu_cores=int(cores) if cores else None,
        shader_flops=shader_tera * 1e12 if shader_tera else None,
        shared_memory=shared,
        aliases=tuple(filter(None, (row["name"], *row["also"].split("|")))),
    )


def _memory(row: Mapping[str, str], size_gib: float, share: float) -> int:
    if not 0 < size_gib <= MAX_MEMORY_GIB:
        raise ValueError(f"{row['id']}: a memory of {size_gib} GiB")
    return round(size_gib * share * GIB)


def _share(row: Mapping[str, str]) -> float:
    share = float(row["usable_share"])
    if not 0 < share <= 1:
        raise ValueError(f"{row['id']}: usable_share is {share}")
    return share
