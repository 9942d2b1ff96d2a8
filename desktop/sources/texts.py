"""Texts as systems and drivers print them, made fit to be shown: the one door of all of them.

Control characters, which move a terminal's cursor, and marks that turn the direction of writing
around come from firmware tables, drivers' files and tools; none of them belongs to a name.
"""

from typing import Final

MOST_CHARACTERS: Final = 256
"""Of a name or another single line: none has more to say, and patterns stay quick."""
BETWEEN_LINES: Final = "\n\r\t\0"
"""What parts the lines and words of longer texts."""


def printable(text: str, keep: str = "") -> str:
    """The text with a space for every character that is not shown.

    Args:
        text: of any length.
        keep: characters that stay all the same.
    """
    # of the few characters that a text is made of, not of each place: tables have megabytes
    hidden = {ord(c): " " for c in set(text) if not c.isprintable() and c not in keep}
    return text.translate(hidden) if hidden else text


def line(text: str) -> str | None:
    """One line of at most 256 characters without spaces around it; None when nothing is left."""
    return printable(text[:MOST_CHARACTERS]).strip() or None
