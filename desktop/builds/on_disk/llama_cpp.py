"""llama.cpp's own cache, flat: `owner_repo_file.gguf` with notes beside it.

`LLAMA_CACHE`, else the folder `llama.cpp` in the system's folder of caches. Which repository a file
is of is told by `manifest=owner=repo=tag.json` (the hub's answer, with `ggufFile.rfilename`), or in
older versions by `<file>.json` with the address. Newer versions keep Hugging Face's layout in the
same folder. Sources: llama.cpp, `common/common.cpp` (`fs_get_cache_directory`),
`common/download.cpp` (`get_manifest_path`) and `common/arg.cpp` of 2024 and 2025,
`common/hf-cache.cpp` of 2026.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from desktop.builds.header import shown_name
from desktop.builds.names import BuildName, parse_name
from desktop.builds.on_disk.here import Here, cache_folder, variable
from desktop.builds.on_disk.hugging_face import in_cache
from desktop.builds.on_disk.look import Look
from desktop.builds.on_disk.naming import hub_name, is_gguf
from desktop.builds.on_disk.tables import read_json
from desktop.records.on_disk import FoundFile

PROGRAM: Final = "llama.cpp"
_MANIFEST: Final = re.compile(r"manifest=(?P<owner>[^=]+)=(?P<repo>[^=]+)=(?P<tag>[^=]+)\.json")
_SHA256: Final = re.compile(r'"?(?P<sha256>[0-9a-f]{64})"?')


def find_llama_cpp(here: Here, look: Look) -> Iterator[FoundFile]:
    """Builds that llama.cpp's tools fetched."""
    cache = variable(here, "LLAMA_CACHE") or cache_folder(here) / "llama.cpp"
    yield from in_cache(cache, look)
    files = list(look.files(cache, depth=0))
    names = _manifest_names(files, look)
    there = {path.name for path in files}
    for path in filter(is_gguf, files):
        for found in look.found(path, shown_name(path)):
            name = names.get(path.name) or _noted_name(path, there, look) or found.name
            yield replace(found, name=name, claimed_sha256=_claim(path, there, look))


def _manifest_names(files: list[Path], look: Look) -> dict[str, str]:
    """What the manifests call the files of the cache."""
    names = {}
    for path in files:
        found = _MANIFEST.fullmatch(path.name)
        table = read_json(look, path) if found else None
        if found is None or table is None:
            continue
        file = _rfilename(table.get("ggufFile"))
        if file is None:
            look.tell("on_disk_manifest", path, detail="it names no file")
            continue
        owner, repo = found["owner"], found["repo"]
        names[f"{owner}_{repo}_{file}".replace("/", "_")] = hub_name(owner, repo, file)
    return names


def _rfilename(entry: object) -> str | None:
    file = entry.get("rfilename") if isinstance(entry, dict) else None
    return file if isinstance(file, str) and file.lower().endswith(".gguf") else None


def _noted_name(path: Path, there: set[str], look: Look) -> str | None:
    """By the address in `<file>.json`, as versions before mid-2025 noted it."""
    note = f"{path.name}.json"
    table = read_json(look, path.with_name(note)) if note in there else None
    url = table.get("url") if table else None
    named = parse_name(url) if isinstance(url, str) else None
    if isinstance(named, BuildName) and named.file:
        return hub_name(named.owner, named.repo, named.file)
    return None


def _claim(path: Path, there: set[str], look: Look) -> str | None:
    """The etag that was kept, where it is a sha256, as the hub's is for large files."""
    note = f"{path.name}.etag"
    data = look.read_small(path.with_name(note)) if note in there else None
    found = _SHA256.fullmatch(data.decode("utf-8", "replace").strip()) if data else None
    return found["sha256"] if found else None
