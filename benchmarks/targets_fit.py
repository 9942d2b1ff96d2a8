"""The fit behind `resources/estimate/targets.csv`: few constants, spread by held-out devices.

A token takes (`desktop/estimate/speed.py`)

    bytes ÷ (share x bandwidth) + weights x work ÷ issue rate
    + operations of attention ÷ (attention x issue rate)
    + layer_s x (layers + 4) + state_s x recurrent layers

The issue rate is what a device's shaders start a second: NVIDIA's multiprocessors start four warps
a clock, whether they have 64 fp32 lanes (Volta, Turing, A100) or 128 (the others), so the published
fp32 rate is doubled for the former; AMD counts two starts a lane since RDNA 3, so it is halved.
Share, log work, log layer_s are sums of a few terms: of all, of the memory's kind, of the back
end, of the maker, of the class. Each term has a normal prior; a class's term is drawn towards none.
Nothing belongs to one device. Large residuals count for less (Cauchy's weight), and a device with
many rows counts for little more than one with a single row.

The half-width of a range (log) is `scale` x the terms' own spreads, weighted by their parts of the
time; `scale` is taken from devices that the fit had not seen.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from public_rows import Row, configurations

from desktop.estimate.work import STATE

Floats = npt.NDArray[np.float64]

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
LEVEL: Final = 0.93
"""Of held-out devices' rows inside: more than the 90 % that are promised, as devices to come differ
more than those here."""
ROBUST: Final = 0.12
"""A residual (log) of this size has half the weight."""
NOISE: Final = 0.08
"""Of one row (log): devices of one name, cooling, drivers, versions of the engine."""
STEPS: Final = 60
_SINGLE: Final = ("attention", "state", "state metal")
Terms = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


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


def _state_terms(backend: str) -> tuple[str, ...]:
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


@dataclass(frozen=True, slots=True)
class Law:
    """The constants of one back end on one class: central values."""

    share: float
    attention: float
    """Of the issue rate."""
    work: float
    """Operations at the issue rate for each weight."""
    layer_s: float
    state_s: float


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a fit found; terms that it has not seen are at their prior's mean."""

    values: dict[str, float]

    def law(self, backend: str, device_class: str, *, recent: bool = False) -> Law:
        """Of one back end on one class, and of the engine's older or recent builds."""
        share, work, layer = terms_of(backend, device_class, recent=recent)
        log_work = self._sum(work)
        return Law(
            share=self._sum(share),
            attention=math.exp(self._sum(("attention",))),
            work=math.exp(log_work) if work else 0.0,
            layer_s=math.exp(self._sum(layer)),
            state_s=math.exp(self._sum(_state_terms(backend))),
        )

    def _sum(self, names: Sequence[str]) -> float:
        return sum(self.values.get(name, _prior(name)[0]) for name in names)


def _prior(name: str) -> tuple[float, float]:
    return CLASS_PRIOR if name.startswith("work of ") else PRIORS[name]


class _Table:
    """Rows as arrays, and the terms of each as a matrix."""

    def __init__(self, rows: Sequence[Row]) -> None:
        usual = usual_flop_per_byte()
        self.terms = [
            terms_of(r.backend, r.configuration.device_class, recent=r.recent) for r in rows
        ]
        flat = {name for three in self.terms for names in three for name in names}
        self.names = sorted(flat | {"attention", "state", "state metal"})
        self.share, self.work, self.layer = (self._matrix(part) for part in range(3))
        self.metal = np.array([float(row.backend == "Metal") for row in rows])
        self.works = np.array([float(bool(work)) for _, work, _ in self.terms])
        self.asked = np.array([_asked(row, usual) for row in rows]).T
        self.seconds = np.array([1 / row.tok_s for row in rows])
        self.weights = _weights(rows)

    def _matrix(self, part: int) -> Floats:
        found = np.zeros((len(self.terms), len(self.names)))
        for row, three in enumerate(self.terms):
            for name in three[part]:
                found[row, self.names.index(name)] += 1
        return found

    def parts(self, theta: Floats) -> Floats:
        """Seconds of reading, attention, work and layers (rows) of each measurement (columns)."""
        read_s, attention_s, weights_s, layers, states = self.asked
        attention, state, metal = (theta[self.names.index(n)] for n in _SINGLE)
        work = np.exp(self.work @ theta) * self.works
        fixed_s = np.exp(self.layer @ theta) * layers + np.exp(state + metal * self.metal) * states
        return np.array(
            [
                read_s / (self.share @ theta),
                attention_s / math.exp(attention),
                work * weights_s,
                fixed_s,
            ]
        )

    def residuals(self, theta: Floats) -> Floats:
        """Log of measured ÷ predicted seconds."""
        return np.asarray(np.log(self.seconds / self.parts(theta).sum(axis=0)))


