"""Which quantizations a device of the catalogue is offered: one rule for pages and tables.

That a quantization is made for a model at all is said by `Quant.suits`.
"""

from collections.abc import Iterable
from typing import Final

from desktop.estimate.targets import efficiency_of
from desktop.records.estimate import Configuration, Efficiency, Target
from desktop.records.model import Quant

_BF16: Final = "bf16"


def target_with(quant: Quant, targets: Iterable[Target]) -> tuple[Target, Efficiency] | None:
    """The first of a device's `targets` that runs the quantization, and what it reaches with it."""
    for target in targets:
        efficiency = efficiency_of(target, quant)
        if efficiency is not None:
            return target, efficiency
    return None


def computes(quant: Quant, configuration: Configuration) -> bool:
    """Whether the device computes in what is stored: bf16 needs it, other types are unpacked."""
    return configuration.bf16 or quant.family != _BF16
