"""What repositories listed when they were asked last, and those that the person added.

Kept as the API tells it, so that one strict reader reads both: a file that somebody changed can say
no more than a hub could. Of a repository its main branch is remembered, and no other revision:
names without one mean it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from desktop.builds.grouping import group
from desktop.builds.hub_fields import read_facts, read_files
from desktop.builds.names import is_repository
from desktop.builds.own_list import OwnList
from desktop.clock import is_utc_text, utc_text
from desktop.errors import BuildError, Reason
from desktop.records.remote import Listing, RemoteFile

LIST: Final = "repositories.json"
MOST_LISTINGS: Final = 500
"""Those that were asked longest ago go first; what the person added stays."""
MOST_BYTES: Final = 4 << 20
"""Of all of them as text: the list is read whole, and a usual one has 10 KB."""
_MOST_FILES: Final = 2000
"""Of one repository: a listing with more is not kept."""
_MOST_OF_ONE_BYTES: Final = 256 << 10
"""Likewise, as text: so that no repository takes the place of all others."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """One repository as it was."""

    listing: Listing
    listed_at: str
    """RFC 3339, UTC."""
    added: bool
    """By the person; it stays until they remove it."""

    @property
    def names(self) -> frozenset[str]:
        """What it is called, `owner/repo` in small letters: also the name by which it was asked."""
        told = (self.listing.repository.name, self.listing.asked_as)
        return frozenset(name.casefold() for name in told if name)


class Listings:
    """The list of one profile. Safe from any thread and process."""

    def __init__(self, data: Path) -> None:
        self._list = OwnList(data / LIST, "repositories", "the list of repositories")

    def read(self) -> tuple[dict[str, Remembered], Reason | None]:
        """By `owner/repo` in small letters, and why there are none where it cannot be used."""
        table, told = self._list.read()
        found = {}
        for row in table.values():
            one = _remembered(row)
            if one is not None:
                found[key_of(one.listing)] = one
        return found, told

    def of(self, repository: str) -> Remembered | None:
        """What is remembered of `owner/repo`, by any of its names."""
        return named(self.read()[0], repository)

    def keep(self, listing: Listing, now: datetime, *, added: bool = False) -> Remembered:
        """Remember what a repository listed; one that was added stays added, under a new name too.

        What another revision than the main branch listed is given back, and not remembered.

        Raises:
            BuildError: `listing_large`; `listings_full` of what the person added; `library_write`.
        """
        key, moment, asked_as = key_of(listing), utc_text(now), listing.asked_as
        if listing.revision is not None:
            return Remembered(listing, moment, added=False)
        kept = {"listed_at": moment, "added": added, "asked_as": asked_as, **_written(listing)}
        files = len(kept["files"])
        if files > _MOST_FILES or _size(kept) > _MOST_OF_ONE_BYTES:
            raise BuildError("listing_large", name=listing.repository.name, files=files)

        def changed(rows: Mapping[str, Any]) -> Mapping[str, Any]:
            gone = {key, (asked_as or key).casefold()}
            before = [row for name, row in rows.items() if name in gone and isinstance(row, dict)]
            kept["added"] = added or any(map(_is_added, before))
            kept["asked_as"] = asked_as or next((row.get("asked_as") for row in before), None)
            rest = {name: row for name, row in rows.items() if name not in gone}
            left = _lasting({**rest, key: kept})
            if key not in left or (kept["added"] and _is_full(left)):
                raise BuildError("listings_full", name=listing.repository.name)
            return left

        self._list.change(changed)
        return Remembered(listing, moment, bool(kept["added"]))

    def forget(self, repository: str) -> bool:
        """Remove one, `owner/repo`, by any of its names; whether it was there.

        Raises:
            BuildError: `library_write`.
        """
        one = self.of(repository)
        key = repository.casefold() if one is None else key_of(one.listing)
        there = key in self._list.read()[0]
        if there:
            self._list.change(lambda rows: {k: v for k, v in rows.items() if k != key})
        return there


def named(found: Mapping[str, Remembered], repository: str) -> Remembered | None:
    """The one of those by key that is called `owner/repo`, or was when it was asked."""
    key = repository.casefold()
    return found.get(key) or next((one for one in found.values() if key in one.names), None)


def key_of(listing: Listing) -> str:
    """A repository's name, with which it is found whatever the capitals."""
    return listing.repository.name.casefold()


def _lasting(rows: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the person added, and of the others the newest that there is room for."""
    lasting = {key: row for key, row in rows.items() if _is_added(row)}
    room = MOST_BYTES - sum(map(_size, lasting.values()))
    others = (key for key in rows if key not in lasting)
    for key in sorted(others, key=lambda key: _listed_at(rows[key]), reverse=True):
        room -= _size(rows[key])
        if room < 0 or len(lasting) >= MOST_LISTINGS:
            break
        lasting[key] = rows[key]
    return lasting


def _is_full(rows: Mapping[str, Any]) -> bool:
    return len(rows) > MOST_LISTINGS or sum(map(_size, rows.values())) > MOST_BYTES


def _is_added(row: object) -> bool:
    return isinstance(row, dict) and row.get("added") is True


def _listed_at(row: object) -> str:
    return str(row.get("listed_at", "")) if isinstance(row, dict) else ""


def _size(row: object) -> int:
    return len(json.dumps(row))


def _written(listing: Listing) -> dict[str, Any]:
    facts = listing.repository
    told: dict[str, Any] = {
        "id": facts.name,
        "sha": facts.commit,
        "gated": "auto" if facts.gated else False,
        "private": facts.private,
        "cardData": {"license": facts.license, "base_model": list(facts.base_models)},
        "gguf": {"architecture": facts.architecture, "context_length": facts.context_trained},
        "downloads": facts.downloads,
    }
    files = (file for build in listing.builds for file in build.files)
    return {"model": told, "files": [_file(file) for file in files]}


def _file(file: RemoteFile) -> dict[str, Any]:
    lfs = None if file.sha256 is None else {"oid": file.sha256, "size": file.size_bytes}
    return {"type": "file", "path": file.path, "size": file.size_bytes, "lfs": lfs}


def _remembered(row: object) -> Remembered | None:
    """None: it is not as Gram writes it."""
    moment = row.get("listed_at") if isinstance(row, dict) else None
    if not isinstance(row, dict) or not is_utc_text(moment):
        return None
    try:
        listing = group(read_facts(row.get("model")), read_files(row.get("files")))
    except ValueError:
        return None
    asked_as = row.get("asked_as")
    if isinstance(asked_as, str) and is_repository(asked_as):
        listing = replace(listing, asked_as=asked_as)
    return Remembered(listing, moment, row.get("added") is True)
