"""What a person asks of a measurement, and what the doors list."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from desktop.records.run import PP512, TG128, Note, SpeedTest


class Signing(StrEnum):
    """Which key signs the result."""

    KEYCHAIN = "keychain"
    KEY_FILE = "key_file"
    KEYCHAIN_OR_FILE = "keychain_or_file"
    """The keychain, or the default key file when there is no keychain (servers)."""
    UNSIGNED = "unsigned"


REFERENCE = "reference"
"""The name that asks for the reference build."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One press of the button."""

    build: str = REFERENCE
    """A path, a build's name, or `REFERENCE`."""
    called: str | None = None
    """With a path: what its keeper's users call it; None: by its file's name."""
    signing: Signing = Signing.KEYCHAIN
    key_file: Path | None = None
    threads: int | None = None
    """None: the number of physical cores."""
    gpu_layers: int = -1
    devices: tuple[str, ...] = ()
    """The cards to use, by the engine's names; empty leaves the choice to the engine."""
    repetitions: int | None = None
    """Exactly so many timed repetitions a test; None: until the spread is reached."""
    tests: tuple[SpeedTest, ...] = (PP512, TG128)
    wait: bool = False
    """Wait while another measurement runs instead of failing with `busy`."""


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One past result as the doors list it."""

    id: str
    key_id: str
    at: str
    """RFC 3339, UTC."""
    build: str
    synthetic: bool
    engine: str
    prompt_tok_s: float | None
    prompt_spread: float | None
    generation_tok_s: float | None
    generation_spread: float | None
    energy_per_token_j: float | None
    """Per generated token."""
    energy_source: str | None
    """`sensor` or `modelled`, with the meter's name: `modelled (CPU load)`."""
    prompt_marks: tuple[Note, ...] = ()
    """Why to read the rate with care: `SPREAD`, `FEW`."""
    generation_marks: tuple[Note, ...] = ()
    notes: tuple[Note, ...] = ()
    """Why to read all of it with care."""


@dataclass(frozen=True, slots=True)
class Curves:
    """The live graph's data: x in seconds since the run began. Pulled by a timer."""

    generation: tuple[tuple[float, float], ...] = ()
    """(s, tok/s) of decode steps of one token."""
    prompt: tuple[tuple[float, float], ...] = ()
    """(s, tok/s) of prompt batches."""
    power: tuple[tuple[float, float], ...] = ()
    """(s, W)."""
