"""Which builds are here: any file by its path, and those that Gram keeps."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from desktop.builds.describe import describe
from desktop.builds.hashes import Hashes, Progress, hashes_in
from desktop.builds.header import shown_name
from desktop.builds.names import BuildName, parse_name
from desktop.builds.reference import reference, stored_reference
from desktop.errors import BuildError, Reason
from desktop.paths import Paths
from desktop.records.build import LocalBuild
from desktop.records.request import REFERENCE


def find_build(
    text: str, paths: Paths, hashes: Hashes, progress: Progress | None = None
) -> LocalBuild:
    """The build that `text` means: a path, `reference`, or the name of one that Gram keeps.

    A file on the disk comes before a name. `reference` finds only a kept copy of the real one;
    `obtain_reference` also fetches or makes it.

    Raises:
        BuildError: `build_not_found`, or why the file cannot be used.
    """
    return _described(locate(text, paths), hashes, progress)


def locate(text: str, paths: Paths) -> Path:
    """The file that `text` means, as for `find_build`, without reading it.

    Raises:
        BuildError: `build_not_found`.
    """
    if text == REFERENCE:
        return stored_reference(paths)
    wanted = parse_name(text)
    as_path = Path(text).expanduser() if isinstance(wanted, BuildName) else wanted
    if _exists(as_path):
        return as_path
    for path in _kept(paths):
        if _means(wanted, path):
            return path
    raise BuildError("build_not_found", name=_shown(wanted))


def list_builds(
    paths: Paths,
    hashes: Hashes | None = None,
    *,
    on_skip: Callable[[str, Reason], None] | None = None,
) -> tuple[LocalBuild, ...]:
    """The builds that Gram keeps, by name. Files hashed before are not read again.

    A damaged file is left out; `on_skip` gets its name and the reason.
    """
    memory = hashes or hashes_in(paths)
    found = []
    for path in _kept(paths):
        try:
            found.append(_described(path, memory, None))
        except BuildError as e:
            if on_skip is not None:
                on_skip(shown_name(path), e.reason)
    return tuple(sorted(found, key=lambda b: b.build.name.casefold()))


def _described(path: Path, hashes: Hashes, progress: Progress | None) -> LocalBuild:
    build = describe(path, progress=progress, hashes=hashes)
    if build.sha256 == reference().sha256:
        build = replace(build, name=str(reference().name))
    return LocalBuild(build, path)


def _kept(paths: Paths) -> Iterator[Path]:
    """GGUF files at `builds/<sha256>/<file>`, and those a person put into `builds/`."""
    for pattern in ("*.gguf", "*/*.gguf"):
        for path in sorted(paths.builds.glob(pattern)):
            if path.is_file() and not path.name.startswith("."):
                yield path


def _means(wanted: BuildName | Path, path: Path) -> bool:
    facts = reference()
    if isinstance(wanted, BuildName):
        return path.parent.name == facts.sha256 and wanted.same_build(facts.name)
    return str(wanted).casefold() in {path.name.casefold(), path.stem.casefold()}


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long, or a NUL in it
        return False


def _shown(wanted: BuildName | Path) -> str:
    return str(wanted) if isinstance(wanted, BuildName) else shown_name(wanted)
