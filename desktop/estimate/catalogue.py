"""The catalogue's models, quantizations and configurations: read whole, found by exact keys.

A key is an id or another whole name, in letters of either case. A part of a name finds nothing: a
wrong device or model is worse than none (public case A08). Near keys are suggested, never taken.
"""

import difflib
import re
from collections.abc import Iterable
from typing import Final, Protocol, TypeVar

from desktop.estimate import device_row, quant_row
from desktop.estimate.device_row import configurations_of_row, with_unique_aliases
from desktop.estimate.model_row import model_of_row
from desktop.estimate.quant_row import quant_of_row
from desktop.records.estimate import Configuration
from desktop.records.model import Model, Quant
from desktop.rules.catalogue import RESOURCE
from desktop.rules.table_rows import numbered_rows, read_lines, read_table

MODELS: Final = "catalogue/models.jsonl"
QUANTS: Final = "catalogue/quants.csv"
DEVICES: Final = RESOURCE
MAX_SUGGESTIONS: Final = 5
_WORD: Final = re.compile(r"[^\W_]+")
_LEAST_LETTERS: Final = 2
"""Of a key whose words are looked for: one letter is in most names."""
_MAX_KEY: Final = 200
"""Characters of a key that are looked at."""


class Keyed(Protocol):
    """What is found by its id."""

    @property
    def id(self) -> str:
        """The key."""


_K = TypeVar("_K", bound=Keyed)


def read_models(text: str) -> tuple[Model, ...]:
    """The models of a table as `resources/catalogue/models.jsonl`, in its order.

    Raises:
        GramError: `resource_damaged`, naming line and field, when a figure is missing or absurd, or
            an id stands twice.
    """
    lines = ((i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip())
    return read_lines(MODELS, lines, lambda line: (model_of_row(line),), key=lambda m: m.id)


def read_quants(text: str, resource: str = QUANTS) -> tuple[Quant, ...]:
    """The quantizations of a table as `resources/catalogue/quants.csv`, in its order.

    Raises:
        GramError: `resource_damaged`, as `read_models`.
    """
    return read_table(
        resource, text, quant_row.COLUMNS, lambda row: (quant_of_row(row),), key=lambda q: q.id
    )


def read_configurations(text: str) -> tuple[Configuration, ...]:
    """What the devices of `resources/catalogue/devices.csv` are sold as, in its order.

    A chip that shares the system's memory is one configuration for each size that it is sold with.

    Raises:
        GramError: `resource_damaged`, as `read_models`.
    """
    found = read_table(DEVICES, text, device_row.COLUMNS, configurations_of_row, key=lambda c: c.id)
    return with_unique_aliases(found)


def configurations_by_row(text: str) -> tuple[tuple[Configuration, ...], ...]:
    """As `read_configurations`, those of each row together and with all their aliases.

    Raises:
        GramError: `resource_damaged`, as `read_models`.
    """
    rows = numbered_rows(DEVICES, text, device_row.COLUMNS)
    return read_lines(DEVICES, rows, lambda row: (tuple(configurations_of_row(row)),))


def find(key: str, entries: Iterable[_K]) -> _K | None:
    """The entry of that id or other whole name; None when no entry, or more than one, has it."""
    wanted, entries = _plain(key), tuple(entries)
    by_id = [e for e in entries if wanted == _plain(e.id)]
    found = by_id or [e for e in entries if wanted in map(_plain, _names(e))]
    return found[0] if len(found) == 1 else None


def suggestions(key: str, entries: Iterable[Keyed]) -> tuple[str, ...]:
    """Ids near to `key`, best first, for people to choose.

    Names that begin with it go before those that have all its words, the shortest first, and these
    before names that are spelt alike.
    """
    entries = tuple(entries)
    found = (*_holding(key, entries), *_alike(key, entries))
    return tuple(dict.fromkeys(found))[:MAX_SUGGESTIONS]


def _holding(key: str, entries: Iterable[Keyed]) -> list[str]:
    """Ids of those with a name that begins with `key`, then of those that have all its words."""
    wanted, words = _letters(key), _WORD.findall(key[:_MAX_KEY].casefold())
    if len(wanted) < _LEAST_LETTERS:
        return []
    ranked = []
    for entry in entries:
        names = [_letters(name) for name in (entry.id, *_names(entry))]
        if any(name.startswith(wanted) for name in names):
            ranked.append((0, len(entry.id), entry.id))
        elif any(all(word in name for word in words) for name in names):
            ranked.append((1, len(entry.id), entry.id))
    return [found for _, _, found in sorted(ranked)]


def _letters(name: str) -> str:
    """Letters and digits alone: people write `rtx3090` for `RTX 3090`."""
    return "".join(_WORD.findall(name[:_MAX_KEY].casefold()))


def _alike(key: str, entries: Iterable[Keyed]) -> tuple[str, ...]:
    """Ids whose spelling, or whose name's, is near to `key`, best first."""
    ids = {_plain(name): e.id for e in entries for name in (*_names(e), e.id)}
    near = difflib.get_close_matches(_plain(key), ids, n=4 * MAX_SUGGESTIONS, cutoff=0.5)
    return tuple(ids[name] for name in near)


def _names(entry: Keyed) -> tuple[str, ...]:
    """Its other whole names; a quantization has a label instead."""
    if isinstance(entry, Quant):
        return (entry.label,)
    return (getattr(entry, "name", entry.id), *getattr(entry, "aliases", ()))


def _plain(name: str) -> str:
    return " ".join(name[:_MAX_KEY].casefold().split())
