"""The words of a search for builds: looked for in models' names and in those of repositories."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Self

from desktop.records.offers import OfferedBuild
from desktop.services.asked import quant_of
from desktop.services.fits_words import labels_and_names, names_of
from desktop.services.profiles import models

_JOINT: Final = re.compile(r"(?<=[a-z])(?=\d)")


@dataclass(frozen=True, slots=True)
class Words:
    """What was asked for, in small letters."""

    labels: frozenset[str]
    """Ids of quantizations."""
    names: tuple[str, ...]
    """All other words."""

    @classmethod
    def of(cls, words: Iterable[str]) -> Self:
        """Read what a person wrote.

        A word that no model has is taken as the catalogue writes it, where that is one of its
        names: Ollama's users write `llama3.2:1b` for `llama-3.2-1b`.
        """
        labels, names = labels_and_names(words)
        known = [names_of(model) for model in models()]
        return cls(labels, tuple(_as_known(name, known) for name in names))

    @property
    def all(self) -> tuple[str, ...]:
        """To be asked of the catalogue."""
        return (*sorted(self.labels), *self.names)

    def mean(self, build: OfferedBuild, models: Collection[str]) -> bool:
        """Whether a build of a repository that is known is asked for besides those of `models`.

        Args:
            build: as its repository listed it.
            models: ids of those whose names have the words.
        """
        quant = quant_of(build.quantization)
        if self.labels and (quant is None or quant.id not in self.labels):
            return False
        if build.model in models:
            return build.added and bool(self.names)
        paths = (file.path for file in build.files)
        told = " ".join((build.repository, build.name, *paths)).casefold()
        return bool(self.names) and all(name in told for name in self.names)


def _as_known(name: str, known: Iterable[str]) -> str:
    apart = _JOINT.sub("-", name)
    found = tuple(word for word in (name, apart) if any(word in told for told in known))
    return found[0] if found else name
