"""What fits on this machine, and how fast it would run."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from desktop.errors import Reason
from desktop.records.estimate import Estimate
from desktop.records.machine import Device
from desktop.records.model import Model, Quant

USUAL_DEPTH: Final = 1024
"""Tokens before the one that is generated, where nobody asks for others."""


class Fit(StrEnum):
    """Where a build fits."""

    ON_CARD = "on_card"
    """All that the cards compute lies on them."""
    WITH_OFFLOAD = "with_offload"
    """A part of it stays in the system's memory, for the processor."""
    IN_MEMORY = "in_memory"
    """In the system's memory, for the processor alone: there is no card."""
    NOWHERE = "nowhere"
    """There is not memory enough."""
    RULED_OUT = "ruled_out"
    """Not run here whatever memory there is: the model is not trained for so long a context, or
    what it needs cannot be counted, or what memory there is is not known. The reason says which."""

    @property
    def runs(self) -> bool:
        """Whether such a build would run here."""
        return self not in {Fit.NOWHERE, Fit.RULED_OUT}


@dataclass(frozen=True, slots=True)
class FitRow:
    """One build on this machine."""

    model: Model
    quant: Quant
    fit: Fit
    estimate: Estimate
    """`estimate.need` is that of all devices together."""
    size_bytes: int
    """Of the file: its weights."""
    card_bytes: int | None = None
    """What it takes on the cards, the back end's own included; None where nothing lies there."""
    host_bytes: int = 0
    """What it takes of the system's memory."""
    gpu_layers: int | None = None
    """With offload: how many layers to put on the cards (`--gpu-layers`)."""
    experts_on_host: int | None = None
    """With offload, of mixtures: of how many layers the experts stay behind (`--n-cpu-moe`)."""
    middle_tok_s: float | None = None
    """The likeliest rate; None where only the range is known."""
    measured_tok_s: float | None = None
    """By this machine's own newest runs of such a build, their median: a measurement."""

    @property
    def runs(self) -> bool:
        """Whether it would run here; else its first reason says why not."""
        return self.fit.runs

    @property
    def is_beyond(self) -> bool:
        """Whether the model is not trained for so long a context."""
        return any(reason.code == "estimate_beyond_context" for reason in self.estimate.reasons)


@dataclass(frozen=True, slots=True)
class FitsRequest:
    """What is asked."""

    context: int = 4096
    """Tokens that the cache has room for."""
    depth: int = USUAL_DEPTH
    """Tokens in the cache while one is generated; less where the context is shorter."""
    words: tuple[str, ...] = ()
    """All of them must be in a model's names; a quantization's label chooses it."""
    model: str | None = None
    """The id of the one model that is asked for, whatever the words; None: those of the words."""
    all_builds: bool = False
    """Every quantization that is computed here, and what does not run, with its reason."""
    at_least_tok_s: float = 10.0
    """Of each model the best quality whose whole range is above it is proposed, if there is one."""
    every_model: bool = False
    """Each model has a row: one that fits nowhere, or is not trained for such a context, with the
    reason."""


@dataclass(frozen=True, slots=True)
class Fits:
    """The answer: best first."""

    request: FitsRequest
    kind: str
    """The kind of machine."""
    devices: tuple[Device, ...]
    """That would run it, by the engine's list."""
    threads: int
    on_card_bytes: int | None
    """The first answer about memory: on the cards that a run would use."""
    with_offload_bytes: int | None
    """The second: with the system's memory."""
    parts_at: str | None
    """When the parts were measured; None: not yet."""
    runs: int
    """Own runs that count."""
    told: tuple[Reason, ...]
    """What is said once of all rows."""
    rows: tuple[FitRow, ...]
    hidden: int = 0
    """Models that were asked for and have no row: they do not run here."""
    beyond: int = 0
    """Of them those that are not trained for so long a context; most others fit nowhere."""
    ruled_out: tuple[Reason, ...] = ()
    """Why quantizations that were asked for, or would be shown with all others, have no row, or
    none of some models."""
    limits: tuple[Reason, ...] = ()
    """How much of each memory a build may take, and of which nobody knows how large it is."""
    by_label: bool = False
    """Whether the quantizations are those that were named; else all, or one proposed a model."""
