"""Which of the builds that are here a person means: by name, by file, or by how a sum begins."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from desktop.builds.hashes import is_sha256
from desktop.builds.names import BuildName, parse_name
from desktop.builds.quant_labels import is_tag_of, label_of
from desktop.builds.split_names import whole_path
from desktop.builds.split_sets import beside
from desktop.errors import BuildError
from desktop.records.on_disk import FoundBuild, FoundPlace

_SUM: Final = re.compile(r"[0-9a-f]{8,64}")
_HOSTS: Final = re.compile(r"(?:hf\.co|huggingface\.co|registry\.ollama\.ai/library|library)/")
"""What stands before the names that their users write without it."""
_SNAPSHOT: Final = re.compile(r"/models--[^/]+/snapshots/[^/]+/(?P<file>.+)", re.DOTALL)
"""In the cache of Hugging Face's own library: behind the commit the repository's own folders."""
_NEWEST: Final = ":latest"
"""What Ollama adds to a name without a tag."""
_MOST_TOLD: Final = 8
_GB: Final = 1e9


def meant(text: str, builds: Iterable[FoundBuild]) -> tuple[FoundBuild, ...]:
    """The builds that `text` names, all by the best way in which it names any; nothing is read.

    First by the name itself, then as a name of a repository (`owner/repo`, its tag, its file), then
    by a file's name with or without its ending, then by the first hex digits of a sha256, at least
    eight. Capitals do not count. Of a build with several places, those that are called so come
    first: what is measured and shown is the one that was asked for.
    """
    builds = tuple(builds)
    told, name = text.strip().casefold(), parse_name(text)
    ways: tuple[Callable[[FoundPlace], bool], ...] = (
        lambda place: bool(_forms(told) & _forms(place.name.casefold())),
        lambda place: isinstance(name, BuildName) and _is_same(name, place),
        lambda place: isinstance(name, BuildName) and _is_of(name, place),
        lambda place: told in _file_names(place.path),
    )
    for way in ways:
        called = [_called(build, way) for build in builds if any(map(way, build.places))]
        if called:
            return tuple(called)
    return tuple(build for build in builds if told in _file_names(*build.files)) or tuple(
        build
        for build in builds
        if _SUM.fullmatch(told) and any(s.startswith(told) for s in _sums(build))
    )


def alike(found: tuple[FoundBuild, ...], name: str) -> tuple[FoundBuild, ...]:
    """Of builds that one name means the first, and all where only their bytes tell if it is one.

    Raises:
        BuildError: `build_several` where they are not all one build.
    """
    sums = {_sum(build) for build in found}
    if len({build.size_bytes for build in found}) > 1 or len(sums - {None}) > 1:
        raise several(found, name)
    return found if None in sums else found[:1]


def several(found: Iterable[FoundBuild], name: str) -> BuildError:
    """The error that tells between which builds a person has to choose."""
    told = [_told(build) for build in found]
    more = len(told) - _MOST_TOLD
    names = ", ".join(told[:_MOST_TOLD]) + (f" … (and {more} more)" if more > 0 else "")
    return BuildError("build_several", name=name, names=names)


def _forms(name: str) -> set[str]:
    """A name in small letters with and without what users leave out."""
    short = _HOSTS.sub("", name, count=1) if _HOSTS.match(name) else name
    return {name, short, name.removesuffix(_NEWEST), short.removesuffix(_NEWEST)}


def _is_same(wanted: BuildName, place: FoundPlace) -> bool:
    """Whether both names say the same, in whichever form: as an address too."""
    known = parse_name(place.name)
    return isinstance(known, BuildName) and wanted.same_build(known)


def _is_of(wanted: BuildName, place: FoundPlace) -> bool:
    """Whether a build that is called so is of the repository, and what `wanted` says of it."""
    known = parse_name(place.name)
    if (
        not isinstance(known, BuildName)
        or known.repository.casefold() != wanted.repository.casefold()
    ):
        return False
    if wanted.revision is not None or known.revision is not None:
        return False  # another one may have another file of that name
    if wanted.file is not None:
        return _is_file(wanted.file.casefold(), known, place)
    if wanted.quantization is None:
        return True
    whole = whole_path(known.file or place.path.name)
    return known.quantization is None and is_tag_of(wanted.quantization, label_of(whole), whole)


def _is_file(wanted: str, known: BuildName, place: FoundPlace) -> bool:
    """Whether a place holds the repository's file `wanted`: its folders tell builds apart.

    A file's name without folders means it in any, as where the repository is asked.
    """
    folders, _, name = wanted.rpartition("/")
    there = (known.file or _in_snapshot(place.path)).casefold()
    if there:
        return wanted == there or (not folders and name == there.rpartition("/")[2])
    if name != place.path.name.casefold():
        return False
    # the keeper tells its quantization and leaves the folders out
    whole = whole_path(wanted)
    return not folders or is_tag_of(known.quantization or "", label_of(whole), whole)


def _in_snapshot(path: Path) -> str:
    """The path inside the repository, where the hub's own cache keeps it; else nothing."""
    found = _SNAPSHOT.search(path.as_posix())
    return found["file"] if found else ""


def _called(build: FoundBuild, way: Callable[[FoundPlace], bool]) -> FoundBuild:
    """The build with the places first that are meant, and the files of the first of them."""
    places = tuple(sorted(build.places, key=lambda place: not way(place)))
    same = places[0].path == build.places[0].path
    files = build.files if same else beside(places[0].path)
    return replace(build, places=places, files=files)


def _file_names(*paths: Path) -> set[str]:
    """Of each file, and of a split set as a whole; with and without the ending."""
    names = {path.name.casefold() for path in paths}
    names |= {whole_path(name) for name in names}
    return names | {name.removesuffix(".gguf") for name in names}


def _sums(build: FoundBuild) -> set[str]:
    """What is known and what is said of it, and the name of its folder where that is one."""
    claims = {place.claimed_sha256 for place in build.places}
    told = {build.sha256, *claims, build.files[0].parent.name}
    return {value for value in told if is_sha256(value)}


def _sum(build: FoundBuild) -> str | None:
    return build.sha256 or build.claimed_sha256


def _told(build: FoundBuild) -> str:
    place, value = build.places[0], _sum(build)
    known = value[:12] if value else f"{build.size_bytes / _GB:.2f} GB"
    return f"{place.name} ({place.program}, {build.files[0].name}, {known})"
