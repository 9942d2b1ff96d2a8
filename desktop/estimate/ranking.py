"""Which quantization a device would run, and in which order devices stand.

A device takes the quantization of the best quality that one of its back ends has and that fits.
Devices are ranked by the high end of the range; ties are broken by memory, then price, then id.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from desktop.errors import GramError, Reason
from desktop.estimate import reasons
from desktop.estimate.offered import target_with
from desktop.estimate.profile import side_of
from desktop.estimate.sheet import Sheet
from desktop.estimate.targets import targets_for
from desktop.records.estimate import Configuration, Efficiency, MemoryNeed, Target
from desktop.records.model import Quant, Weights


@dataclass(frozen=True, slots=True)
class Option:
    """One quantization on one device, under the preferred back end that has it."""

    quant: Quant
    weights: Weights
    target: Target
    efficiency: Efficiency
    bare: MemoryNeed
    """Without the back end's overhead."""
    need_bytes: int
    """With it."""
    fits: bool

    @property
    def need(self) -> MemoryNeed:
        """By purpose; the back end's overhead counts as scratch."""
        scratch = self.bare.compute_bytes + self.target.overhead_bytes
        return replace(self.bare, compute_bytes=scratch)


@dataclass(frozen=True, slots=True)
class Choice:
    """What a device would run."""

    best: Option | None
    """None where nothing runs, or nothing fits."""
    runner_up: Option | None = None
    reason: Reason | None = None
    """Why there is no best."""


def choose(sheet: Sheet, configuration: Configuration) -> Choice:
    """The best quantization that fits, and the next."""
    try:
        fitting = tuple(islice((o for o in _options(sheet, configuration) if o.fits), 2))
        if not fitting:
            return Choice(None, reason=_why_none(sheet, configuration))
    except GramError as e:
        return Choice(None, reason=e.reason)
    return Choice(fitting[0], fitting[1] if len(fitting) > 1 else None)


def options(sheet: Sheet, configuration: Configuration) -> tuple[Option, ...]:
    """All quantizations that a back end of the device has, the best quality first.

    Raises:
        GramError: the model's cache cannot be counted.
    """
    return tuple(_options(sheet, configuration))


def price_and_id(configuration: Configuration) -> tuple[float, str]:
    """To break ties: those without a price come last."""
    price = configuration.price_usd
    return (math.inf if price is None else price, configuration.id)


def _options(sheet: Sheet, configuration: Configuration) -> Iterator[Option]:
    profile, side = sheet.profile, side_of(configuration)
    targets = targets_for(configuration, profile.targets)
    for quant, weights in sheet.weights:
        found = target_with(quant, targets)
        if found is None or not profile.counting.runs(quant, configuration):
            continue
        target, efficiency = found
        bare, bare_bytes = sheet.need(quant, weights, side)
        need_bytes = bare_bytes + target.overhead_bytes
        fits = need_bytes <= configuration.usable_bytes
        yield Option(quant, weights, target, efficiency, bare, need_bytes, fits)


def _why_none(sheet: Sheet, configuration: Configuration) -> Reason:
    least = min(_options(sheet, configuration), key=lambda option: option.need_bytes, default=None)
    if least is None:
        return reasons.no_target(sheet.weights[0][0], configuration)
    # of one that was asked for alone nobody says that others are larger
    why = reasons.too_large if len(sheet.weights) > 1 else reasons.does_not_fit
    return why(least.quant, least.need_bytes, configuration, sheet.profile.memory_unit_bytes)
