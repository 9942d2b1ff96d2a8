"""From a build that was found to one that is known: by its bytes, not by what its keeper says."""

from dataclasses import replace
from typing import Final

from desktop.builds.describe import describe
from desktop.builds.hashes import Hashes, Progress
from desktop.builds.header import shown_name
from desktop.errors import BuildError
from desktop.records.build import LocalBuild
from desktop.records.on_disk import FoundBuild

_MOST_CHARACTERS: Final = 200
"""Of a name that is signed."""


def identified(found: FoundBuild, hashes: Hashes, progress: Progress | None = None) -> LocalBuild:
    """Read the header and hash the file, unless its hash is remembered.

    It has a keeper's name for it only where that keeper's checksum is right, else its file's name:
    what is signed must not rest on a folder's name.

    Raises:
        BuildError: `on_disk_claim_wrong` where it is not what any keeper says; `build_split` of a
            split set; or as `describe`.
    """
    path = found.files[0]
    if len(found.files) > 1:
        raise BuildError("build_split", name=shown_name(path), count=len(found.files))
    build = describe(path, progress=progress, hashes=hashes)
    claims = [place for place in found.places if place.claimed_sha256]
    right = [place for place in claims if place.claimed_sha256 == build.sha256]
    if claims and not right:
        raise BuildError("on_disk_claim_wrong", program=claims[0].program, name=claims[0].name)
    names = [p.name for p in right if p.name.isprintable() and len(p.name) <= _MOST_CHARACTERS]
    return LocalBuild(replace(build, name=names[0]) if names else build, path)
