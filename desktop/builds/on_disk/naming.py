"""Names of builds from the names of repositories and files."""

import re
from pathlib import PurePath
from typing import Final

from desktop.builds.grouping import whole_path
from desktop.builds.names import BuildName, is_repository
from desktop.builds.quant_labels import is_beside, label_of

_PART: Final = re.compile(
    r"(?P<base>.+)-(?P<index>[0-9]{5})-of-(?P<count>[0-9]{5})\.gguf", re.IGNORECASE | re.DOTALL
)
"""A file of a split set; source: llama.cpp, `llama_split_path`."""


def is_gguf(path: PurePath) -> bool:
    """Whether a file is called as builds are: no projector, no statistics."""
    return path.name.lower().endswith(".gguf") and not is_beside(path.name)


def part_of(name: str) -> tuple[str, int, int] | None:
    """Base, number and count of a split set's file, `a-00002-of-00003.gguf`; None of another."""
    found = _PART.fullmatch(name)
    if found is None:
        return None
    index, count = int(found["index"]), int(found["count"])
    return (found["base"], index, count) if 1 <= index <= count else None


def hub_name(owner: str, repo: str, file: str) -> str:
    """A file of a repository as users write it: `hf.co/owner/repo:Q4_K_M`, else with the file.

    Of what cannot be a repository, the file's name alone.
    """
    if not is_repository(f"{owner}/{repo}"):
        return file.rpartition("/")[2]
    return str(BuildName(owner, repo, label_of(whole_path(file)), file))
