"""Builds that other programs keep on this machine. Paths never leave the machine."""

from dataclasses import dataclass
from pathlib import Path

from desktop.errors import Reason


@dataclass(frozen=True, slots=True)
class FoundFile:
    """One GGUF file where a program keeps it, as that program's own records tell of it."""

    program: str
    """The keeper's name as its maker writes it: `Ollama`, `LM Studio`."""
    name: str
    """What the program's users call the build: `llama3.2:1b`, `hf.co/owner/repo:Q4_K_M`."""
    path: Path
    """Where the program looks for it; may be a link."""
    size_bytes: int
    claimed_sha256: str | None = None
    """What the program says that it is. Not verified: it identifies nothing."""
    quantization: str | None = None
    """As its header tells, `Q4_K_M`; None: it does not."""


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """One place at which a build was reached."""

    program: str
    name: str
    path: Path
    """Of a split set, its first file."""
    claimed_sha256: str | None = None
    """As of the file; of a split set from what is said of all its files, as `split_sets.sum_of`."""
    private: bool = False
    """Gram's own, of a repository that not everybody sees: its name is shown here only."""


@dataclass(frozen=True, slots=True)
class FoundBuild:
    """A build on the disk that Gram did not put there, once, however often it was reached."""

    places: tuple[FoundPlace, ...]
    """At least one; the first tells the name that is shown."""
    files: tuple[Path, ...]
    """Of the first place: one, or all parts of a split set in their order."""
    size_bytes: int
    """Of all its files together."""
    sha256: str | None = None
    """Measured here, of a split set as `split_sets.sum_of`. None: not hashed yet."""
    first_sha256: str | None = None
    """Measured here, of its first file, by which Gram calls its own. None: not hashed yet."""
    quantization: str | None = None
    """As the header of its first file tells, `Q4_K_M`; None: it does not, or was not read."""

    @property
    def name(self) -> str:
        """What the first program's users call it."""
        return self.places[0].name

    @property
    def claimed_sha256(self) -> str | None:
        """What the first program that says so says it is; shown until it is hashed, not trusted."""
        return next((p.claimed_sha256 for p in self.places if p.claimed_sha256), None)


@dataclass(frozen=True, slots=True)
class OnDisk:
    """What a search found."""

    builds: tuple[FoundBuild, ...] = ()
    """By name."""
    told: tuple[Reason, ...] = ()
    """What could not be used or was not looked at, and why."""
