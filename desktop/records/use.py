"""What has to be known of a build and of this machine to run the build with another program."""

from dataclasses import dataclass
from pathlib import PurePath

from desktop.records.on_disk import FoundPlace


@dataclass(frozen=True, slots=True)
class UseSettings:
    """How to run a build here, as Gram measures it: KV cache in F16, flash attention by choice."""

    context: int
    """Tokens that the cache has room for."""
    threads: int
    gpu_layers: int | None = None
    """Layers on the cards, the output counted as one; None: all."""
    layers: int | None = None
    """That the model has, without the output; None: not known."""
    experts_on_host: int | None = None
    """Of mixtures: of how many layers the experts stay in the system's memory; None: of none."""
    devices: tuple[str, ...] = ()
    """Cards by the engine's names, `CUDA0`; empty: all that the program finds."""
    n_batch: int = 2048
    n_ubatch: int = 512
    cards: bool = True
    """Whether cards may compute. Without a layer on them they still do, where prompts are long."""


@dataclass(frozen=True, slots=True)
class UseFacts:
    """A build on this machine's disk and how to run it. Paths never leave the machine."""

    name: str
    """As its users call it."""
    files: tuple[PurePath, ...]
    """Whole paths: one, or the parts of a split set in their order."""
    size_bytes: int
    """Of all files."""
    system: str
    """As `sys.platform` has it: `linux`, `darwin`, `win32`."""
    settings: UseSettings
    repository: str | None = None
    """Of the hub, `owner/repo`; None: it has none, or nobody knows."""
    quantization: str | None = None
    """By which the repository's users name this build and no other, `Q4_K_M`; None: they name its
    file, or nobody knows."""
    places: tuple[FoundPlace, ...] = ()
    """Where programs keep it already, and under which names."""
    digits: str = ""
    """Hexadecimal, of its sum: they tell it from another build whose short name is the same."""

    def kept_by(self, program: str) -> FoundPlace | None:
        """The program's own place of it; None: that program does not keep it."""
        return next((place for place in self.places if place.program == program), None)
