"""Which names of builds may be signed: those that tell of nobody's own machines and repositories.

What is signed is for everybody to read and stays. A folder of a private repository looks like one
of a public repository, and a manifest may be of a company's own registry.
"""

import re
from functools import cached_property
from pathlib import Path
from typing import Final

from desktop.builds.listings import Listings, Remembered, named
from desktop.builds.names import hosted
from desktop.builds.on_disk.ollama import PROGRAM as OLLAMA
from desktop.builds.shipped import shipped_sums
from desktop.builds.split_sets import known_sum
from desktop.records.offers import GRAM
from desktop.records.on_disk import FoundPlace

_MOST_CHARACTERS: Final = 200
_OLLAMA_USER: Final = re.compile(r"[\w.-]+/[\w.-]+:[\w.-]+", re.ASCII)
"""`user/model:tag` of Ollama's own registry; names of other registries begin with their host."""


class PublicNames:
    """What is known of repositories in one profile, read where it is needed first."""

    def __init__(self, data: Path) -> None:
        self._data = data

    def allows(self, place: FoundPlace, sha256: str) -> bool:
        """Whether the name of a place of the build of that sum may be signed.

        A name without folders may, as any file's: it is the person's or Ollama's library's. Gram's
        own may where the repository is everybody's to see; a name on the hub that another program
        has, where the hub lists, or is shipped to list, a build of that sum there.
        """
        name = place.name
        if not name.isprintable() or len(name) > _MOST_CHARACTERS or place.private:
            return False
        if place.program == GRAM or not set(name) & set("/\\"):
            return True
        if place.program == OLLAMA and _OLLAMA_USER.fullmatch(name):
            return True
        known = hosted(name)
        return known is not None and self._lists(known.repository, sha256)

    def _lists(self, repository: str, sha256: str) -> bool:
        if sha256 in shipped_sums(repository):
            return True
        found = named(self._remembered, repository)
        if found is None or found.listing.repository.private is not False:
            return False
        return any(
            known_sum([file.sha256 for file in build.files]) == sha256
            for build in found.listing.builds
        )

    @cached_property
    def _remembered(self) -> dict[str, Remembered]:
        return Listings(self._data).read()[0]
