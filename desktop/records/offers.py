"""Builds that can be had, and builds that are on this machine, whoever keeps them."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from desktop.errors import Reason
from desktop.records.fits import FitRow
from desktop.records.library import Kept
from desktop.records.remote import RemoteFile

GRAM = "Gram"
"""The keeper's name of what lies in Gram's own folder."""


@dataclass(frozen=True, slots=True)
class OfferedBuild:
    """One build that can be had, as shipped with Gram or as its repository listed it."""

    name: str
    """As users write it, `hf.co/owner/repo:Q4_K_M`."""
    repository: str
    """`owner/repo`."""
    quantization: str | None
    """By the files' names; None: they do not tell."""
    model: str | None = None
    """The id in the catalogue of models; None: it is of none of them."""
    size_bytes: int | None = None
    """Of all its files; None until the repository is asked."""
    sha256: str | None = None
    """Of the first file; None until the repository is asked."""
    files: tuple[RemoteFile, ...] = ()
    """In the order of the parts; empty until the repository is asked."""
    context_trained: int | None = None
    """Tokens."""
    license: str | None = None
    """As declared, `apache-2.0`."""
    gated: bool | None = None
    """Its files are given only to who agreed to terms; None: not known."""
    listed_at: str | None = None
    """RFC 3339, UTC: when the repository was asked; None: as shipped."""
    added: bool = False
    """The person added its repository."""

    @property
    def packager(self) -> str:
        """Who put it there."""
        return self.repository.partition("/")[0]


@dataclass(frozen=True, slots=True)
class HeldBuild:
    """A build on this machine's disk. Paths never leave the machine."""

    name: str
    """As its first keeper's users call it."""
    sha256: str | None
    """Of the first file; None: another program's, and not hashed yet."""
    files: tuple[Path, ...]
    """One, or the parts of a split set in their order."""
    size_bytes: int
    keepers: tuple[str, ...]
    """Names of programs, `Ollama`; `GRAM` first where it is in Gram's own folder."""
    kept: Kept = Kept.WHOLE
    ours: bool = False
    """Gram fetched or made it, so Gram may remove it."""
    pinned: bool = False
    freed_bytes: int = 0
    """What its removal would free; 0 where it is not Gram's."""
    used_at: str | None = None
    """RFC 3339, UTC: when Gram last measured it, else when it came; None: not known."""
    quantization: str | None = None
    """By the header of its first file, else by its name; None: neither tells."""
    whole_bytes: int | None = None
    """Of one of Gram's own: of all its files once they are there; None: not known."""
    also: tuple[str, ...] = ()
    """What else it is called by who keeps it: one file may have many names."""
    build_sha256: str | None = None
    """Of all its files, as `split_sets.sum_of`; Gram's own as noted. None: not all are hashed."""


class Place(StrEnum):
    """Where a build that can be had is already."""

    HERE = "here"
    """In Gram's own folder, whole."""
    ELSEWHERE = "elsewhere"
    """Another program keeps it: it is used in place."""
    PARTLY = "partly"
    """An unfinished download: it goes on where it was."""
    NOT_HERE = "not_here"


@dataclass(frozen=True, slots=True)
class BuildOffer:
    """A build that can be had, with what is known of it on this machine."""

    build: OfferedBuild
    fit: FitRow | None
    """Where it fits and how fast it would run, estimated; None: its model is not in the catalogue,
    so it is known once its header was read."""
    held: HeldBuild | None = None
    """Where it is on this machine already."""

    @property
    def place(self) -> Place:
        """Where it is already."""
        if self.held is None:
            return Place.NOT_HERE
        if self.held.kept is not Kept.WHOLE:
            return Place.PARTLY
        return Place.HERE if GRAM in self.held.keepers else Place.ELSEWHERE


@dataclass(frozen=True, slots=True)
class Shelf:
    """All builds on this machine, and what Gram's own take of the disk."""

    held: tuple[HeldBuild, ...] = ()
    """By name."""
    kept_bytes: int = 0
    """Of Gram's own."""
    budget_bytes: int | None = None
    """What Gram's own may take; None: the disk cannot be asked."""
    free_bytes: int | None = None
    """On the drive of Gram's own."""
    told: tuple[Reason, ...] = ()
    """What could not be read or was not looked at, and why."""


@dataclass(frozen=True, slots=True)
class Offers:
    """Builds that can be had, what fits best first."""

    offers: tuple[BuildOffer, ...] = ()
    found: tuple[str, ...] = ()
    """Repositories with GGUF files that a search on the hub found besides, `owner/repo`."""
    online: bool = False
    """The hub was asked; else it is what is known from before."""
    told: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """One build to download."""

    name: str
    """As users write it: `hf.co/owner/repo:Q4_K_M`, `owner/repo`, an address."""
    anyway: bool = False
    """Also where it would not run here."""
    metered: bool = False
    """Also over a connection that is paid by what it carries."""
    make_room: bool = False
    """Remove Gram's least recently used builds where there is no room otherwise."""
    limit_bytes_s: float | None = None
    """Of all connections together; None: by the settings."""


class FetchState(StrEnum):
    """Where a download is now."""

    WAITING = "waiting"
    """Another one comes first."""
    ASKING = "asking"
    """The hub is asked what it is."""
    LOOKING = "looking"
    """What is on the disk is looked through, and hashed where it may be the same."""
    FETCHING = "fetching"
    SILENT = "silent"
    """Nothing came for some seconds: the server is asked again."""
    PAUSED = "paused"
    CHECKING = "checking"
    """All bytes are here; or a build that is here is read again."""


@dataclass(frozen=True, slots=True)
class FetchStep:
    """How far a download or a check is."""

    name: str
    """As it was asked for."""
    state: FetchState
    done_bytes: int = 0
    total_bytes: int | None = None
    """None: not known yet."""
    rate_bytes_s: float | None = None
    """Of the last seconds; None: none came."""
    time_left_s: float | None = None
    told: Reason | None = None
    """Something that the person should know while it goes on."""


@dataclass(frozen=True, slots=True)
class UseWay:
    """How to run a build with one program."""

    program: str
    """`llama-server`, `Ollama`, `LM Studio`."""
    command: str
    """To paste into a shell; empty where the program takes no command."""
    steps: tuple[Reason, ...] = ()
    """What to know and what to set by hand: one sentence each."""
    file: str = ""
    """What to put into a file that the command names (a Modelfile); empty: none."""


@dataclass(frozen=True, slots=True)
class BuildUse:
    """How to run a build best on this machine."""

    name: str
    ways: tuple[UseWay, ...]
    told: tuple[Reason, ...] = ()
    """On what the settings rest, and what is not known."""
