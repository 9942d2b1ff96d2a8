"""What the devices of a class have in common, and the check that each row has it."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

Row = Mapping[str, str]


class Kind(NamedTuple):
    """A class of `resources/estimate/README.md`."""

    vendor: str
    memory: frozenset[str]
    """Types of memory; a class of cards with stacked chips has no others."""
    years: range
    bf16: bool | None
    """None: not all alike."""
    fp16_ratios: tuple[float, ...] = ()
    """What fp16 matrix products ÷ fp32 shader rate may be; empty: anything."""


def _kind(
    vendor: str, memory: str, years: tuple[int, int], *, bf16: bool | None,
    ratios: tuple[float, ...] = (),
) -> Kind:  # fmt: skip
    return Kind(vendor, frozenset(memory.split()), range(years[0], years[1] + 1), bf16, ratios)


_LP5: Final = "LPDDR5 LPDDR5X"
KINDS: Final[Mapping[str, Kind]] = {
    "nvidia-kepler": _kind("NVIDIA", "GDDR5", (2012, 2014), bf16=False),
    "nvidia-maxwell": _kind("NVIDIA", "GDDR5", (2014, 2016), bf16=False),
    "nvidia-pascal": _kind("NVIDIA", "GDDR5 GDDR5X", (2016, 2018), bf16=False),
    "nvidia-pascal-hbm": _kind("NVIDIA", "HBM2", (2016, 2016), bf16=False, ratios=(2,)),
    "nvidia-volta-hbm": _kind("NVIDIA", "HBM2", (2017, 2019), bf16=False, ratios=(8, 7.4)),
    "nvidia-turing": _kind("NVIDIA", "GDDR5 GDDR6", (2018, 2022), bf16=False, ratios=(4, 8)),
    "nvidia-ampere": _kind("NVIDIA", "GDDR6 GDDR6X", (2020, 2024), bf16=True, ratios=(2, 4)),
    "nvidia-ampere-hbm": _kind("NVIDIA", "HBM2 HBM2e", (2020, 2023), bf16=True, ratios=(16,)),
    "nvidia-ada": _kind("NVIDIA", "GDDR6 GDDR6X", (2022, 2025), bf16=True, ratios=(2, 4)),
    "nvidia-hopper-hbm": _kind("NVIDIA", "HBM2e HBM3 HBM3e", (2022, 2025), bf16=True),
    "nvidia-blackwell": _kind("NVIDIA", "GDDR6 GDDR7", (2025, 2027), bf16=True, ratios=(2, 4)),
    "nvidia-blackwell-hbm": _kind("NVIDIA", "HBM3e", (2024, 2027), bf16=True),
    "nvidia-rubin-hbm": _kind("NVIDIA", "HBM4", (2026, 2028), bf16=True),
    "nvidia-unified": _kind("NVIDIA", "LPDDR4X LPDDR5 LPDDR5X", (2018, 2026), bf16=None),
    "amd-gcn": _kind("AMD", "GDDR5", (2012, 2018), bf16=False),
    "amd-gcn-hbm": _kind("AMD", "HBM HBM2", (2015, 2020), bf16=False, ratios=(2,)),
    "amd-cdna-hbm": _kind("AMD", "HBM2 HBM2e", (2020, 2022), bf16=True, ratios=(8,)),
    "amd-cdna3-hbm": _kind("AMD", "HBM3 HBM3e", (2023, 2026), bf16=True, ratios=(8, 16)),
    "amd-rdna1": _kind("AMD", "GDDR6", (2019, 2020), bf16=False, ratios=(2,)),
    "amd-rdna2": _kind("AMD", "GDDR6", (2020, 2023), bf16=False, ratios=(2,)),
    "amd-rdna3": _kind("AMD", "GDDR6", (2022, 2024), bf16=True, ratios=(2,)),
    "amd-rdna4": _kind("AMD", "GDDR6", (2025, 2026), bf16=True, ratios=(4,)),
    "amd-unified": _kind("AMD", "DDR5 LPDDR5 LPDDR5X", (2021, 2026), bf16=None, ratios=(2,)),
    "intel-alchemist": _kind("Intel", "GDDR6", (2022, 2023), bf16=True),
    "intel-battlemage": _kind("Intel", "GDDR6", (2024, 2026), bf16=True),
    "intel-unified": _kind("Intel", "DDR4 DDR5 LPDDR4X LPDDR5 LPDDR5X", (2020, 2026), bf16=None),
    "apple-m1": _kind("Apple", "LPDDR4X LPDDR5", (2020, 2021), bf16=False, ratios=(1,)),
    "apple-m1-ultra": _kind("Apple", "LPDDR5", (2022, 2022), bf16=False, ratios=(1,)),
    "apple-m2": _kind("Apple", "LPDDR5", (2022, 2023), bf16=True, ratios=(1,)),
    "apple-m2-ultra": _kind("Apple", "LPDDR5", (2023, 2023), bf16=True, ratios=(1,)),
    "apple-m3": _kind("Apple", "LPDDR5", (2023, 2024), bf16=True, ratios=(1,)),
    "apple-m3-ultra": _kind("Apple", "LPDDR5", (2025, 2025), bf16=True, ratios=(1,)),
    "apple-m4": _kind("Apple", "LPDDR5X", (2024, 2025), bf16=True, ratios=(1,)),
    "apple-m5": _kind("Apple", "LPDDR5X", (2025, 2026), bf16=True, ratios=(1,)),
    "apple-m5-ultra": _kind("Apple", _LP5, (2026, 2027), bf16=True),
    "apple-m6": _kind("Apple", _LP5, (2026, 2027), bf16=True),
    "cpu-desktop": _kind("", "DDR3 DDR4 DDR5 LPDDR4X LPDDR5 LPDDR5X", (2012, 2027), bf16=None),
    "cpu-server": _kind("", "DDR4 DDR5", (2017, 2027), bf16=None),
    "cpu-arm": _kind("", "LPDDR4 LPDDR4X LPDDR5", (2019, 2027), bf16=None),
}
RATIO_SLACK: Final = 0.035
"""Rates are published rounded, and some at another clock."""
_CPU_VENDORS: Final = frozenset(
    {"any", "AMD", "Intel", "Qualcomm", "Raspberry Pi", "Orange Pi", "Apple", "NVIDIA"}
)
_DATA_RATES: Final = {
    "GDDR5": (4.8, 9.1), "GDDR5X": (9, 11.5), "GDDR6": (10, 20.2), "GDDR6X": (18.9, 23.1),
    "GDDR7": (18, 32.1),
}  # fmt: skip
"""Gb/s of one line, from the slowest to the fastest that was sold."""
_STACK_GB_S: Final = {
    "HBM": (120, 130), "HBM2": (175, 310), "HBM2e": (320, 480), "HBM3": (600, 830),
    "HBM3e": (750, 1250), "HBM4": (1500, 3300),
}  # fmt: skip
"""Of one stack of chips, 10⁹ bytes a second."""
_BUS_STEP: Final = 32
_MOST_BUS: Final = 512
_MOST_STACKS: Final = 8
_STANDARD: Final = re.compile(r"(?:(?:LP)?DDR\dX?|MRDIMM)-(\d{4})")
_WIDTH: Final = re.compile(r"(\d+) (channels?|bits)")
_ROUNDED: Final = 0.01


def class_problems(row: Row) -> Iterator[str]:
    """What the row of a device has otherwise than its class, one sentence each."""
    kind = KINDS.get(row["class"])
    if kind is None:
        yield f"the class {row['class']} is not known"
        return
    vendors = {kind.vendor} if kind.vendor else _CPU_VENDORS
    if row["vendor"] not in vendors:
        yield f"vendor is {row['vendor']}, its class has {' or '.join(sorted(vendors))}"
    if row["memory_type"] and row["memory_type"] not in kind.memory:
        allowed = " or ".join(sorted(kind.memory))
        yield f"memory_type is {row['memory_type']}, its class has {allowed}"
    if row["year"] and int(row["year"]) not in kind.years:
        yield f"year is {row['year']}, its class was sold first from {_span(kind.years)}"
    if kind.bf16 is not None and (row["bf16"] == "yes") is not kind.bf16:
        yield f"bf16 is {row['bf16']}, its class has the other"
    yield from _of_own_memory(row)
    yield from _of_rates(row, kind)
    yield from _of_bandwidth(row)


def _span(years: range) -> str:
    return f"{years.start} to {years.stop - 1}"


def _of_own_memory(row: Row) -> Iterator[str]:
    shares = "-unified" in row["class"] or row["class"].startswith(("apple-", "cpu-"))
    if shares is bool(row["memory_gib"]):
        yield f"its class {'shares' if shares else 'does not share'} the system's memory"
    if row["memory_gib"] and row["usable_share"] != "1":
        yield f"usable_share of its own memory is {row['usable_share']}"


def _of_rates(row: Row, kind: Kind) -> Iterator[str]:
    if not (kind.fp16_ratios and row["fp16_tflops"] and row["fp32_tflops"]):
        return
    ratio = float(row["fp16_tflops"]) / float(row["fp32_tflops"])
    if not any(abs(ratio - known) <= RATIO_SLACK * known for known in kind.fp16_ratios):
        known = " or ".join(f"{number:g}" for number in kind.fp16_ratios)
        yield f"fp16_tflops is {ratio:.2f} of fp32_tflops, its class has {known}"


def _of_bandwidth(row: Row) -> Iterator[str]:
    """Whether memory of that type can have such a bandwidth: by lines, stacks or channels."""
    if not row["bandwidth_gb_s"]:
        return
    found, kind = float(row["bandwidth_gb_s"]), row["memory_type"]
    if kind in _DATA_RATES:
        low, high = _DATA_RATES[kind]
        widths = range(_BUS_STEP, _MOST_BUS + 1, _BUS_STEP)
        possible = any(low <= 8 * found / width <= high for width in widths)
    elif kind in _STACK_GB_S:
        low, high = _STACK_GB_S[kind]
        possible = any(low <= found / stacks <= high for stacks in range(1, _MOST_STACKS + 1))
    else:
        wanted = _of_standard(row["name"])
        possible = wanted is None or abs(found - wanted) <= _ROUNDED * wanted
    if not possible:
        yield f"bandwidth_gb_s is {row['bandwidth_gb_s']}, which {kind} does not give"


def _of_standard(name: str) -> float | None:
    """The bandwidth of `…, DDR5-5600, 2 channels`: two channels where it does not say."""
    rate, width = _STANDARD.search(name), _WIDTH.search(name)
    if rate is None:
        return None
    count, unit = (int(width[1]), width[2]) if width else (2, "channels")
    bits = count if unit == "bits" else 64 * count
    return int(rate[1]) * bits / 8 / 1000
