"""A rehearsal: the speed of a build that is not here, measured on a file of its shapes.

Never a result: there is no statement of it, so it can be neither signed nor uploaded.
"""

from dataclasses import dataclass

from desktop.records.run import Note


@dataclass(frozen=True, slots=True)
class RehearsalRequest:
    """One press of the button."""

    build: str
    """`MODEL:QUANT`, `llama-3.2-1b-instruct:Q4_K_M`: ids of the catalogue, exact."""
    threads: int | None = None
    """None: the number of physical cores."""
    gpu_layers: int = -1
    wait: bool = False
    """Wait while another measurement runs instead of failing with `busy`."""
    tokens: int = 128
    """Generated in each repetition; fewer only in tests."""


@dataclass(frozen=True, slots=True)
class RehearsedDepth:
    """One file that was measured."""

    layers: int
    active_bytes: int
    """Weights that a token reads of it."""
    token_s: tuple[float, ...]
    """Of a generated token, each timed repetition's."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What was measured, and what follows for the whole build."""

    model: str
    quant: str
    layers: int
    """Of the whole model."""
    active_bytes: int
    """Of the whole model: weights that a token reads."""
    depths: tuple[RehearsedDepth, ...]
    low_tok_s: float
    """Generated tokens a second (tg128): 95 of 100 real builds of these shapes lie between low and
    high."""
    middle_tok_s: float
    high_tok_s: float
    engine: str
    engine_version: str
    backend: str
    threads: int
    at: str
    """RFC 3339, UTC."""
    notes: tuple[Note, ...] = ()
    """What the machine was like meanwhile, where it makes figures worse: as runs say it."""
