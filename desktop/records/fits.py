"""What fits on this machine, and how fast it would run."""

from dataclasses import dataclass
from enum import StrEnum

from desktop.errors import Reason
from desktop.records.estimate import Estimate
from desktop.records.machine import Device
from desktop.records.model import Model, Quant


class Fit(StrEnum):
    """Where a build fits."""

    ON_CARD = "on_card"
    """All that the cards compute lies on them."""
    WITH_OFFLOAD = "with_offload"
    """A part of it stays in the system's memory, for the processor."""
    IN_MEMORY = "in_memory"
    """In the system's memory, for the processor alone: there is no card."""
    NOWHERE = "nowhere"


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
    """By this machine's own newest run of such a build: a measurement."""


@dataclass(frozen=True, slots=True)
class FitsRequest:
    """What is asked."""

    context: int = 4096
    """Tokens that the cache has room for."""
    depth: int = 1024
    """Tokens in the cache while one is generated; less where the context is shorter."""
    words: tuple[str, ...] = ()
    """All of them must be in a build's names; a quantization's label chooses it."""
    all_builds: bool = False
    """Every quantization, and what does not fit, with its reason."""
    at_least_tok_s: float = 10.0
    """Of each model the best quality whose whole range is above it; else the fastest."""
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
    """Models that fit nowhere and are not shown."""
