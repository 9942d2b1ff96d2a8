"""Jan: `llamacpp/models/<id>/model.yml` beside the file, or with the path of one elsewhere.

The data folder is `data` in Jan's folder, or what its `settings.json` calls `data_folder`. Versions
before 0.6 kept `models/**/*.yml` there, with `model` and `files`; those before 0.5 kept
`~/jan/models/<id>/model.json`, with `id` and `sources`. Sources: jan, `src-tauri/src/core/` (app
configuration), `extensions/llamacpp-extension/src/index.ts`; jan.ai/docs/data-folder.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from desktop.builds.hashes import is_sha256
from desktop.builds.header import shown_name
from desktop.builds.on_disk.here import (
    Here,
    config_folder,
    data_folder,
    expanded,
    is_file,
    once,
)
from desktop.builds.on_disk.look import Look
from desktop.builds.on_disk.naming import is_gguf
from desktop.builds.on_disk.tables import read_json, read_lines
from desktop.records.on_disk import FoundFile

PROGRAM: Final = "Jan"


class _Note(NamedTuple):
    """What a description says of its build."""

    name: str
    path: Path
    claim: str | None = None


def find_jan(here: Here, look: Look) -> Iterator[FoundFile]:
    """Builds in Jan's data folders, by the ids of their models."""
    for data in _data_folders(here, look):
        for models in (data / "llamacpp" / "models", data / "models"):
            yield from _in_folder(data, models, look)


def _data_folders(here: Here, look: Look) -> list[Path]:
    own = once((data_folder(here) / "Jan", config_folder(here) / "Jan"))
    chosen: list[Path | None] = []
    for folder in own:
        table = read_json(look, folder / "settings.json", quiet=True)
        said = table.get("data_folder") if table else None
        chosen.append(expanded(here, said) if isinstance(said, str) and said.strip() else None)
    return once([*chosen, *(folder / "data" for folder in own), here.home / "jan"])


def _in_folder(data: Path, models: Path, look: Look) -> Iterator[FoundFile]:
    """Builds with a description, and files that none describes."""
    files = list(look.files(models))
    notes = [(file, note) for file in files if (note := _described(data, models, file, look))]
    described = {os.path.normpath(note.path) for _, note in notes}
    # a file that several describe has the name of the folder in which it lies
    for _, note in sorted(notes, key=lambda pair: pair[0].parent != pair[1].path.parent):
        yield from look.found(note.path, note.name, note.claim)
    for path in filter(is_gguf, files):
        if os.path.normpath(path) not in described:
            yield from look.found(path, shown_name(path))


def _described(data: Path, models: Path, file: Path, look: Look) -> _Note | None:
    if file.name == "model.json":
        return _older(file, look)
    if file.suffix not in {".yml", ".yaml"}:
        return None
    said = read_lines(look, file, ":")
    if path := said.get("model_path"):
        name = file.parent.relative_to(models).as_posix()
        return _Note(name, data / path, _sha256(said.get("model_sha256")))
    if (path := said.get("files")) and (model := said.get("model")):
        return _Note(model, data / path)
    look.tell("on_disk_manifest", file, detail="it names no file")
    return None


def _older(file: Path, look: Look) -> _Note | None:
    """Of `model.json`; None of a model that was not fetched, or runs elsewhere."""
    table = read_json(look, file) or {}
    sources, name = table.get("sources"), table.get("id")
    first = sources[0] if isinstance(sources, list) and sources else None
    if not isinstance(first, dict) or not isinstance(name, str):
        return None
    places = [first.get("filename"), first.get("url")]
    for place in (p for p in places if isinstance(p, str) and p and "\0" not in p):
        if is_file(path := file.parent / place):
            return _Note(name, path)
    return None


def _sha256(text: str | None) -> str | None:
    lower = (text or "").lower()
    return lower if is_sha256(lower) else None
