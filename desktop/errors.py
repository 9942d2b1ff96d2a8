"""Every error and reason that a person may see: a code, parameters, and an English sentence.

Errors are born far from Qt and shown in many languages, so code raises `GramError(code, ...)` and
the doors (window, terminal) turn the code into words. The English text is in `sentences`, by what
it is about; the window translates the same templates. A sentence says what happened; the advice
says what to do next.
"""

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from desktop.sentences import builds, doors, estimates, figures, measuring, statements
from desktop.sentences.sentence import Sentence

Param: TypeAlias = str | int | float
SIZES: Final = "_bytes"
"""How the names of parameters end that are sizes."""


CATALOGUE: Final[Mapping[str, Sentence]] = MappingProxyType(
    {
        **builds.SENTENCES,
        **measuring.SENTENCES,
        **statements.SENTENCES,
        **estimates.SENTENCES,
        **doors.SENTENCES,
    }
)


class Reason(NamedTuple):
    """Why something is so: a code of `CATALOGUE` with its parameters."""

    code: str
    params: Mapping[str, Param] = MappingProxyType({})

    def text(self) -> str:
        """The English sentence."""
        return _fill(CATALOGUE[self.code].text, self.params)

    def advice(self) -> str:
        """What to do next, in English; may be empty."""
        return _fill(CATALOGUE[self.code].advice, self.params)


class GramError(Exception):
    """Base of all errors that are shown to people; carries a `Reason`.

    Raises:
        KeyError: the code is not in the catalogue (a bug of ours, found by any test that meets it).
    """

    def __init__(self, code: str, **params: Param) -> None:
        self.reason = Reason(code, params)
        super().__init__(f"{self.reason.text()} {self.reason.advice()}".strip())

    @property
    def code(self) -> str:
        """The code in the catalogue."""
        return self.reason.code


class BuildError(GramError):
    """A build cannot be used: missing, damaged, not what it says."""


class BenchError(GramError):
    """A run ended without a result."""


class KeyUnavailableError(GramError):
    """There is no key to sign with: no keychain, locked, refused, or a bad key file."""


class StatementError(GramError):
    """A signed statement does not hold: changed, cut, or not ours."""


class LedgerError(GramError):
    """The ledger cannot be read or written."""


def _fill(template: str, params: Mapping[str, Param]) -> str:
    return template.format_map({name: _as_said(name, value) for name, value in params.items()})


def is_size(name: str, value: Param) -> bool:
    """Whether a parameter is a size, which sentences have in a unit that suits it: `98.4 MB`."""
    return name.endswith(SIZES) and isinstance(value, int)


def _as_said(name: str, value: Param) -> str:
    return figures.size(int(value)) if is_size(name, value) else in_sentence(value)


def in_sentence(value: Param) -> str:
    """`value` as sentences have it: whole thousands with marks, `40,960`; text as it is shown."""
    if isinstance(value, str):
        return visible_text(value)
    whole = int(value) if _LEAST_MARKED <= abs(value) < _MOST_MARKED else None
    return f"{whole:,}" if whole == value else str(value)


_NOT_SHOWN: Final = "\N{REPLACEMENT CHARACTER}"
MOST_MARKS: Final = 4
"""On one letter: no writing has more, and many reach over the lines above and below."""
_IGNORABLE: Final = frozenset(
    # of Default_Ignorable_Code_Point (Unicode, DerivedCoreProperties) those that are no controls,
    # and the braille blank: grapheme joiner, fillers, inherent vowels, selectors of variants
    map(
        chr,
        (
            *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
            *range(0x180B, 0x1810),
            *range(0xFE00, 0xFE10),
            *range(0xE0100, 0xE01F0),
        ),
    )
)


_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})
"""Bidirectional classes: letters as of Hebrew, as of Arabic, and Arabic digits."""


_LEAST_MARKED: Final = 1000
_MOST_MARKED: Final = 1e15
"""From here on a number is no count: `1e+18` stays as it is."""


def visible_text(text: str, keep: str = "") -> str:
    """`text` with a sign in place of what is not shown: controls, ends of lines, turned writing.

    So is what has no width or looks like nothing, and a pile of marks is cut: letters have few.

    Args:
        text: of any length.
        keep: characters that stay all the same.
    """
    if text.isascii() and text.isprintable():
        return text
    # of the few characters that a text is made of, not of each place
    hidden = {c for c in set(text) if is_hidden(c) and c not in keep}
    shown = text.translate(dict.fromkeys(map(ord, hidden), _NOT_SHOWN))
    marks = "".join(re.escape(c) for c in set(shown) if is_mark(c))
    if not marks:
        return shown
    pile = f"([{marks}]{{{MOST_MARKS}}})[{marks}]+"
    return re.sub(pile, rf"\1{_NOT_SHOWN}", shown)


def is_hidden(letter: str) -> bool:
    """Whether it has no shape of its own: controls, and what Unicode calls ignorable."""
    return not letter.isprintable() or letter in _IGNORABLE


def is_mark(letter: str) -> bool:
    """Whether it is drawn on the letter before it, without room of its own."""
    return unicodedata.category(letter) in {"Mn", "Me"}


def turns(letter: str) -> bool:
    """Whether it is written from right to left."""
    return unicodedata.bidirectional(letter) in _RIGHT_TO_LEFT
