"""What the terminal's door writes: lines and JSON, on whatever stream there is.

Names come from strangers' files, drivers and statements: what a terminal would obey is not written.

A stream that lacks a letter (`LC_ALL=C`, an old code page) gets the nearest one of ASCII: `x` for a
times sign, `-` for a dash. Where there is no output at all, that is no error.
"""

import codecs
import contextlib
import errno
import io
import json
import os
import sys
import unicodedata
from collections.abc import Iterator
from typing import Final, TextIO

from desktop.cli.foreign import APART, APART_ENDS, shown, to_be_escaped
from desktop.cli.plain import Plain
from desktop.errors import Param, Reason

_NEAREST: Final = "gram-nearest"
"""The name of the error handler, for `codecs`."""
_UNKNOWN: Final = "?"
_STAYS: Final = "\n\t"
"""Of what is not shown: they part our lines and columns."""
_LETTERS: Final = {
    "\N{MULTIPLICATION SIGN}": "x",
    "\N{PLUS-MINUS SIGN}": "+-",
    "\N{MIDDLE DOT}": ".",
    "\N{BULLET}": "*",
    "\N{DEGREE SIGN}": "",
    "\N{MICRO SIGN}": "u",
    "\N{GREEK SMALL LETTER MU}": "u",
    "\N{HYPHEN}": "-",
    "\N{NON-BREAKING HYPHEN}": "-",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
    "\N{MINUS SIGN}": "-",
    "\N{DIVISION SIGN}": "/",
    "\N{FRACTION SLASH}": "/",
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{LEFT DOUBLE QUOTATION MARK}": '"',
    "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
    "\N{RIGHTWARDS ARROW}": "->",
    "\N{ALMOST EQUAL TO}": "~",
    "\N{LESS-THAN OR EQUAL TO}": "<=",
    "\N{GREATER-THAN OR EQUAL TO}": ">=",
    "\N{REGISTERED SIGN}": "(R)",
    "\N{COPYRIGHT SIGN}": "(C)",
    "\N{EURO SIGN}": "EUR",
    "\N{LATIN SMALL LETTER SHARP S}": "ss",
    "\N{LATIN SMALL LETTER AE}": "ae",
    "\N{LATIN CAPITAL LETTER AE}": "AE",
    "\N{LATIN SMALL LETTER O WITH STROKE}": "o",
    "\N{LATIN CAPITAL LETTER O WITH STROKE}": "O",
    "\N{LATIN SMALL LETTER L WITH STROKE}": "l",
    "\N{LATIN CAPITAL LETTER L WITH STROKE}": "L",
    "\N{LATIN SMALL LETTER DOTLESS I}": "i",
    APART: "",
    APART_ENDS: "",
}
_SHAPES: Final = (
    # Unicode's blocks of box drawing, block elements and braille: the moving line is made of them
    ("\u2502\u2503\u2551", "|"),
    ("\u2500\u2501\u2550\u2574\u2576\u2578\u257a", "-"),
    ("".join(map(chr, range(0x2500, 0x2580))), "+"),
    ("".join(map(chr, range(0x2580, 0x25A0))), "#"),
    ("".join(map(chr, range(0x2800, 0x2900))), "*"),
)


def tolerate_poor_output() -> None:
    """Let stdout and stderr write every text; for the streams that there are not, nowhere."""
    codecs.register_error(_NEAREST, _nearest)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_NEAREST)


def say(text: str, *, err: bool = False) -> None:
    """One line, at once: a pipe is read while it is written.

    Nothing of it moves a terminal's cursor or turns writing around, whoever wrote it.

    Raises:
        OSError: it cannot be written.
    """
    _write(shown(text, _STAYS), err=err)


def say_json(value: Plain, *, indent: int | None = 2) -> None:
    """One object for programs; escaped where the stream has not every letter: nothing is lost.

    Raises:
        OSError: it cannot be written.
    """
    say_json_text(json.dumps(value, indent=indent, ensure_ascii=not _has_all_letters(sys.stdout)))


def say_json_text(text: str) -> None:
    """JSON as it is written already; what a terminal could draw elsewhere is escaped.

    It is the same JSON.

    Raises:
        OSError: it cannot be written.
    """
    escaped = (c for c in set(text) if to_be_escaped(c) and c != "\n")
    _write(text.translate({ord(c): _escaped(c) for c in escaped}))


def say_reason(reason: Reason) -> None:
    """A sentence and what to do next, on stderr.

    Raises:
        OSError: it cannot be written.
    """
    say(f"gram: {reason.text()}", err=True)
    if reason.advice():
        say(f"      {reason.advice()}", err=True)


def say_error(reason: Reason, *, as_json: bool) -> None:
    """What `say_reason` says, for programs as an object on stdout as well.

    Raises:
        OSError: it cannot be written.
    """
    if as_json:
        said = {"code": reason.code, "text": reason.text(), "advice": reason.advice()}
        say_json({"error": {**reason.params, **said}}, indent=None)
    say_reason(reason)


class UntoldError(OSError):
    """A result is kept, but it could not be told."""

    def __init__(self, error: OSError, statement_id: str) -> None:
        super().__init__(error.errno, error.strerror or str(error))
        self.statement_id = statement_id


@contextlib.contextmanager
def after_keeping(statement_id: str | None) -> Iterator[None]:
    """Telling of a result: when the output fails meanwhile, the person learns that it is kept.

    Args:
        statement_id: None where nothing was kept.

    Raises:
        UntoldError: instead of the output's error, where something was kept.
    """
    try:
        yield
    except OSError as e:
        if statement_id is None or isinstance(e, BrokenPipeError):
            raise
        raise UntoldError(e, statement_id) from e


def say_output_failed(error: OSError) -> None:
    """Stdout cannot be written: let go of it, and say so unless its reader just had enough."""
    _give_up(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return
    code = "output_full" if error.errno == errno.ENOSPC else "output_failed"
    params: dict[str, Param] = {"detail": error.strerror or str(error)}
    if isinstance(error, UntoldError):
        code, params["id"] = f"{code}_kept", error.statement_id[:12]
    try:
        say_reason(Reason(code, params))
    except OSError:  # stderr is just as full
        _give_up(sys.stderr)


def nearest(text: str) -> str:
    """`text` in ASCII: each letter by the nearest one, `?` where there is none."""
    return "".join(map(_ascii, text))


def _write(text: str, *, err: bool = False) -> None:
    # not click's echo: it takes a stream of ASCII for a mistake, and writes UTF-8 into it
    stream = sys.stderr if err else sys.stdout
    stream.write(f"{text}\n")
    stream.flush()


def _escaped(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return nearest(error.object[error.start : error.end]), error.end


def _ascii(letter: str) -> str:
    if letter.isascii():
        return letter
    if letter in _LETTERS:
        return _LETTERS[letter]
    shape = next((instead for shapes, instead in _SHAPES if letter in shapes), None)
    if shape is not None:
        return shape
    parts = unicodedata.normalize("NFKD", letter)
    if parts == letter:
        return "" if unicodedata.combining(letter) else _UNKNOWN
    return nearest(parts)


def _give_up(stream: TextIO) -> None:
    """What the stream still holds goes nowhere, so that ending says nothing of it."""
    # tests put streams there that are no files
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _has_all_letters(stream: TextIO) -> bool:
    return codecs.lookup(stream.encoding or "ascii").name.startswith("utf")
