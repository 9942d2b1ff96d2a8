"""Names of the files of split sets, `a-00002-of-00003.gguf`.

Source: llama.cpp, `llama_split_path`.
"""

import re
from typing import Final

PART: Final = re.compile(
    r"(?P<base>.+)-(?P<index>[0-9]{5})-of-(?P<count>[0-9]{5})\.gguf", re.IGNORECASE | re.DOTALL
)
"""A file of a split set; whether its numbers are possible is not looked at."""


def whole_path(path: str) -> str:
    """The path without the numbers of a part: `x.gguf` of `x-00001-of-00003.gguf`."""
    found = PART.fullmatch(path)
    return f"{found['base']}.gguf" if found else path


def part_of(name: str) -> tuple[str, int, int] | None:
    """Base, number and count of a split set's file, `a-00002-of-00003.gguf`; None of another."""
    found = PART.fullmatch(name)
    if found is None:
        return None
    index, count = int(found["index"]), int(found["count"])
    return (found["base"], index, count) if 1 <= index <= count else None
