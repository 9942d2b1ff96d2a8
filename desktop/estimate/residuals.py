"""How measured times differ from what was expected, and what that says of a time not yet measured.

An expected time is a sum of terms: seconds for the bytes of each type, for the layers, and so on.
Each term may be wrong by a share of its own, all of them together by a common one, and each build
by one that no term explains. What was measured narrows these shares, by Bayes' rule for normal
distributions (a Gaussian process whose kernel is linear in the terms' parts of the time). How large
such errors are is not known either: a few settings are weighed by how well they explain what was
measured. With nothing measured this is the terms' own uncertainty.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from statistics import median
from typing import Final

import numpy as np

from desktop.estimate.own_builds import Array, OwnKind, OwnRuns, own_kind

COVERAGE: Final = 0.95
"""The share of times that a span is to hold."""
COMMON_SD: Final = 0.08
"""Of the error that all times of a machine share: its state when the parts were measured."""
_SCALES: Final = ((0.6, 0.25), (1.0, 0.5), (1.6, 0.24), (5.0, 0.01))
"""The terms' uncertainties times so much, with weights. The last: parts of a bad moment."""
_MISFITS: Final = ((0.015, 0.25), (0.03, 0.4), (0.06, 0.25), (0.12, 0.09), (0.3, 0.01))
"""Standard deviation of what no term explains of a build."""
_NOISES: Final = ((0.01, 0.25), (0.025, 0.4), (0.05, 0.25), (0.1, 0.09), (0.25, 0.01))
"""Standard deviation between runs of one build, hours or days apart."""
_STRAY: Final = 2.5
"""A measured time that is off by so many standard deviations was disturbed."""
_ENOUGH_TO_DOUBT: Final = 5
_LEAST: Final = 0.05
"""No time is expected to be less than this share of what the terms say."""
_LEVELS: Final = (_LEAST, 1 / _LEAST)
_STEPS: Final = 24
"""Of halving twelve standard deviations: to less than a millionth of one."""


@dataclass(frozen=True, slots=True)
class Term:
    """A part of an expected time."""

    seconds: float
    """Expected; negative for what is saved."""
    sd: float
    """Relative standard deviation of `seconds`."""
    counted: bool = True
    """False of a second way in which seconds of another term may be wrong."""


Terms = Mapping[str, Term]


@dataclass(frozen=True, slots=True)
class Seen:
    """One measured time of a build."""

    build: str
    terms: Terms
    seconds: float
    spread: float = 0.0
    """Relative standard deviation of `seconds` within its run."""


