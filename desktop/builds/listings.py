"""What repositories listed when they were asked last, and those that the person added.

Kept as the API tells it, so that one strict reader reads both: a file that somebody changed can say
no more than a hub could.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from desktop.builds.grouping import group
from desktop.builds.hub_fields import read_facts, read_files
from desktop.builds.own_list import OwnList
from desktop.clock import is_utc_text, utc_text
from desktop.errors import Reason
from desktop.records.remote import Listing, RemoteFile

LIST: Final = "repositories.json"
MOST_LISTINGS: Final = 500
"""Those that were asked longest ago go first; what the person added stays."""
_MOST_FILES: Final = 2000
"""Of one repository: a listing with more is not kept."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """One repository as it was."""

    listing: Listing
    listed_at: str
    """RFC 3339, UTC."""
    added: bool
    """By the person; it stays until they remove it."""


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

    def keep(self, listing: Listing, now: datetime, *, added: bool = False) -> Remembered:
        """Remember what a repository listed; one that was added stays added.

        Raises:
            BuildError: `library_write`.
        """
        key, moment = key_of(listing), utc_text(now)
        kept = {"listed_at": moment, "added": added, **_written(listing)}

        def changed(rows: Mapping[str, Any]) -> Mapping[str, Any]:
            before = rows.get(key)
            stays = isinstance(before, dict) and before.get("added") is True
            kept["added"] = added or stays
            if len(kept["files"]) > _MOST_FILES:
                return rows
            return _newest({**rows, key: kept})

        self._list.change(changed)
        return Remembered(listing, moment, bool(kept["added"]))

    def forget(self, repository: str) -> bool:
        """Remove one, `owner/repo`; whether it was there.

        Raises:
            BuildError: `library_write`.
        """
        key = repository.casefold()
        there = key in self._list.read()[0]
        if there:
            self._list.change(lambda rows: {k: v for k, v in rows.items() if k != key})
        return there


def key_of(listing: Listing) -> str:
    """A repository's name, with which it is found whatever the capitals."""
    return listing.repository.name.casefold()


def _newest(rows: Mapping[str, Any]) -> Mapping[str, Any]:
    def lasting(row: Any) -> tuple[bool, str]:
        told = row if isinstance(row, dict) else {}
        return told.get("added") is True, str(told.get("listed_at", ""))

    order = sorted(rows, key=lambda key: lasting(rows[key]), reverse=True)
    return {key: rows[key] for key in order[:MOST_LISTINGS]}


def _written(listing: Listing) -> dict[str, Any]:
    facts = listing.repository
    told: dict[str, Any] = {
        "id": facts.name,
        "sha": facts.commit,
        "gated": "auto" if facts.gated else False,
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
    return Remembered(listing, moment, row.get("added") is True)
