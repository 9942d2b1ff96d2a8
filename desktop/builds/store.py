"""Which builds are here: any file by its path, those that Gram keeps, and other programs'."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from desktop.builds.calling import alike, meant, several
from desktop.builds.hashes import Hashes, Progress, hashes_in
from desktop.builds.header import shown_name
from desktop.builds.names import BuildName, is_written_as_a_path, no_name, parse_name
from desktop.builds.on_disk.here import is_file
from desktop.builds.on_disk.identify import identified
from desktop.builds.own_builds import found_at, own_builds, unfinished
from desktop.builds.public_names import PublicNames
from desktop.builds.reference import reference, stored_reference
from desktop.errors import BuildError, Reason
from desktop.paths import Paths
from desktop.records.build import LocalBuild
from desktop.records.library import Kept
from desktop.records.on_disk import FoundBuild
from desktop.records.request import REFERENCE
from desktop.rules.shell_words import gram_command

_MOST_TOLD: Final = 200
"""Letters of what was written, in an error."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a name means, before a byte of it was read."""

    copies: tuple[FoundBuild, ...]
    """The build, and behind it those that are copies of it if their bytes are the same."""
    as_it_is: bool = False
    """It was named by its path: whatever the file holds is meant."""

    @property
    def path(self) -> Path:
        """Its file; of a split set the part that was named, else the first."""
        return self.copies[0].places[0].path


def find_build(
    text: str, paths: Paths, hashes: Hashes, progress: Progress | None = None
) -> LocalBuild:
    """The build that `text` means among files on the disk and what Gram keeps.

    `services.named_builds` finds other programs' too.

    Raises:
        BuildError: as `locate` and `build_of`.
    """
    return build_of(locate(text, paths), paths, hashes, progress)


def locate(text: str, paths: Paths, elsewhere: Callable[[], Iterable[FoundBuild]] = tuple) -> Named:
    """What `text` means: a path, `reference`, or a build's name as in `calling.meant`.

    A file on the disk comes before a name, Gram's own before other programs'; of Gram's own only
    what is whole. Nothing is hashed, no header is read. `reference` means only a kept copy of the
    real one; `obtain_reference` also fetches or makes it.

    Args:
        text: as the person wrote it.
        paths: whose builds.
        elsewhere: looks for what other programs keep; only called where nothing else is meant.

    Raises:
        BuildError: `build_not_found`, `build_not_here` for a name on Hugging Face, `build_no_name`
            for what can be neither; `build_several`; `build_unfinished`, `build_damaged` of
            Gram's own.
    """
    if text == REFERENCE:
        return Named((found_at(stored_reference(paths), paths),))
    wanted = parse_name(text)
    as_path = Path(text).expanduser() if isinstance(wanted, BuildName) else wanted
    if is_file(as_path):
        return Named((found_at(as_path, paths),), as_it_is=True)
    begun = dict(unfinished(paths))
    folders = {found.files[0].parent for found in begun}
    found = meant(text, (own for own in own_builds(paths) if own.files[0].parent not in folders))
    if not found and not is_written_as_a_path(text):
        found = meant(text, elsewhere())
    if found:
        return Named(alike(found, _shown(wanted)))
    _refuse_unfinished(text, begun)
    if text.strip() and _exists(as_path):  # a folder, a pipe: whoever reads it says so
        return Named((found_at(as_path, paths),), as_it_is=True)
    raise _nothing(text, wanted)


def build_of(
    named: Named, paths: Paths, hashes: Hashes, progress: Progress | None = None
) -> LocalBuild:
    """Read and hash what a name means, unless its hash is remembered.

    Of copies each is hashed; one that cannot be used stands in nobody's way.

    Raises:
        BuildError: as `identified`; `build_several` where copies turn out to be none.
    """
    public = PublicNames(paths.data)
    good: list[tuple[FoundBuild, LocalBuild]] = []
    failed: list[BuildError] = []
    for found in named.copies:
        try:
            local = _identified(found, public, hashes, progress, as_it_is=named.as_it_is)
            good.append((found, local))
        except BuildError as e:
            failed.append(e)
    if not good:
        raise failed[0]
    if len({local.build.sha256 for _, local in good}) > 1:
        known = [replace(found, sha256=local.build.sha256) for found, local in good]
        raise several(known, known[0].name)
    return good[0][1]


def list_builds(
    paths: Paths,
    hashes: Hashes | None = None,
    *,
    on_skip: Callable[[str, Reason], None] | None = None,
) -> tuple[LocalBuild, ...]:
    """The builds that Gram keeps, by name. Files hashed before are not read again.

    A damaged file is left out; `on_skip` gets its name and the reason.
    """
    memory, public = hashes or hashes_in(paths), PublicNames(paths.data)
    builds = []
    for found in own_builds(paths):
        try:
            builds.append(_identified(found, public, memory))
        except BuildError as e:
            if on_skip is not None:
                on_skip(shown_name(found.files[0]), e.reason)
    return tuple(sorted(builds, key=lambda b: b.build.name.casefold()))


def _identified(
    found: FoundBuild,
    public: PublicNames,
    hashes: Hashes,
    progress: Progress | None = None,
    *,
    as_it_is: bool = False,
) -> LocalBuild:
    local = identified(found, hashes, progress, public=public.allows, as_it_is=as_it_is)
    if local.build.sha256 == reference().sha256:
        return replace(local, build=replace(local.build, name=str(reference().name)))
    return local


def _refuse_unfinished(text: str, begun: Mapping[FoundBuild, Kept]) -> None:
    for found in meant(text, begun):
        code = "build_damaged" if begun[found] is Kept.DAMAGED else "build_unfinished"
        raise BuildError(code, name=found.name, command=gram_command("builds get", found.name))


def _nothing(text: str, wanted: BuildName | Path) -> BuildError:
    """The error for what is not here, with all of what was written; of a path its last step."""
    if isinstance(wanted, BuildName):
        as_told = wanted.file is not None and "/" in text and ":" not in text
        name = text.strip() if as_told else str(wanted)
        return BuildError("build_not_here", name=name, command=gram_command("builds get", name))
    if not text.strip() or "://" in text:
        return no_name(text)
    shown = shown_name(wanted) if is_written_as_a_path(text) else text[:_MOST_TOLD]
    return BuildError("build_not_found", name=shown)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long, or a NUL in it
        return False


def _shown(wanted: BuildName | Path) -> str:
    return str(wanted) if isinstance(wanted, BuildName) else shown_name(wanted)
