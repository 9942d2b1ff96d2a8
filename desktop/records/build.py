"""A build: one file (or split set) of a model."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Build:
    """What identifies a build to everybody. Never holds a path."""

    name: str
    """As users write it, `hf.co/owner/repo:Q4_K_M`, else the file's own name without folders."""
    sha256: str
    """Of its file; of a split set, over the SHA-256 of each file in their order (32 bytes each)."""
    size_bytes: int
    """Of all its files; so are the parameters."""
    architecture: str
    model_name: str | None
    quantization: str | None
    parameters: int
    context_trained: int | None
    synthetic: bool = False
    files: int = 1
    """Of which it consists; more than one: a split set."""


@dataclass(frozen=True, slots=True)
class LocalBuild:
    """A build on this machine's disk. The path never leaves the machine."""

    build: Build
    path: Path
    """Its file; of a split set the first, by which the engine loads it."""
    later_parts: tuple[Path, ...] = ()
    identities: tuple[str, ...] = field(default=(), compare=False)
    """Of its files as they were hashed, see `builds.memory`; empty: nobody looked."""

    @property
    def files(self) -> tuple[Path, ...]:
        """All of them, in their order."""
        return (self.path, *self.later_parts)


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """One tensor of a GGUF file."""

    name: str
    shape: tuple[int, ...]
    """Fastest-varying dimension first, as GGUF stores it."""
    type: str
    """ggml's name of the type, `Q4_1`."""
    offset_bytes: int
    """From the start of the data section."""
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Header:
    """What a GGUF file declares about itself."""

    version: int
    metadata: dict[str, object] = field(repr=False)
    tensors: tuple[TensorInfo, ...] = field(repr=False)
    data_offset_bytes: int = 0

    @property
    def architecture(self) -> str:
        """`general.architecture`; the reader has checked that it is there."""
        return str(self.metadata["general.architecture"])

    def integer(self, key: str) -> int | None:
        """An integer of the architecture, `integer("block_count")`; None when it is not there."""
        value = self.metadata.get(f"{self.architecture}.{key}")
        return value if isinstance(value, int) and not isinstance(value, bool) else None
