"""The fit behind `resources/estimate/targets.csv`: few constants, spread by held-out devices.

A token takes (`desktop/estimate/speed.py`)

    bytes ÷ (share x bandwidth) + weights x work ÷ issue rate
    + operations of attention ÷ (attention x issue rate)
    + layer_s x (layers + 4) + state_s x recurrent layers

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
from typing import Final

import numpy as np
import numpy.typing as npt
from public_rows import Row
from targets_law import (
    CLASS_PRIOR,
    PRIORS,
    SPREADS,
    TOKEN_LAYERS,
    UNSCALED,
    group_of,
    lanes,
    state_terms,
    terms_of,
    usual_flop_per_byte,
)

from desktop.estimate.work import STATE

Floats = npt.NDArray[np.float64]

LEVEL: Final = 0.93
ROBUST: Final = 0.12
NOISE: Final = 0.08
STEPS: Final = 60
_SINGLE: Final = ("attention", "state", "state metal")


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
            state_s=math.exp(self._sum(state_terms(backend))),
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
