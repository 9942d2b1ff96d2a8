"""What the constants of `resources/estimate/targets.csv` are made of: terms, priors and spreads.

The issue rate is what a device's shaders start a second: NVIDIA's multiprocessors start four warps
a clock, whether they have 64 fp32 lanes (Volta, Turing, A100) or 128 (the others), so the published
fp32 rate is doubled for the former; AMD counts two starts a lane since RDNA 3, so it is halved.
"""

import math
from functools import lru_cache
from typing import Final

import numpy as np
from public_rows import configurations

Terms = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]

TOKEN_LAYERS: Final = 4
"""A token's fixed cost (its embedding, the output, handing over the logits) in layers."""
HALF_LANES: Final = ("nvidia-volta", "nvidia-turing", "nvidia-ampere-hbm", "nvidia-pascal-hbm")
DOUBLE_STARTS: Final = ("amd-rdna3", "amd-rdna4", "amd-unified", "amd-cdna3")
AS_BEFORE: Final = {"nvidia-rubin-hbm": "nvidia-blackwell-hbm", "apple-m6": "apple-m5"}
"""Classes of which no rate is published: as the generation before."""
NO_DOT_PRODUCT: Final = ("nvidia-pascal-hbm", "nvidia-maxwell", "nvidia-kepler")
"""No instruction for dot products of bytes: several take its place."""
MATRIX_UNITS: Final = (
    *("nvidia-volta", "nvidia-turing", "nvidia-ampere", "nvidia-ada", "nvidia-hopper"),
    *("nvidia-blackwell", "nvidia-rubin", "nvidia-unified", "intel-battlemage", "apple-m5"),
    *("amd-rdna3", "amd-rdna4", "amd-cdna", "intel-alchemist", "intel-unified", "apple-m6"),
)
PRIORS: Final = {
    "share": (0.92, 0.03),
    "share hbm": (-0.08, 0.06),
    "share unified": (-0.02, 0.04),
    "share apple": (0.0, 0.03),
    "share ultra": (-0.1, 0.06),
    "share apple on vulkan": (-0.35, 0.2),
    "share cpu": (-0.4, 0.15),
    "attention": (math.log(0.2), 0.4),
    "state": (math.log(90e-6), 0.4),
    "state metal": (0.6, 0.4),
    "work": (math.log(9.0), 0.5),
    "work vulkan": (-0.2, 0.4),
    "work amd": (0.0, 0.3),
    "work intel": (0.0, 0.3),
    "work metal": (math.log(0.7), 0.9),
    "work bytes": (math.log(3.0), 0.3),
    "layer": (math.log(15e-6), 0.5),
    "layer vulkan rocm cpu": (0.4, 0.4),
    "layer metal": (math.log(130e-6), 0.4),
    "layer metal 2026": (-0.4, 0.3),
}
"""Mean and standard deviation before any row is seen. Of shares absolute, of all else logarithms.
Sources: `resources/estimate/README.md`."""
CLASS_PRIOR: Final = (0.0, 0.2)
"""Of a class's term of the work."""
SPREADS: Final = {
    "CUDA": (0.05, 0.4, 0.35, 0.4),
    "Metal": (0.05, 0.5, 0.35, 0.35),
    "other": (0.1, 0.6, 0.6, 0.6),
    "apple on vulkan": (0.6, 0.6, 0.6, 0.6),
    "CPU": (0.4, 0.4, 0.4, 0.4),
}
"""How uncertain (log) reading, attention, work and fixed costs are beside each other; `scale`
sizes them."""
UNSCALED: Final = ("apple on vulkan", "CPU")
"""Too few devices to take part in the scale: their spread is what they show."""
"""Of held-out devices' rows inside: more than the 90 % that are promised, as devices to come differ
more than those here."""
"""A residual (log) of this size has half the weight."""
"""Of one row (log): devices of one name, cooling, drivers, versions of the engine."""


def lanes(device_class: str) -> float:
    """Issue rate ÷ published fp32 rate."""
    if device_class.startswith(HALF_LANES):
        return 2.0
    return 0.5 if device_class.startswith(DOUBLE_STARTS) else 1.0


@lru_cache
def usual_flop_per_byte() -> dict[str, float]:
    """Published fp32 rate ÷ bandwidth of the median device of each class of the catalogue."""
    found: dict[str, list[float]] = {}
    for c in configurations():
        if c.shader_flops and c.bandwidth_bytes_s:
            found.setdefault(c.device_class, []).append(c.shader_flops / c.bandwidth_bytes_s)
    usual = {code: float(np.median(values)) for code, values in found.items()}
    return {new: usual[old] for new, old in AS_BEFORE.items() if old in usual} | usual


def terms_of(backend: str, device_class: str, *, recent: bool = False) -> Terms:
    """The names of the terms that add up to share, log work and log layer_s.

    Metal's fixed costs fell by a third between the engine's builds of 2023 and of 2026.
    """
    maker = device_class.split("-", maxsplit=1)[0]
    if backend == "CPU":
        return ("share", "share cpu"), (), ("layer", "layer vulkan rocm cpu")
    if backend == "Metal":
        ultra = ("share ultra",) if device_class.endswith("ultra") else ()
        layer = ("layer metal", "layer metal 2026") if recent else ("layer metal",)
        return ("share", "share apple", *ultra), ("work metal",), layer
    slower = () if backend == "CUDA" else ("layer vulkan rocm cpu",)
    if maker == "apple":
        return ("share", "share apple on vulkan"), ("work metal",), ("layer", *slower)
    return (
        ("share", *_of_memory(device_class)),
        (
            "work",
            *(("work vulkan",) if backend == "Vulkan" else ()),
            *((f"work {maker}",) if maker != "nvidia" else ()),
            *(("work bytes",) if device_class in NO_DOT_PRODUCT else ()),
            f"work of {device_class}",
        ),
        ("layer", *slower),
    )


def state_terms(backend: str) -> tuple[str, ...]:
    """The names of the terms that add up to the log of what a recurrent layer costs."""
    return ("state", "state metal") if backend == "Metal" else ("state",)


def _of_memory(device_class: str) -> tuple[str, ...]:
    if device_class.endswith("hbm"):
        return ("share hbm",)
    return ("share unified",) if device_class.endswith("unified") else ()


def group_of(backend: str, device_class: str) -> str:
    """Which of `SPREADS`."""
    if backend == "Vulkan" and device_class.startswith("apple"):
        return "apple on vulkan"
    return "other" if backend not in SPREADS else backend
