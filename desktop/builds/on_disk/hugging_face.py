"""The cache of Hugging Face's own library, which llama.cpp's newer downloads share.

`models--owner--repo/snapshots/<commit>/<file>`, each file a link to `blobs/<etag>`, or the file
itself where links are not possible; the etag of a large file is its sha256. Places by
`HF_HUB_CACHE`, `HUGGINGFACE_HUB_CACHE`, `HF_HOME`, `XDG_CACHE_HOME`. Sources: huggingface_hub,
`src/huggingface_hub/constants.py` and docs, "Understand caching"; llama.cpp,
`common/hf-cache.cpp`.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from desktop.builds.hashes import is_sha256
from desktop.builds.on_disk.here import Here, is_file, once, variable
from desktop.builds.on_disk.look import Look
from desktop.builds.on_disk.naming import hub_name, is_gguf
from desktop.records.on_disk import FoundFile

PROGRAM: Final = "Hugging Face"
_REPO: Final = re.compile(r"models--(?:(?P<owner>[\w.-]+?)--)?(?P<repo>[\w.-]+)", re.ASCII)
_COMMIT_AND_FILE: Final = 2


def find_hugging_face(here: Here, look: Look) -> Iterator[FoundFile]:
    """Builds in the cache; of a file in several snapshots, each that is there."""
    for cache in caches(here):
        yield from in_cache(cache, look)


def caches(here: Here) -> list[Path]:
    """Where the cache may be."""
    home = variable(here, "HF_HOME")
    xdg = variable(here, "XDG_CACHE_HOME") or here.home / ".cache"
    return once(
        (
            variable(here, "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")
            or (home or xdg / "huggingface") / "hub",
        )
    )


def in_cache(cache: Path, look: Look) -> Iterator[FoundFile]:
    """Builds of all repositories in a folder of this layout."""
    for repo in look.folders(cache):
        found = _REPO.fullmatch(repo.name)
        if found is None:
            continue
        snapshots = repo / "snapshots"
        files = filter(is_gguf, look.files(snapshots))
        newest = _main(repo, look)
        for path in sorted(files, key=lambda p: p.relative_to(snapshots).parts[0] != newest):
            inside = path.relative_to(snapshots).parts
            if len(inside) >= _COMMIT_AND_FILE:
                name = hub_name(found["owner"] or "", found["repo"], "/".join(inside[1:]))
                yield from look.found(path, name, _claim(path))


def _main(repo: Path, look: Look) -> str | None:
    """The commit of the main branch, whose files are told first."""
    ref = repo / "refs" / "main"
    data = look.read_small(ref) if is_file(ref) else None
    return data.decode("ascii", "replace").strip() if data else None


def _claim(path: Path) -> str | None:
    """The blob's name, where it is a sha256."""
    name = Path(os.path.realpath(path)).name
    return name if is_sha256(name) and path.is_symlink() else None
