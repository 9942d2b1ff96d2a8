"""Short names of a build for programs that take letters, digits, points and dashes only."""

import re
from pathlib import PurePath
from typing import Final

from desktop.records.use import UseFacts

_OTHERS: Final = re.compile(r"[^A-Za-z0-9._-]+")
_ENDING: Final = re.compile(r"(-[0-9]{5}-of-[0-9]{5})?\.gguf$", re.IGNORECASE)
_HUB: Final = "hf.co/"
_MOST: Final = 60


def short_name(facts: UseFacts) -> str:
    """`llama-3.2-1b-instruct-q4_k_m-6f85a6`: never empty, begins with a letter or digit.

    Other builds have the same name where owners, folders and long ends are left out: the digits
    tell them apart, so that one does not write over the other.
    """
    owned = facts.name.startswith(_HUB)
    text = facts.name.split("/", 2)[-1] if owned else facts.name.rpartition("/")[2]
    plain = _OTHERS.sub("-", _ENDING.sub("", text)).lower().strip("-._")[:_MOST]
    name = plain.rstrip("-._") or "build"
    return f"{name}-{facts.digits}" if facts.digits else name


def has_folders(facts: UseFacts) -> bool:
    """Whether its repository has it in a folder, where its file's name alone may be another's."""
    return facts.name.startswith(_HUB) and "/" in facts.name.partition(":")[2]


def is_gguf_name(path: PurePath) -> bool:
    """Whether the file's name says that it is a build: a blob of Ollama's store has none."""
    return path.name.lower().endswith(".gguf")
