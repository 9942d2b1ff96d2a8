"""The reference build: what is measured when nobody names a build."""

import logging
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final, Protocol

from desktop import resources
from desktop.builds.describe import local_build
from desktop.builds.hashes import Hashes, Progress, hashes_in
from desktop.builds.header import data_end, read_header, shown_name
from desktop.builds.library_files import lying
from desktop.builds.library_index import LIST, LibraryIndex
from desktop.builds.names import HUB, BuildName
from desktop.builds.on_disk.here import is_file
from desktop.errors import BuildError, Reason
from desktop.paths import Paths
from desktop.records.build import LocalBuild
from desktop.records.on_disk import FoundBuild

log = logging.getLogger(__name__)
FILE_VARIABLE: Final = "GRAM_REFERENCE_FILE"
ENDPOINT_VARIABLE: Final = "HF_ENDPOINT"
SYNTHETIC_SHA256: Final = "fb4d6ddd0dbca3b8ba15563c1f6afdffc9e795ea94975e13ca87804a9f29087d"
SYNTHETIC_FILE: Final = "Synthetic-SmolLM2-135M-Q4_1.gguf"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file to download: where it is and what it must be."""

    url: str
    name: str
    """For people; no folders."""
    size_bytes: int
    sha256: str


class Fetch(Protocol):
    """Brings a wanted file to `target`, whole and checked, or raises BuildError."""

    def __call__(self, wanted: Wanted, target: Path, progress: Progress) -> None:
        """Download; `progress` is called with (bytes done, bytes in all)."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The facts of resources/reference.toml."""

    name: BuildName
    stored_as: str
    size_bytes: int
    sha256: str

    def wanted(self, endpoint: str) -> Wanted:
        """What to download from the hub at `endpoint`."""
        url = self.name.url(endpoint) or ""
        return Wanted(url, self.stored_as, self.size_bytes, self.sha256)


@cache
def reference() -> Reference:
    """The reference build's facts, as shipped."""
    facts = tomllib.loads(resources.text("reference.toml"))
    name = BuildName(
        facts["owner"], facts["repo"], facts["quantization"], facts["file"], facts["revision"]
    )
    return Reference(name, facts["stored_as"], facts["size_bytes"], facts["sha256"])


def stored_reference(paths: Paths) -> Path:
    """Where the reference build lies, whatever it is called there; else where it is to be put."""
    return next(iter(_lying(paths)), _place(paths))


def stored_synthetic(paths: Paths) -> Path:
    """Where the synthetic build that stands in for it is kept."""
    return paths.builds / SYNTHETIC_SHA256 / SYNTHETIC_FILE


def obtain_reference(
    paths: Paths,
    *,
    environment: Mapping[str, str],
    progress: Progress,
    fetch: Fetch | None,
    here: Callable[[], Iterable[FoundBuild]] = tuple,
) -> tuple[LocalBuild, Reason | None]:
    """Get the reference build: named by `GRAM_REFERENCE_FILE`, kept, here, downloaded, synthetic.

    Args:
        paths: the profile.
        environment: `GRAM_REFERENCE_FILE`; `HF_ENDPOINT`.
        progress: of hashing and downloading.
        fetch: None to stay off the network.
        here: what lies on this machine besides; only asked where Gram keeps none, and hashed only
            what has its size.

    Returns:
        The build, and why it is not what was asked for: `reference_wrong` (or why the named file
        could not be read) when another copy of the real build is used, `using_synthetic` when a
        synthetic one stands in.

    Raises:
        BuildError: `build_write` when not even the synthetic build could be written.
        Whatever `progress` raises, to stop.
    """
    hashes = hashes_in(paths)
    reason: Reason | None = None
    try:
        named = _from_environment(environment, hashes, progress)
        if named is not None:
            return named, None
    except BuildError as e:
        reason = e.reason
    try:
        endpoint = environment.get(ENDPOINT_VARIABLE) or HUB
        found = _kept(paths, hashes, progress, here)
        return found or _fetched(paths, endpoint, hashes, progress, fetch), reason
    except BuildError as e:
        why = Reason("using_synthetic", {"detail": (reason or e.reason).text()})
    return _synthetic(paths, hashes, progress), why


def _from_environment(
    environment: Mapping[str, str], hashes: Hashes, progress: Progress
) -> LocalBuild | None:
    named = environment.get(FILE_VARIABLE)
    return _checked(Path(named), hashes, progress) if named else None


def _kept(
    paths: Paths, hashes: Hashes, progress: Progress, here: Callable[[], Iterable[FoundBuild]]
) -> LocalBuild | None:
    """Gram's own, else another file of the same bytes, whoever keeps it."""
    for path in chain(_lying(paths), _of_its_size(here)):
        if is_file(path):
            try:
                return _checked(path, hashes, progress)
            except BuildError as e:  # our own copy went bad, or it is another build
                log.info("not the reference build: %s", e)
    return None


def _of_its_size(here: Callable[[], Iterable[FoundBuild]]) -> Iterator[Path]:
    size_bytes = reference().size_bytes
    yield from (found.files[0] for found in here() if found.size_bytes == size_bytes)


def _fetched(
    paths: Paths, endpoint: str, hashes: Hashes, progress: Progress, fetch: Fetch | None
) -> LocalBuild:
    target = _place(paths)
    if fetch is None:
        raise BuildError("download_failed", name=target.name, detail="downloads are off")
    fetch(reference().wanted(endpoint), target, progress)
    return _checked(target, hashes, progress)


def _place(paths: Paths) -> Path:
    """Where Gram puts it: under the name that the library has for it, if it was fetched by name."""
    facts = reference()
    row = LibraryIndex(paths.data / LIST).read()[0].get(facts.sha256)
    return paths.builds / facts.sha256 / (next(iter(row.files)) if row else facts.stored_as)


def _lying(paths: Paths) -> tuple[Path, ...]:
    """What lies in its folder, Gram's own first: a file of these bytes is it, under any name."""
    place = _place(paths)
    try:
        there = lying(place.parent, ()).whole
    except OSError:
        return ()
    return tuple(sorted(there, key=lambda path: path != place))


def _checked(path: Path, hashes: Hashes, progress: Progress) -> LocalBuild:
    """The build at `path` if it is the reference build; the cheap test comes first.

    Raises:
        BuildError: `reference_wrong`, or why it cannot be read.
    """
    facts = reference()
    if data_end(read_header(path)) != facts.size_bytes:
        raise BuildError("reference_wrong", name=shown_name(path))
    local = local_build(path, name=str(facts.name), progress=progress, hashes=hashes)
    if local.build.sha256 != facts.sha256:
        raise BuildError("reference_wrong", name=shown_name(path))
    return local


def _synthetic(paths: Paths, hashes: Hashes, progress: Progress) -> LocalBuild:
    path = stored_synthetic(paths)
    if path.is_file():
        try:
            local = local_build(path, synthetic=True, progress=progress, hashes=hashes)
            if local.build.sha256 == SYNTHETIC_SHA256:
                return local
        except BuildError:  # damaged: make it again
            pass
    # numpy and gguf: not for who only asks which build is the reference
    from desktop.builds.synthetic import SMOLLM2_135M, make_synthetic  # noqa: PLC0415

    make_synthetic(path, SMOLLM2_135M, progress)
    return local_build(path, synthetic=True, progress=progress, hashes=hashes)