def _asked(row: Row, usual: dict[str, float]) -> tuple[float, float, float, float, float]:
    """Seconds of reading, of attention, of one operation a weight; layers; recurrent layers.

    Reading is at the full bandwidth, the others at the issue rate.
    """
    configuration, work = row.configuration, row.work
    bandwidth = configuration.bandwidth_bytes_s or math.nan
    code = configuration.device_class
    rate = (configuration.shader_flops or usual.get(code, math.nan) * bandwidth) * lanes(code)
    if row.backend == "CPU":
        # what it computes hides behind what it reads, or is unknown
        rate = math.inf
    states = dict(work.extra_layers).get(STATE, 0.0)
    read_s = (work.weight_bytes + work.cache_bytes) / bandwidth
    layers = work.layers + TOKEN_LAYERS
    return read_s, work.token_flop / rate, (work.weights or 0) / rate, layers, states


def _weights(rows: Sequence[Row]) -> Floats:
    """So that a device with many rows counts little more than one with a single row."""
    keys = [((r.device, r.backend), r.model.id, r.quant.id) for r in rows]
    builds = Counter(keys)
    kinds = Counter(key[0] for key in builds)
    return np.array([1 / (builds[key] * kinds[key[0]] ** 0.5) for key in keys])


def fit(rows: Sequence[Row]) -> Fitted:
    """The constants that fit `rows` best, by Gauss and Newton's steps from the priors' means."""
    table = _Table(rows)
    mean, deviation = (np.array([_prior(n)[i] for n in table.names]) for i in (0, 1))
    theta = mean.copy()
    for _ in range(STEPS):
        residuals = table.residuals(theta)
        weight = table.weights / (1 + (residuals / ROBUST) ** 2) / NOISE**2
        slope = _slope(table, theta, residuals)
        curvature = slope.T @ (weight[:, None] * slope) + np.diag(deviation**-2)
        pull = slope.T @ (weight * residuals) + (mean - theta) * deviation**-2
        step = np.clip(np.linalg.solve(curvature, pull), -0.4, 0.4)
        theta = theta + step
        if np.abs(step).max() < 1e-6:
            break
    return Fitted(dict(zip(table.names, map(float, theta), strict=True)))


def _slope(table: _Table, theta: Floats, residuals: Floats) -> Floats:
    """Change of the predicted log for a small change of each constant."""
    columns = []
    for i in range(len(theta)):
        moved = theta.copy()
        moved[i] += 1e-5
        columns.append((residuals - table.residuals(moved)) / 1e-5)
    return np.array(columns).T


def parts_of(fitted: Fitted, rows: Sequence[Row]) -> Floats:
    """Seconds of reading, attention, work and layers (rows) of each measurement (columns)."""
    table = _Table(rows)
    theta = np.array([fitted.values.get(name, _prior(name)[0]) for name in table.names])
    return table.parts(theta)


def held_out(rows: Sequence[Row], key: Callable[[Row], str]) -> tuple[Floats, Floats]:
    """Log of measured ÷ predicted seconds, each row by a fit without its key's rows.

    Returns:
        The residuals, and the half-widths (log) at a scale of 1.
    """
    residuals, widths = np.empty(len(rows)), np.empty(len(rows))
    for left_out in sorted({key(row) for row in rows}):
        fitted = fit([row for row in rows if key(row) != left_out])
        asked = [(i, row) for i, row in enumerate(rows) if key(row) == left_out]
        here = [row for _, row in asked]
        parts = parts_of(fitted, here)
        for (i, row), part in zip(asked, parts.T, strict=True):
            residuals[i] = math.log(1 / row.tok_s / part.sum())
            widths[i] = half_width(row, part)
    return residuals, widths


def half_width(row: Row, part: Floats) -> float:
    """Log, at a scale of 1."""
    spread = SPREADS[group_of(row.backend, row.configuration.device_class)]
    return float(part @ np.array(spread) / part.sum())


def scale_of(rows: Sequence[Row], residuals: Floats, widths: Floats) -> float:
    """What the half-widths are multiplied with so that `LEVEL` of devices' rows are inside."""
    counts = Counter((row.device, row.backend) for row in rows)
    found = sorted(
        (abs(residual) / width, 1 / counts[row.device, row.backend])
        for row, residual, width in zip(rows, residuals, widths, strict=True)
        if group_of(row.backend, row.configuration.device_class) not in UNSCALED
    )
    wanted = LEVEL * sum(weight for _, weight in found)
    reached = np.cumsum([weight for _, weight in found])
    return found[int(np.searchsorted(reached, wanted))][0]


def device_of(row: Row) -> str:
    """The key for leaving a device out."""
    return row.device


def class_of(row: Row) -> str:
    """The key for leaving a class, and so a generation, out."""
    return row.configuration.device_class


def fitted_rows(rows: Iterable[Row]) -> list[Row]:
    """Those that the constants are fitted to: llama.cpp's, without flags."""
    return [row for row in rows if row.kind == "dense"]
