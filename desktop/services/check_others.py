"""Builds that other programs keep, read again: their bytes against what is said they should be.

What a program says of its own files comes first, then what the build's repository listed when it
was asked last, or as shipped. Nothing of them is changed.
"""

from collections.abc import Iterator

from desktop.builds.hashes import Progress, hashes_in, sha256_of
from desktop.builds.header import shown_name
from desktop.builds.library_care import quiet
from desktop.builds.library_entry import unreadable
from desktop.builds.names import BuildName, parse_name
from desktop.builds.split_sets import sum_of
from desktop.errors import Reason
from desktop.paths import Paths
from desktop.records.build_events import BuildChecked
from desktop.records.library import Checked
from desktop.records.offers import OfferedBuild
from desktop.records.on_disk import FoundBuild, FoundPlace
from desktop.services.offers import Catalogue, sum_of_offer


def check_others(paths: Paths, found: FoundBuild, progress: Progress | None = None) -> BuildChecked:
    """Read another program's build from end to end, and compare it.

    Raises:
        BuildError: `library_measuring`, `library_write`.
        GramError: as `offers.Catalogue`.
        Whatever `progress` raises, to stop.
    """
    with quiet(paths, found.name):
        told = _wrong(paths, found, progress)
    return BuildChecked(found.name, Checked(None, told))


def _wrong(paths: Paths, found: FoundBuild, progress: Progress | None) -> Reason | None:
    """What is wrong with it, or why nobody can tell."""
    hashes, sums = hashes_in(paths), []
    for file in found.files:
        try:
            sums.append(sha256_of(file, progress))
        except OSError as e:
            return unreadable(shown_name(file), e)
        hashes.note(file, sums[-1])
    sha256 = sum_of(sums)
    claims = [place for place in found.places if place.claimed_sha256]
    if claims:
        right = any(place.claimed_sha256 == sha256 for place in claims)
        said = {"program": claims[0].program, "name": found.name}
        return None if right else Reason("on_disk_claim_wrong", said)
    catalogue = Catalogue(paths)
    listed = {build.name: build for place in found.places for build in _listed(catalogue, place)}
    if not listed:
        programs = ", ".join(dict.fromkeys(place.program for place in found.places))
        nobody = {"name": found.name, "programs": programs, "sha256": sha256}
        return Reason("verify_no_sum", nobody)
    if any(sum_of_offer(build) == sha256 for build in listed.values()):
        return None
    first = next(iter(listed.values()))
    return Reason("verify_other", {"name": found.name, "repository": first.repository})


def _listed(catalogue: Catalogue, place: FoundPlace) -> Iterator[OfferedBuild]:
    """The build of that name, with its sums, as its repository listed it."""
    name = parse_name(place.name)
    if not isinstance(name, BuildName):
        return
    file = place.path.name.casefold()
    for build in catalogue.of_repository(name.repository):
        if sum_of_offer(build) is None:
            continue
        named, own = parse_name(build.name), build.files[0].path.rpartition("/")[2]
        same = isinstance(named, BuildName) and named.same_build(name)
        if same or own.casefold() == file:
            yield build
