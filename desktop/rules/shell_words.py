"""Command lines to paste: a POSIX shell's, and PowerShell's on Windows.

A name may hold anything that its system allows. What is not shown (ends of lines, escapes), turns
writing around, or is a pile of marks is written by its number: a door would show another sign in
its place or put signs around it, and what is pasted must be what was read.
"""

import re
import shlex
import sys
from collections.abc import Sequence
from typing import Final

from desktop.errors import is_hidden, is_mark, turns, visible_text

WINDOWS: Final = "win32"
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./\\:=+-]+", re.ASCII)
"""What PowerShell takes as it stands. A comma would make a list, an at sign splats."""
_QUOTES: Final = re.compile("['\u2018\u2019\u201a\u201b]")
"""What PowerShell takes for a single quote (about_Quoting_Rules; its tokenizer, IsSingleQuote)."""
_HIGHEST_CHAR: Final = 0xFFFF


def command_line(words: Sequence[str], system: str) -> str:
    """The words as one command.

    Args:
        words: the program and its arguments, as it should receive them.
        system: as `sys.platform` has it.
    """
    return " ".join(word(text, system) for text in words)


def gram_command(verb: str, *names: str, system: str = sys.platform) -> str:
    """A command of this program, `gram builds get NAME`, with names that anybody may have given.

    Args:
        verb: `builds get`.
        names: as they should be received; none of them becomes an option.
        system: as `command_line`.
    """
    ends = ("--",) if any(name.startswith("-") for name in names) else ()
    return command_line(("gram", *verb.split(), *ends, *names), system)


def word(text: str, system: str) -> str:
    """One argument, quoted where it has to be."""
    return _powershell(text) if system == WINDOWS else _posix(text)


def in_turn(commands: Sequence[str], system: str) -> str:
    """Commands of which each runs only when the one before it went well."""
    if system != WINDOWS:
        return " &&\n".join(commands)
    # the PowerShell that Windows brings (5.1) has no &&
    *others, line = commands
    for command in reversed(others):
        line = f"{command}; if ($?) {{ {line} }}"
    return line


def _posix(text: str) -> str:
    # a command's output loses the ends of lines at its end, so such a name is quoted as it is
    numbered = _numbered(text)
    if not numbered or text.endswith("\n"):
        return shlex.quote(text)
    written = "".join(_octal(c) if c in numbered else c for c in text.replace("\\", "\\\\"))
    return f"\"$(printf '%b' {shlex.quote(written)})\""


def _numbered(text: str) -> set[str]:
    """The letters of it that are written by their numbers."""
    letters = set(text)
    numbered = {letter for letter in letters if is_hidden(letter) or turns(letter)}
    plain = "".join(letter for letter in text if letter not in numbered)
    return numbered | (set(filter(is_mark, letters)) if visible_text(plain) != plain else set())


def _octal(letter: str) -> str:
    """As `printf %b` reads it (POSIX, printf)."""
    # bytes of a name that are no UTF-8 came in as surrogates
    return "".join(f"\\0{byte:03o}" for byte in letter.encode("utf-8", "surrogateescape"))


def _powershell(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    numbered = _numbered(text)
    if not numbered:
        return _single(text)
    pieces = filter(None, re.split(f"([{re.escape(''.join(sorted(numbered)))}])", text))
    shown = [_number(piece) if piece in numbered else _single(piece) for piece in pieces]
    # with a letter first, PowerShell would add numbers
    added = " + ".join(("''", *shown))
    return f"({added})"


def _single(text: str) -> str:
    return "'" + _QUOTES.sub(lambda quote: quote[0] * 2, text) + "'"


def _number(letter: str) -> str:
    code = ord(letter)
    if code <= _HIGHEST_CHAR:
        return f"[char]0x{code:04X}"
    return f"[char]::ConvertFromUtf32(0x{code:X})"
