"""From a build that was found to one that is known: by its bytes, not by what its keeper says."""

from desktop.builds.describe import describe
from desktop.builds.hashes import Hashes, Progress
from desktop.builds.header import shown_name
from desktop.errors import BuildError
from desktop.records.build import LocalBuild
from desktop.records.on_disk import FoundBuild


def identified(found: FoundBuild, hashes: Hashes, progress: Progress | None = None) -> LocalBuild:
    """Read the header and hash the file, unless its hash is remembered.

    It has the keeper's name for it only where the keeper's checksum is right, else its file's name:
    what is signed must not rest on a folder's name.

    Raises:
        BuildError: `on_disk_claim_wrong` where it is not what its keeper says; `build_split` of a
            split set; or as `describe`.
    """
    path = found.files[0]
    if len(found.files) > 1:
        raise BuildError("build_split", name=shown_name(path), count=len(found.files))
    build = describe(
        path,
        name=found.name if found.claimed_sha256 else None,
        progress=progress,
        hashes=hashes,
    )
    if found.claimed_sha256 not in {None, build.sha256}:
        raise BuildError("on_disk_claim_wrong", program=found.places[0].program, name=found.name)
    return LocalBuild(build, path)