@dataclass(frozen=True, slots=True)
class Span:
    """An expected time with the bounds that hold it with `COVERAGE`, seconds."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True, slots=True)
class _Setting:
    scale: float
    misfit: float
    noise: float
    log_weight: float
    solved: Array = field(repr=False)
    """The inverse kernel times the measured deviations."""
    inverse: Array = field(repr=False)


def span_of(terms: Terms, seen: Sequence[Seen] = (), build: str = "") -> Span:
    """The time that `terms` and what was measured lead to expect of a run of `build`."""
    return Residuals(seen).spans([(build, terms)])[0]


class Residuals:
    """What measured times say of the terms; made once, asked for many builds."""

    def __init__(self, seen: Sequence[Seen] = ()) -> None:
        self._builds = [one.build for one in seen]
        self._shares, self._sds, self._names = _table([one.terms for one in seen])
        expected = np.array([_sum(one.terms) for one in seen])
        self._ratios = np.array([one.seconds for one in seen]) / expected
        self._levels = _levels(self._builds, self._ratios)
        self._spreads = self._within = np.array([one.spread for one in seen])
        self._settings = self._weighed()
        if len(seen) >= _ENOUGH_TO_DOUBT:
            self._spreads = self._with_strays()
            self._settings = self._weighed()

    def spans(self, wanted: Sequence[tuple[str, Terms]]) -> tuple[Span, ...]:
        """Of each pair of a build's key and its terms."""
        if not wanted:
            return ()
        expected = np.array([_sum(terms) for _, terms in wanted])
        shares, sds, names = _table([terms for _, terms in wanted])
        own = _kernel_own(shares, sds)
        cross = self._cross(shares, sds, names)
        same = self._same([key for key, _ in wanted])
        parts = [_predicted(s, own, cross, same) for s in self._settings]
        means, sd = (np.array(values) for values in zip(*parts, strict=True))
        mixture = self._with_own_runs([key for key, _ in wanted], means, sd)
        low, middle, high = (
            expected * _quantile(*mixture, at)
            for at in ((1 - COVERAGE) / 2, 0.5, (1 + COVERAGE) / 2)
        )
        return tuple(Span(*map(float, row)) for row in zip(low, middle, high, strict=True))

    def _with_own_runs(
        self, keys: Sequence[str], means: Array, sds: Array
    ) -> tuple[Array, Array, Array]:
        """Means, deviations and weights (settings in rows, builds in columns).

        Of a build that was measured a second set of rows: it may be of its own kind.
        """
        logs = np.array([s.log_weight for s in self._settings])[:, None]
        logs, unlikely = np.repeat(logs, len(keys), axis=1), np.full_like(means, -np.inf)
        both = (
            np.concatenate([means, means]),
            np.concatenate([sds, sds]),
            np.concatenate([logs, unlikely]),
        )
        rows = len(self._settings)
        for column, key in enumerate(keys):
            found = self._own_kind(key)
            if found is not None:
                both[0][rows:, column], both[1][rows:, column] = found.mean, found.sd
                both[2][rows:, column] = logs[:, column] + found.log_own_kind
                both[2][:rows, column] += found.log_as_others
        weights = np.exp(both[2] - both[2].max(axis=0, initial=-np.inf))
        return both[0], both[1], weights / weights.sum(axis=0)

    def _same(self, keys: Sequence[str]) -> Array:
        """Of each build (rows) its own runs (columns).

        What no term explains is a share of what was measured, and of what is foretold.
        """
        own = np.array([[key == b and key != "" for b in self._builds] for key in keys], float)
        return np.asarray(own.reshape(len(keys), len(self._builds)) * self._levels**2)

    def _own_kind(self, key: str) -> OwnKind | None:
        """A build by its own runs; None where there are none."""
        at = [i for i, build in enumerate(self._builds) if build == key and key != ""]
        if not at:
            return None
        covariance: Array = np.asarray(np.linalg.inv(self._inverse[:, at][:, :, at]), np.float64)
        solved = np.einsum("skj,sj->sk", covariance, self._solved[:, at])
        ratios = self._ratios[at]
        return own_kind(
            OwnRuns(
                ratios=ratios,
                spreads=self._within[at],
                foretold=ratios - solved,
                covariance=covariance,
                doubt=(self._spreads[at] ** 2 - self._within[at] ** 2) * self._levels[at] ** 2,
                noises=np.array([s.noise for s in self._settings]),
            )
        )

    @cached_property
    def _inverse(self) -> Array:
        return np.stack([s.inverse for s in self._settings])

    @cached_property
    def _solved(self) -> Array:
        return np.stack([s.solved for s in self._settings])

    def _weighed(self) -> tuple[_Setting, ...]:
        base = _kernel(self._shares, self._sds, self._shares)
        same = np.array([[float(a == b and a != "") for b in self._builds] for a in self._builds])
        same = same.reshape(base.shape)
        np.fill_diagonal(same, 1.0)
        found = []
        for (scale, a), (misfit, b), (noise, c) in product(_SCALES, _MISFITS, _NOISES):
            own = misfit**2 * same + np.diag(noise**2 + self._spreads**2)
            # errors are relative to what was measured, the kernel's to what was expected
            kernel = scale**2 * base + own * np.outer(self._levels, self._levels)
            solved, inverse, likelihood = _solve(kernel, self._ratios - 1)
            log_weight = math.log(a * b * c) + likelihood
            found.append(_Setting(scale, misfit, noise, log_weight, solved, inverse))
        return tuple(found)

    def _with_strays(self) -> Array:
        """The measured times' spreads; of one that all others speak against, what it is off by."""
        logs = np.array([s.log_weight for s in self._settings])
        weights = np.exp(logs - logs.max())
        pairs = list(zip(weights / weights.sum(), self._settings, strict=True))
        off = sum(weight * s.solved / np.diag(s.inverse) for weight, s in pairs)
        sds = sum(weight / np.sqrt(np.diag(s.inverse)) for weight, s in pairs)
        stray = np.abs(off) > _STRAY * sds
        return np.asarray(np.where(stray, np.abs(off), self._spreads))

    def _cross(self, shares: Array, sds: Array, names: Sequence[str]) -> Array:
        """The kernel between what is asked (rows) and what was seen."""
        at = {name: i for i, name in enumerate(names)}
        both = [(at[name], i) for i, name in enumerate(self._names) if name in at]
        left, right = ([pair[k] for pair in both] for k in (0, 1))
        seen = self._shares[:, right] * self._sds[:, right]
        return COMMON_SD**2 + (shares[:, left] * sds[:, left]) @ seen.T


