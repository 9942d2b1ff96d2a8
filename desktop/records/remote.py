"""Builds that are not here yet: what Hugging Face, or a mirror of it, tells of them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file of a repository."""

    path: str
    """Inside the repository, folders with forward slashes."""
    size_bytes: int
    sha256: str | None
    """64 lower-case hexadecimal digits; None: the repository tells none."""


@dataclass(frozen=True, slots=True)
class RepositoryFacts:
    """What a repository declares of itself."""

    owner: str
    repo: str
    commit: str | None
    """40 hexadecimal digits."""
    license: str | None
    """As declared, `apache-2.0`."""
    gated: bool
    """Its files are given only to who agreed to terms."""
    base_models: tuple[str, ...] = ()
    """`owner/repo` of what it was made from."""
    tags: tuple[str, ...] = ()
    architecture: str | None = None
    """As one of its GGUF files says; so is the context."""
    context_trained: int | None = None
    """Tokens."""
    downloads: int | None = None
    """In the last 30 days."""
    private: bool | None = None
    """Only those see it whom its owner lets; None: not told."""

    @property
    def name(self) -> str:
        """`owner/repo`."""
        return f"{self.owner}/{self.repo}"


@dataclass(frozen=True, slots=True)
class RemoteBuild:
    """One build of a repository: a GGUF file or a split set."""

    name: str
    """As users write it, `hf.co/owner/repo:Q4_K_M`, or with the file where that is not enough."""
    repository: RepositoryFacts
    quantization: str | None
    """By the files' names, `Q4_K_M` or `UD-Q4_K_XL`; None: they do not tell."""
    files: tuple[RemoteFile, ...]
    """In the order of the parts."""

    @property
    def size_bytes(self) -> int:
        """Of all files."""
        return sum(file.size_bytes for file in self.files)

    @property
    def packager(self) -> str:
        """Who put it there."""
        return self.repository.owner


@dataclass(frozen=True, slots=True)
class Listing:
    """The GGUF files of a repository at one commit."""

    repository: RepositoryFacts
    builds: tuple[RemoteBuild, ...]
    """Smallest first."""
    beside: tuple[RemoteFile, ...] = ()
    """What goes with builds and is none: projectors, importance matrices, draft heads."""
    incomplete: tuple[str, ...] = ()
    """Split sets that lack parts, by their first part's path."""
    revision: str | None = None
    """The branch or commit that was asked for; None: the main branch, which alone is remembered."""
    asked_as: str | None = None
    """`owner/repo` by which it was asked, where it has another name by now."""
