"""Short names of a build for programs that take letters, digits, points and dashes only."""

import re
from pathlib import PurePath
from typing import Final

from desktop.records.use import UseFacts

_OTHERS: Final = re.compile(r"[^A-Za-z0-9._-]+")
_ENDING: Final = re.compile(r"(-[0-9]{5}-of-[0-9]{5})?\.gguf$", re.IGNORECASE)
_MOST: Final = 60


def short_name(facts: UseFacts) -> str:
    """`llama-3.2-1b-instruct-q4_k_m`: never empty, begins with a letter or digit."""
    if facts.repository and facts.quantization:
        text = f"{facts.repository.rpartition('/')[2]}-{facts.quantization}"
    else:
        text = _ENDING.sub("", facts.name.rpartition("/")[2])
    plain = _OTHERS.sub("-", text).lower().strip("-._")[:_MOST]
    return plain.rstrip("-._") or "build"


def is_gguf_name(path: PurePath) -> bool:
    """Whether the file's name says that it is a build: a blob of Ollama's store has none."""
    return path.name.lower().endswith(".gguf")
