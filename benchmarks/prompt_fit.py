"""The share of the shaders' rate that prompts reach, fitted as `targets_fit` fits the rest.

A prompt takes 2 operations for each weight and token and those of attention, ÷ (compute share x
issue rate). Matrix units do several times what shaders do; so the share may be above 1. The log of
the share is a sum of terms with priors; a class's term is drawn towards none.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from public_rows import Row
from targets_fit import NOISE, Floats
from targets_law import MATRIX_UNITS, group_of, lanes, usual_flop_per_byte

PRIORS: Final = {
    "compute": (0.0, 0.7),
    "compute matrix units": (0.7, 0.4),
    "compute rocm": (-0.3, 0.5),
    "compute vulkan": (-0.3, 0.5),
    "compute metal": (-0.3, 0.5),
    "compute amd": (0.0, 0.4),
    "compute intel": (-0.4, 0.5),
    "compute apple": (0.0, 0.4),
    "compute unified": (-0.2, 0.3),
}
CLASS_PRIOR: Final = (0.0, 0.25)
ROBUST: Final = 0.25
SPREADS: Final = {"CUDA": 0.45, "Metal": 0.4, "other": 0.9}
"""Half-widths (log), as held-out devices show them. Apple's chips under Vulkan have no estimate of
prompts: their rates are apart by a factor of fifteen."""


def terms_of(backend: str, device_class: str) -> tuple[str, ...]:
    """The names of the terms that add up to the log of the compute share."""
    maker = device_class.split("-", maxsplit=1)[0]
    return (
        "compute",
        *(("compute matrix units",) if device_class.startswith(MATRIX_UNITS) else ()),
        *((f"compute {backend.lower()}",) if backend != "CUDA" else ()),
        *((f"compute {maker}",) if maker != "nvidia" else ()),
        *(("compute unified",) if device_class.endswith("unified") else ()),
        f"compute of {device_class}",
    )


def prior_of(name: str) -> tuple[float, float]:
    """Mean and standard deviation of a term."""
    return CLASS_PRIOR if name.startswith("compute of ") else PRIORS[name]


def compute_share(values: dict[str, float], backend: str, device_class: str) -> float:
    """Of the issue rate; terms that the fit has not seen are at their prior's mean."""
    names = terms_of(backend, device_class)
    return math.exp(sum(values.get(name, prior_of(name)[0]) for name in names))


def prompt_rows(rows: Sequence[Row]) -> list[Row]:
    """Those with a prompt rate, of back ends that have an estimate of prompts."""
    return [
        row
        for row in rows
        if row.prompt_tok_s
        and row.prompt_tokens
        and group_of(row.backend, row.configuration.device_class) in SPREADS
    ]


def reached(row: Row) -> float:
    """Log of the measured share of the issue rate."""
    usual = usual_flop_per_byte()
    configuration = row.configuration
    code = configuration.device_class
    bandwidth = configuration.bandwidth_bytes_s or math.nan
    rate = (configuration.shader_flops or usual[code] * bandwidth) * lanes(code)
    flop = 2 * row.prompt.prompt_weights + row.prompt.attention_flop
    return math.log(flop * (row.prompt_tok_s or math.nan) / rate)


def fit(rows: Sequence[Row]) -> dict[str, float]:
    """The terms that fit `rows` best: weighted least squares with priors."""
    terms = [terms_of(r.backend, r.configuration.device_class) for r in rows]
    names = sorted({name for some in terms for name in some})
    design = np.array([[float(name in some) for name in names] for some in terms])
    mean, deviation = (np.array([prior_of(n)[i] for n in names]) for i in (0, 1))
    measured = np.array([reached(row) for row in rows])
    counts = Counter((r.device, r.backend) for r in rows)
    weight = np.array([1 / counts[r.device, r.backend] ** 0.5 for r in rows])
    theta = mean.copy()
    for _ in range(40):
        residuals = measured - design @ theta
        now = weight / (1 + (residuals / ROBUST) ** 2) / NOISE**2
        curvature = design.T @ (now[:, None] * design) + np.diag(deviation**-2)
        pull = design.T @ (now * residuals) + (mean - theta) * deviation**-2
        theta = theta + np.linalg.solve(curvature, pull)
    return dict(zip(names, map(float, theta), strict=True))


def held_out(rows: Sequence[Row], key: Callable[[Row], str]) -> Floats:
    """Log of measured ÷ predicted rate, each row by a fit without its key's rows."""
    residuals = np.empty(len(rows))
    for left_out in sorted({key(row) for row in rows}):
        values = fit([row for row in rows if key(row) != left_out])
        for i, row in enumerate(rows):
            if key(row) == left_out:
                share = compute_share(values, row.backend, row.configuration.device_class)
                residuals[i] = reached(row) - math.log(share)
    return residuals
