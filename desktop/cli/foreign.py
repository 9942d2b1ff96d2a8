"""Writing from right to left, among ours: each word of it turns only itself around.

A terminal that follows Unicode's bidirectional algorithm would draw the figures beside such a word
in another order. So each stands between U+2068 and U+2069, which keep it apart (UAX 9, isolates).
"""

import re
from typing import Final

from desktop.errors import is_hidden, is_mark, turns, visible_text

APART: Final = "\N{FIRST STRONG ISOLATE}"
APART_ENDS: Final = "\N{POP DIRECTIONAL ISOLATE}"


def shown(text: str, keep: str = "") -> str:
    """`visible_text`, with words from right to left kept apart. Doing it twice changes nothing.

    Args:
        text: of any length.
        keep: characters that stay all the same.
    """
    if text.isascii():
        return visible_text(text, keep)
    turned = "".join(sorted({c for c in text if turns(c)}))
    if not turned:
        return visible_text(text, keep)
    marks = "".join(sorted({c for c in text if is_mark(c)}))
    word = f"[{turned}][{turned}{marks}]*(?:[ '\"._-]+[{turned}][{turned}{marks}]*)*"
    plain = re.sub(f"{APART}({word}){APART_ENDS}", r"\1", text)
    return re.sub(word, lambda found: f"{APART}{found[0]}{APART_ENDS}", visible_text(plain, keep))


def to_be_escaped(letter: str) -> bool:
    """Whether JSON has it by its number: what is hidden, turned, or drawn on others."""
    return is_hidden(letter) or is_mark(letter) or turns(letter)
