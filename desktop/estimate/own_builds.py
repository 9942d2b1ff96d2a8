"""A build whose own runs say something else than all others: whom to believe.

What is known of other builds foretells the runs of one. Where they come out as foretold, or nearly,
nothing is to be decided. Where they do not, either something disturbed each of them by itself, or
the build is of its own kind and will run so again. Both are rare; which it is, the runs tell: two
that agree with each other were hardly disturbed alike.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_OWN_KIND: Final = 0.02
"""The share of builds that no term and no misfit foretells: an operation that is slow here."""
_DISTURBED: Final = 0.02
"""The share of builds whose every run was disturbed."""
_WILD_SD: Final = 0.7
"""Of the logarithm of such a build's times, or of such a run's: twice or half is usual."""
_LEAST: Final = 0.05
"""As a share of what the terms say; the logarithm of less tells nothing."""


@dataclass(frozen=True, slots=True)
class OwnRuns:
    """What settings that were weighed by all runs foretell of one build's own.

    Of `s` settings and `k` own runs, in shares of what the terms say of each.
    """

    ratios: Array
    """Measured ÷ expected; shape (k,)."""
    spreads: Array
    """Relative standard deviations within the runs; shape (k,)."""
    foretold: Array
    """By all other runs; shape (s, k)."""
    covariance: Array
    """Of `foretold` and the runs' noise, as it was weighed; shape (s, k, k)."""
    doubt: Array
    """Variance that was added to each run's because all others speak against it; shape (k,)."""
    noises: Array
    """Of each setting; shape (s,)."""


@dataclass(frozen=True, slots=True)
class OwnKind:
    """The build by its own runs, and how likely that is; each of shape (s,)."""

    mean: Array
    """Of the logarithm of measured ÷ expected."""
    sd: Array
    log_as_others: Array
    """To be added to a setting's logarithm of weight: that the build is as the others say."""
    log_own_kind: Array
    """The same: that it is of its own kind."""


def own_kind(runs: OwnRuns) -> OwnKind:
    """Weigh a build's own runs against what all others foretell."""
    off = runs.ratios - runs.foretold
    weighed = _log_normal(off, runs.covariance)
    plain = _log_normal(off, runs.covariance - np.diag(runs.doubt))
    logs = np.log(np.maximum(runs.ratios, _LEAST)) - np.log(np.maximum(runs.foretold, _LEAST))
    # densities of ratios, not of their logarithms
    jacobian = -float(np.log(runs.ratios).sum())
    varied = runs.noises[:, None] ** 2 + runs.spreads**2
    apart = np.stack([np.diag(v) for v in varied])
    alone = _log_normal(logs, apart + _WILD_SD**2 * np.eye(logs.shape[1])) + jacobian
    alike = _log_normal(logs, apart + _WILD_SD**2) + jacobian
    ordinary = np.logaddexp(
        math.log(1 - _OWN_KIND - _DISTURBED) + plain, math.log(_DISTURBED) + alone
    )
    variance = 1 / (1 / _WILD_SD**2 + (1 / varied).sum(axis=1))
    middle = np.log(np.maximum(runs.foretold, _LEAST)).mean(axis=1)
    return OwnKind(
        mean=middle + variance * (logs / varied).sum(axis=1),
        sd=np.sqrt(variance + runs.noises**2),
        log_as_others=ordinary - weighed,
        log_own_kind=math.log(_OWN_KIND) + alike - weighed,
    )


def _log_normal(off: Array, covariance: Array) -> Array:
    """Logarithms of densities; `off` of shape (s, k), `covariance` (s, k, k)."""
    solved = np.linalg.solve(covariance, off[..., None])[..., 0]
    _, log_determinant = np.linalg.slogdet(covariance)
    far = np.einsum("sk,sk->s", off, solved)
    result: Array = -0.5 * (far + log_determinant + off.shape[1] * math.log(2 * math.pi))
    return result
