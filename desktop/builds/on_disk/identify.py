"""From a build that was found to one that is known: by its bytes, not by what its keeper says."""

from collections.abc import Callable
from dataclasses import replace

from desktop.builds.describe import local_build
from desktop.builds.hashes import Hashes, Progress
from desktop.errors import BuildError
from desktop.records.build import LocalBuild
from desktop.records.offers import GRAM
from desktop.records.on_disk import FoundBuild, FoundPlace


def identified(
    found: FoundBuild,
    hashes: Hashes,
    progress: Progress | None = None,
    *,
    public: Callable[[FoundPlace, str], bool],
    as_it_is: bool = False,
) -> LocalBuild:
    """Read the headers of its files and hash them, unless their hashes are remembered.

    It has a keeper's name for it only where that keeper's checksum is right and the name may be
    signed, else its file's name: what is signed must not rest on a folder's name, and tells of
    nobody's own repositories.

    Args:
        found: what was found.
        hashes: the memory of hashes.
        progress: of hashing.
        public: whether a place's name may be signed for a build of that sum, see `public_names`.
        as_it_is: it may be something else than its keepers say.

    Raises:
        BuildError: `on_disk_claim_wrong`, `build_changed` of one of Gram's own, where it is not
            what any keeper says; or as `local_build`.
    """
    local = local_build(found.places[0].path, progress=progress, hashes=hashes)
    claims = [place for place in found.places if place.claimed_sha256]
    right = [place for place in claims if place.claimed_sha256 == local.build.sha256]
    if claims and not right and not as_it_is:
        raise _wrong(claims[0])
    names = [place.name for place in right if public(place, local.build.sha256)]
    return replace(local, build=replace(local.build, name=names[0])) if names else local


def _wrong(place: FoundPlace) -> BuildError:
    if place.program == GRAM:
        return BuildError("build_changed", name=place.name)
    return BuildError("on_disk_claim_wrong", program=place.program, name=place.name)
