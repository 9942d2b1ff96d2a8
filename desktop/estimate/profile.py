"""A profile: the tables that estimates are made from, and how bytes are counted with them.

There are two, and both go through the same ranking and the same law of speed. `gram` is ours.
`page` has the constants of an existing network's estimator (page 003 of docs/seed-parity.md), so
that its figures can be reproduced and compared.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from desktop.estimate.held_back import HeldBack
from desktop.records.estimate import Configuration, MemoryNeed, Target, Tier, Use
from desktop.records.model import Model, Quant, Weights


class ProfileId(StrEnum):
    """Which constants and rules."""

    GRAM = "gram"
    PAGE = "page"


class Side(StrEnum):
    """What sort of memory a configuration has."""

    CARD = "card"
    """Its own, beside the system's."""
    SHARED = "shared"
    """The system's, for what lies on the device and for what stays on the host."""
    HOST = "host"
    """The system's, of a processor without a card."""


def side_of(configuration: Configuration) -> Side:
    """From the device's class: those of processors begin with `cpu-`."""
    if configuration.device_class.startswith("cpu-"):
        return Side.HOST
    return Side.SHARED if configuration.shared_memory else Side.CARD


class Counting(Protocol):
    """How a profile counts bytes."""

    def model(self, model: Model) -> Model:
        """The model with its figures as the profile takes them."""

    def weights(self, model: Model, quant: Quant) -> Weights:
        """The bytes of the weights, by use where they are known so."""

    def need(self, model: Model, weights: Weights, use: Use, side: Side) -> MemoryNeed:
        """What the configuration's memory must hold, without the back end's own overhead.

        Raises:
            GramError: the model's cache cannot be counted.
        """

    def layer_cache(self, model: Model, use: Use) -> tuple[int, ...]:
        """Bytes of the cache that memory must hold, of each layer.

        Raises:
            GramError: the model's cache cannot be counted.
        """

    def runs(self, quant: Quant, configuration: Configuration) -> bool:
        """Whether the device computes in what the quantization stores."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The tables of one profile, and its way of counting."""

    id: ProfileId
    quants: tuple[Quant, ...]
    """As in their table: those of equal rank keep this order."""
    configurations: tuple[Configuration, ...]
    targets: tuple[Target, ...]
    """Of each class of devices the preferred back end first."""
    tier: Tier
    """Of all its estimates: they rest on tables, not on a machine."""
    counting: Counting
    ceiling_with_cache: bool
    """Whether the ceiling that is shown counts the cache besides the weights."""
    memory_unit_bytes: int
    """10⁹ or 2³⁰: in what memory is told."""
    held_back: HeldBack | None = None
    """What of a card's memory nobody may count on; None: the devices' figures are taken as told."""
    start_qualities: tuple[str, ...] | None = None
    """Of the quantizations that count for where to start; None: any."""

    @property
    def ranked_quants(self) -> tuple[Quant, ...]:
        """The best quality first."""
        return tuple(sorted(self.quants, key=lambda quant: -quant.rank))