def _levels(builds: Sequence[str], ratios: Array) -> Array:
    """Of each run, measured ÷ expected of its build: the runs' middle.

    What is relative to a run's own ratio would make the run's scatter a part of what is said of its
    build. Bounded, so that no absurd time makes equations that cannot be solved.
    """
    of: dict[str, list[float]] = {}
    for build, ratio in zip(builds, ratios, strict=True):
        of.setdefault(build, []).append(float(ratio))
    found = [
        median(of[build]) if build else float(ratio)
        for build, ratio in zip(builds, ratios, strict=True)
    ]
    return np.asarray(np.clip(np.array(found), *_LEVELS), np.float64)


def _table(many: Sequence[Terms]) -> tuple[Array, Array, list[str]]:
    """Each term's part of the time (rows are builds), its deviation, and the terms' names."""
    names = sorted({name for terms in many for name in terms})
    shares = np.zeros((len(many), len(names)))
    sds = np.zeros_like(shares)
    at = {name: i for i, name in enumerate(names)}
    for row, terms in enumerate(many):
        total = _sum(terms)
        for name, term in terms.items():
            shares[row, at[name]], sds[row, at[name]] = term.seconds / total, term.sd
    return shares, sds, names


def _sum(terms: Terms) -> float:
    return sum(term.seconds for term in terms.values() if term.counted)


def _kernel(shares: Array, sds: Array, other: Array) -> Array:
    return COMMON_SD**2 + (shares * sds) @ (other * sds).T


def _kernel_own(shares: Array, sds: Array) -> Array:
    result: Array = COMMON_SD**2 + ((shares * sds) ** 2).sum(axis=1)
    return result


def _solve(kernel: Array, deviations: Array) -> tuple[Array, Array, float]:
    """Kernel⁻¹ · deviations, kernel⁻¹, and the log likelihood of the deviations."""
    inverse: Array = np.asarray(np.linalg.inv(kernel), np.float64)
    solved = inverse @ deviations
    _, log_determinant = np.linalg.slogdet(kernel)
    return solved, inverse, -0.5 * float(deviations @ solved + log_determinant)


def _predicted(setting: _Setting, own: Array, cross: Array, same: Array) -> tuple[Array, Array]:
    """Mean and deviation of the logarithm of measured ÷ expected."""
    both = setting.scale**2 * cross + setting.misfit**2 * same
    mean = np.maximum(1 + both @ setting.solved, _LEAST)
    known = np.einsum("ij,jk,ik->i", both, setting.inverse, both)
    scatter = (setting.misfit**2 + setting.noise**2) * mean**2
    variance = np.maximum(setting.scale**2 * own + scatter - known, (setting.noise * mean) ** 2)
    return np.log(mean), np.sqrt(variance) / mean


def _quantile(means: Array, sds: Array, weights: Array, at: float) -> Array:
    """Of a mixture of normal distributions (rows) for each build (columns), by halving."""
    low = (means - 6 * sds).min(axis=0)
    high = (means + 6 * sds).max(axis=0)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        below = (weights * _normal((middle - means) / sds)).sum(axis=0) < at
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(np.exp((low + high) / 2))


def _normal(z: Array) -> Array:
    """The normal distribution function (Abramowitz and Stegun 7.1.26, to 1.5e-7)."""
    t = 1 / (1 + 0.3275911 * np.abs(z) / math.sqrt(2))
    tail = (
        t
        * (
            0.254829592
            + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))
        )
        * np.exp(-z * z / 2)
    )
    return np.where(z > 0, 1 - tail / 2, tail / 2)
