"""Which build of a repository is meant: by its quantization, by its file, or by none of them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from desktop.builds.grouping import group
from desktop.builds.names import BuildName
from desktop.builds.quant_labels import distance, is_tag_of
from desktop.builds.split_names import whole_path
from desktop.errors import BuildError
from desktop.records.remote import Listing, RemoteBuild

MAIN: Final = "main"
if TYPE_CHECKING:
    # requests: not for who chooses among what is known already
    from desktop.builds.repository import Hub

_MOST_TOLD: Final = 40


def listing(hub: "Hub", name: BuildName) -> Listing:
    """All builds of the repository that `name` names, at one commit.

    Raises:
        BuildError: see `hub_answers.ask`.
    """
    facts = hub.facts(name)
    at = replace(name, owner=facts.owner, repo=facts.repo, revision=facts.commit or name.revision)
    renamed = facts.name.casefold() != name.repository.casefold()
    return replace(
        group(facts, hub.files(at)),
        revision=None if name.revision == MAIN else name.revision,
        asked_as=name.repository if renamed else None,
    )


def choose(found: Listing, name: BuildName) -> RemoteBuild:
    """The build that `name` means.

    Without quantization and file it is Q4_K_M, or what is nearest to it.

    Raises:
        BuildError: `hub_no_builds`, `hub_no_tag`, `hub_several`; both name what there is.
    """
    check_builds(found)
    shown = found.repository.name
    if name.file is not None:
        return _one(found.builds, _of_file(found.builds, name.file), shown, name.file)
    if name.quantization is not None:
        meant = _of_tag(found.builds, name.quantization)
        return _one(found.builds, meant, shown, name.quantization)
    best = min(found.builds, key=lambda b: distance(b.quantization, b.size_bytes))
    same = [b for b in found.builds if b.quantization == best.quantization]
    return _one(found.builds, same, shown, best.quantization or "GGUF")


def check_builds(found: Listing) -> None:
    """Refuse a repository that holds no build.

    Raises:
        BuildError: `hub_no_builds`.
    """
    if not found.builds:
        raise BuildError("hub_no_builds", name=found.repository.name, detail=_why_none(found))


def tags(builds: Iterable[RemoteBuild]) -> str:
    """What stands behind the colon of the builds' names, for sentences."""
    told = [build.name.partition(":")[2] for build in builds]
    more = len(told) - _MOST_TOLD
    return ", ".join(told[:_MOST_TOLD]) + (f" … (and {more} more)" if more > 0 else "")


def _of_file(builds: Iterable[RemoteBuild], file: str) -> list[RemoteBuild]:
    """By the whole path, else by the file's own name; capitals do not count."""
    wanted = file.casefold()
    exact = [b for b in builds if any(f.path == file for f in b.files)]
    whole = [b for b in builds if any(f.path.casefold() == wanted for f in b.files)]
    named = [
        b for b in builds if any(f.path.rpartition("/")[2].casefold() == wanted for f in b.files)
    ]
    return exact or whole or named


def _of_tag(builds: Iterable[RemoteBuild], tag: str) -> list[RemoteBuild]:
    builds = tuple(builds)
    labelled = [b for b in builds if (b.quantization or "").casefold() == tag.casefold()]
    return labelled or [
        b for b in builds if is_tag_of(tag, b.quantization, whole_path(b.files[0].path))
    ]


def _one(
    builds: Iterable[RemoteBuild], meant: list[RemoteBuild], shown: str, tag: str
) -> RemoteBuild:
    if not meant:
        raise BuildError("hub_no_tag", name=shown, tag=tag, tags=tags(builds))
    if len(meant) > 1:
        raise BuildError("hub_several", name=shown, tag=tag, tags=tags(meant))
    return meant[0]


def _why_none(found: Listing) -> str:
    if found.incomplete:
        return "parts of its split files are missing"
    return "no GGUF file in it is a model" if found.beside else "there is no GGUF file in it"
