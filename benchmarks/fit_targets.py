"""Make `resources/estimate/targets.csv` anew from a file of public measurements.

    python benchmarks/fit_targets.py PATH_TO_CSV [--write]

Without `--write` the constants and the difference to the table that ships are printed. The method
is in `targets_fit.py` and `prompt_fit.py`, the columns in `resources/estimate/README.md`. The file
itself is no part of this repository; the table carries constants only.
"""

import argparse
import csv
import io
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import prompt_fit
from public_rows import Row, configurations, read_rows
from targets_fit import Fitted, class_of, device_of, fit, fitted_rows, held_out, scale_of
from targets_law import (
    SPREADS,
    TOKEN_LAYERS,
    UNSCALED,
    group_of,
    lanes,
    usual_flop_per_byte,
)

from desktop import resources
from desktop.estimate.targets import RESOURCE

INTERVALS: Final = (
    *("share", "weight_flop", "attention", "layer_us", "token_us"),
    *("experts_us", "state_us", "latent_us", "compute"),
)
COLUMNS: Final = (
    *("engine", "backend", "class", "families"),
    *(f"{name}_{end}" for name in INTERVALS for end in ("low", "high")),
    *("flop_per_byte", "overhead_mib", "devices", "regime", "source"),
)
PLAIN: Final = "gguf_kquant|gguf_legacy|fp16|bf16|mxfp4"
TABLES: Final = "gguf_iquant"
TABLES_WORK: Final = 2.0
"""Types that look values up in tables cost up to that much more to unpack: assumed."""
MOST_SHARE: Final = 0.98
"""No memory gives all of its bandwidth: refreshing it takes about 2 to 4 %."""
NEW_CLASS: Final = 1.1
"""Spread of a class without a row of this back end; what leaving classes out showed is 1.05."""
NEW_MAKER: Final = 1.3
"""Spread where the back end has no row of that maker's devices either."""
OVERHEAD_MIB: Final = {
    "CUDA": 450,
    "ROCm": 450,
    "SYCL": 300,
    "Vulkan": 200,
    "Metal": 100,
    "CPU": 32,
}
TOKEN_UNSURE_US: Final = {"Metal": 0}
"""What is added to the high end of a token's cost, 150 elsewhere: no measured model has fewer than
four billion weights, and only smaller ones would tell it from the layers' cost. Assumed."""
STATE_SPREAD: Final = 1.7
"""Two models, a back end each."""
EXPERTS_US: Final = {"CUDA": (3, 45), "Metal": (35, 110), "CPU": (10, 300), "": (5, 120)}
LATENT_US: Final = {"CUDA": (30, 90), "Metal": (50, 200), "CPU": (20, 300), "": (30, 200)}
"""What the rows of mixtures want of each layer, by four models on a device each of CUDA and Metal;
without a row of the back end assumed. The README says how."""
CPU_STATE_US: Final = (40, 400)
NO_CUDA: Final = ("nvidia-kepler",)
NO_ROCM: Final = ("amd-gcn", "amd-rdna1")
ROCM_FIRST: Final = ("amd-cdna", "amd-gcn-hbm")
CPU_SHARES: Final = {
    "cpu-desktop": (0.42, 0.85),
    "cpu-server": (0.25, 0.75),
    "cpu-arm": (0.35, 0.85),
}
CPU_FLOP_PER_BYTE: Final = 8.0
CPU_COMPUTE: Final = (0.35, 1.6)
CLASSES: Final = (
    *("nvidia-kepler", "nvidia-maxwell", "nvidia-pascal", "nvidia-pascal-hbm", "nvidia-volta-hbm"),
    *("nvidia-turing", "nvidia-ampere", "nvidia-ampere-hbm", "nvidia-ada", "nvidia-hopper-hbm"),
    *("nvidia-blackwell", "nvidia-blackwell-hbm", "nvidia-rubin-hbm", "nvidia-unified"),
    *("amd-gcn", "amd-gcn-hbm", "amd-cdna-hbm", "amd-cdna3-hbm", "amd-rdna1", "amd-rdna2"),
    *("amd-rdna3", "amd-rdna4", "amd-unified"),
    *("intel-alchemist", "intel-battlemage", "intel-unified"),
    *(f"apple-m{i}" for i in range(1, 7)),
    *(f"apple-m{i}-ultra" for i in (1, 2, 3, 5)),
    *("cpu-desktop", "cpu-server", "cpu-arm"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """What the rows gave."""

    fitted: Fitted
    compute: dict[str, float]
    scale: float
    devices: dict[tuple[str, str], int]
    usual: dict[str, float]

    def count(self, backend: str, device_class: str) -> int:
        """Devices of the class that this back end was measured on."""
        return self.devices.get((backend, device_class), 0)

    def wider(self, backend: str, device_class: str) -> float:
        """How much wider than the held-out devices' spread."""
        if self.count(backend, device_class):
            return 1.0
        maker = device_class.split("-", maxsplit=1)[0]
        known = any(b == backend and c.startswith(maker) for b, c in self.devices)
        return NEW_CLASS if known else NEW_MAKER


def backends_of(device_class: str) -> tuple[str, ...]:
    """The back ends that run on a class, in order of preference."""
    maker = device_class.split("-", maxsplit=1)[0]
    if maker == "cpu":
        return ("CPU",)
    if maker == "apple":
        return ("Metal", "Vulkan")
    if maker == "nvidia":
        return ("Vulkan",) if device_class in NO_CUDA else ("CUDA", "Vulkan")
    last = ("CPU",) if device_class.endswith("unified") else ()
    if maker == "intel":
        return ("Vulkan", "SYCL", *last)
    if device_class in NO_ROCM:
        return ("Vulkan",)
    first = device_class.startswith(ROCM_FIRST)
    return ("ROCm", "Vulkan") if first else ("Vulkan", "ROCm", *last)


def analyse(rows: Sequence[Row]) -> Found:
    """Fit the dense rows of llama.cpp."""
    residuals, widths = held_out(rows, device_of)
    return Found(
        fitted=fit(rows),
        compute=prompt_fit.fit(prompt_fit.prompt_rows(rows)),
        scale=scale_of(rows, residuals, widths),
        devices=_devices(rows),
        usual=usual_flop_per_byte(),
    )


def _devices(rows: Sequence[Row]) -> dict[tuple[str, str], int]:
    seen = {(row.backend, class_of(row), row.device) for row in rows}
    keys = [(backend, code) for backend, code, _ in seen]
    return {key: keys.count(key) for key in set(keys)}


def table(found: Found) -> str:
    """The text of the table."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n", restval="")
    writer.writeheader()
    for device_class in CLASSES:
        for backend in backends_of(device_class):
            writer.writerows(_lines(found, backend, device_class))
    return out.getvalue()


def _lines(found: Found, backend: str, device_class: str) -> Iterator[dict[str, str]]:
    line = {
        "engine": "llama.cpp",
        "backend": backend,
        "class": device_class,
        "overhead_mib": str(OVERHEAD_MIB[backend]),
        "devices": str(found.count(backend, device_class)),
    }
    if device_class.startswith("cpu"):
        yield line | {"families": f"{PLAIN}|{TABLES}"} | _processor(found, device_class)
        return
    line |= _fitted(found, backend, device_class)
    yield line | {"families": PLAIN}
    work = line.get("weight_flop_high")
    dearer = {"weight_flop_high": f"{float(work) * TABLES_WORK:.4g}"} if work else {}
    yield line | {"families": TABLES} | dearer


def _fitted(found: Found, backend: str, device_class: str) -> dict[str, str]:
    """The figures of a class's back end: central values, spread."""
    # SYCL has no row: the law of the same chips under Vulkan, without what Vulkan gains
    like = "ROCm" if backend == "SYCL" else backend
    law = found.fitted.law(like, device_class)
    group = group_of(like, device_class)
    scale = (1 if group in UNSCALED else found.scale) * found.wider(backend, device_class)
    reading, attends, work, layers = (math.exp(scale * spread) for spread in SPREADS[group])
    unpack, fixed = law.work / lanes(device_class), law.layer_s * 1e6
    # the range holds for builds of all ages
    newest = found.fitted.law(like, device_class, recent=True).layer_s * 1e6
    share, attention = law.share, law.attention * lanes(device_class)
    state, unsure = law.state_s * 1e6, TOKEN_UNSURE_US.get(backend, 150)
    figures = {
        **_ends("share", share / reading, min(MOST_SHARE, share * reading)),
        **_ends("layer_us", newest / layers, fixed * layers),
        **_ends("token_us", TOKEN_LAYERS * newest / layers, TOKEN_LAYERS * fixed * layers + unsure),
        **_ends("state_us", state / STATE_SPREAD, state * STATE_SPREAD),
        **_ends("experts_us", *EXPERTS_US.get(backend, EXPERTS_US[""])),
        **_ends("latent_us", *LATENT_US.get(backend, LATENT_US[""])),
        "regime": "fitted" if found.count(backend, device_class) else "law",
        "source": "public-fit" if found.count(backend, device_class) else "public-law",
    }
    if unpack:
        figures |= _ends("weight_flop", unpack / work, unpack * work)
        figures |= _ends("attention", attention / attends, attention * attends)
    if device_class in found.usual:
        figures["flop_per_byte"] = f"{found.usual[device_class]:.4g}"
    if group in prompt_fit.SPREADS:
        figures |= _compute(found, like, device_class, group)
    return figures


def _compute(found: Found, backend: str, device_class: str, group: str) -> dict[str, str]:
    share = prompt_fit.compute_share(found.compute, backend, device_class) * lanes(device_class)
    spread = math.exp(prompt_fit.SPREADS[group] * found.wider(backend, device_class))
    return _ends("compute", share / spread, share * spread)


def _processor(found: Found, device_class: str) -> dict[str, str]:
    """Assumed, but for the cost of a layer: the one processor measured shares its memory."""
    layer = found.fitted.law("CPU", device_class).layer_s * 1e6
    low, high = CPU_SHARES[device_class]
    return {
        **_ends("share", low, high),
        **_ends("state_us", *CPU_STATE_US),
        **_ends("experts_us", *EXPERTS_US["CPU"]),
        **_ends("latent_us", *LATENT_US["CPU"]),
        **_ends("layer_us", layer / 2, layer * 2),
        **_ends("token_us", TOKEN_LAYERS * layer / 2, TOKEN_LAYERS * layer * 2),
        **_ends("compute", *CPU_COMPUTE),
        "flop_per_byte": f"{CPU_FLOP_PER_BYTE:g}",
        "regime": "assumed",
        "source": "assumed",
    }


def _ends(name: str, low: float, high: float) -> dict[str, str]:
    return {f"{name}_low": f"{low:.4g}", f"{name}_high": f"{high:.4g}"}


def main() -> int:
    """Fit, print, and write where asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = fitted_rows(read_rows(options.path)[0])
    found = analyse(rows)
    for name, value in sorted((found.fitted.values | found.compute).items()):
        print(f"{name:<32} {value:8.3f}")
    print(f"{'scale':<32} {found.scale:8.3f}")
    text = table(found)
    missing = {c.device_class for c in configurations()} - set(CLASSES)
    print(f"classes of the catalogue without a target: {', '.join(sorted(missing)) or 'none'}")
    if options.write:
        (resources.folder() / RESOURCE).write_text(text, encoding="utf-8", newline="")
    else:
        same = text == resources.text(RESOURCE)
        print("as the table that ships" if same else "differs from the table that ships")
    return 0


if __name__ == "__main__":
    sys.exit(main())
