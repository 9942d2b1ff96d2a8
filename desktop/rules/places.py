"""Which place a person means who names it in words: the code that the settings take."""

import difflib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from desktop.rules.carbon import CarbonTables

MOST: Final = 3
"""Places that are suggested at once."""
_CLOSE: Final = 0.8
"""Of difflib's ratio: one wrong letter in five, two in ten."""
_LEAST_LETTERS: Final = 3
"""Of a name that is not known whole: two are a code, and too many names begin with them."""
_AREAS: Final = frozenset({"WORLD", "EU"})
_US: Final = "US-"
# what people write beside the names and codes of the tables
_ALSO: Final[Mapping[str, str]] = {
    "uk": "GB",
    "great britain": "GB",
    "britain": "GB",
    "england": "GB",
    "scotland": "GB",
    "wales": "GB",
    "northern ireland": "GB",
    "usa": "US",
    "united states of america": "US",
    "america": "US",
    "holland": "NL",
    "the netherlands": "NL",
    "deutschland": "DE",
    "czech republic": "CZ",
    "uae": "AE",
    "emirates": "AE",
    "korea": "KR",
    "republic of korea": "KR",
    "russian federation": "RU",
    "viet nam": "VN",
    "ivory coast": "CI",
    "burma": "MM",
    "swaziland": "SZ",
    "cape verde": "CV",
    "turkey": "TR",
}


class MeantPlace(NamedTuple):
    """A place that may be meant: `DE`, `Germany`."""

    code: str
    name: str


def places_meant(said: str, tables: CarbonTables) -> tuple[MeantPlace, ...]:
    """The places, `MOST` at most, that `said` may mean; none where nothing is like it.

    A name that is written as in the tables means that place (Georgia is a country and a state), or
    one with more words to it (two are called Congo); else names that begin so are meant, else names
    that differ in a letter or two, the closest first.
    """
    names: dict[str, list[MeantPlace]] = {}
    for name, place in _names(tables):
        names.setdefault(name, []).append(place)
    wanted = _plain(said).removeprefix("us ").strip()
    meant = (place for name in _like(wanted, tuple(names)) for place in names[name])
    return tuple(dict.fromkeys(meant))[:MOST]


def _like(wanted: str, known: Sequence[str]) -> list[str]:
    """The names that may be meant, the likeliest first."""
    if wanted in known:
        return [wanted, *(name for name in known if name.startswith(f"{wanted} "))]
    if len(wanted) < _LEAST_LETTERS:
        return []
    begun = [name for name in known if name.startswith(wanted)]
    # difflib's are sorted: the closest first
    return begun or difflib.get_close_matches(wanted, known, MOST, _CLOSE)


def _names(tables: CarbonTables) -> Iterator[tuple[str, MeantPlace]]:
    """Every name, in plain letters, and its place: the tables' first."""
    for code, grid in tables.grids.items():
        if code not in _AREAS:
            yield _plain(grid.name), MeantPlace(code, grid.name)
    for code, grid in tables.us_states.items():
        yield _plain(grid.name), MeantPlace(_US + code, grid.name)
    for name, code in _ALSO.items():
        if code in tables.grids:
            yield name, MeantPlace(code, tables.grids[code].name)


def _plain(name: str) -> str:
    """Small letters without accents and signs, one space between words."""
    letters = unicodedata.normalize("NFKD", name.casefold().replace(".", ""))
    kept = (c if c.isalnum() else " " for c in letters if not unicodedata.combining(c))
    return " ".join("".join(kept).split())
