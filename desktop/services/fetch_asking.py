"""Which build of the hub a name means, and which answers of the hub are none."""

import logging
from dataclasses import replace
from typing import Final

from desktop.builds.choosing import choose, listing
from desktop.builds.listings import Listings
from desktop.builds.names import BuildName
from desktop.builds.repository import Hub
from desktop.clock import utc_now
from desktop.errors import BuildError
from desktop.records.remote import Listing, RemoteBuild

log = logging.getLogger(__name__)
NO_ANSWER: Final = frozenset({"hub_unreachable", "hub_busy", "proxy_unusable", "proxy_socks"})
"""The hub said nothing of what was asked, or could not be asked at all."""
NOT_TO_BE_HAD: Final = NO_ANSWER | {
    "hub_answer",
    "hub_no_builds",
    "hub_no_sum",
    "hub_no_tag",
    "hub_page",
    "hub_revision",
    "hub_unknown",
    "download_failed",
    "download_gated",
    "download_gone",
}
"""The hub does not know it, or does not give it."""


def find_build(hub: Hub, name: BuildName, listings: Listings) -> RemoteBuild:
    """As the hub lists it; without a connection as it listed it last.

    Raises:
        BuildError: see `choosing.listing` and `choosing.choose`.
    """
    try:
        listed = listing(hub, name)
    except BuildError as e:
        remembered = listings.of(name.repository)
        # what is remembered is of the main branch
        if e.code not in NO_ANSWER or remembered is None or name.revision:
            raise
        return choose(remembered.listing, name)
    if name.revision:
        return of_revision(choose(listed, name), name.revision)
    remember(listings, listed)
    return choose(listed, name)


def remember(listings: Listings, listed: Listing) -> None:
    """Keep what a repository listed, where that is possible: it is asked again otherwise."""
    try:
        listings.keep(listed, utc_now())
    except BuildError as e:
        log.warning("a listing is not kept: %s", e)


def of_revision(build: RemoteBuild, revision: str) -> RemoteBuild:
    """With a name that says which version it is: the short one means the main branch."""
    facts = build.repository
    name = BuildName(facts.owner, facts.repo, file=build.files[0].path, revision=revision)
    return replace(build, name=str(name))


def files_of(build: RemoteBuild) -> dict[str, str]:
    """Path in the repository to sha256, the one that is loaded first."""
    return {file.path: file.sha256 or "" for file in build.files}


def key_of(build: RemoteBuild) -> str:
    """The sha256 of the first file, by which a build of Gram's own is known.

    Raises:
        BuildError: `hub_no_sum`.
    """
    sha256 = build.files[0].sha256
    if sha256 is None:
        raise BuildError("hub_no_sum", name=build.name)
    return sha256
