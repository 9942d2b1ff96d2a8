"""LM Studio: `models/publisher/model/file.gguf`.

Its home is told by `~/.lmstudio-home-pointer`, else `~/.cache/lm-studio` (older versions) or
`~/.lmstudio`; another folder of models by `downloadsFolder` in `settings.json`, in its home or in
the program's own folder of settings. Sources: lmstudio.ai/docs, "Import Models"; lmstudio-js,
`packages/lms-common-server/src/findLMStudioHome.ts`; lmstudio-ai/lmstudio-js issue 387 (files that
lie in `models` itself are not seen by LM Studio; Gram uses them all the same).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from desktop.builds.header import shown_name
from desktop.builds.on_disk.here import Here, config_folder, expanded, is_file, once
from desktop.builds.on_disk.look import Look
from desktop.builds.on_disk.naming import hub_name, is_gguf
from desktop.builds.on_disk.tables import read_json
from desktop.records.on_disk import FoundFile

PROGRAM: Final = "LM Studio"
_OWNER_REPO_FILE: Final = 3


def find_lm_studio(here: Here, look: Look) -> Iterator[FoundFile]:
    """Builds in LM Studio's folders of models, named as on the hub where they lie so."""
    for folder in _folders(here, look):
        for path in filter(is_gguf, look.files(folder)):
            yield from look.found(path, _name(path, folder))


def _name(path: Path, folder: Path) -> str:
    """LM Studio keeps the hub's folders: publisher and repository."""
    parts = path.relative_to(folder).parts
    return hub_name(*parts) if len(parts) == _OWNER_REPO_FILE else shown_name(path)


def _folders(here: Here, look: Look) -> list[Path]:
    homes = [
        _pointed(here, look),
        here.home / ".cache" / "lm-studio",
        here.home / ".lmstudio",
    ]
    there = [home for home in homes if home is not None]
    settings = [*there, config_folder(here) / "LM Studio"]
    chosen = [_downloads(here, folder / "settings.json", look) for folder in settings]
    return once([*chosen, *(home / "models" for home in there)])


def _pointed(here: Here, look: Look) -> Path | None:
    pointer = here.home / ".lmstudio-home-pointer"
    data = look.read_small(pointer) if is_file(pointer) else None
    text = data.decode("utf-8", "replace").strip() if data else ""
    return expanded(here, text) if text else None


def _downloads(here: Here, settings: Path, look: Look) -> Path | None:
    table = read_json(look, settings, quiet=True)
    chosen = table.get("downloadsFolder") if table else None
    return expanded(here, chosen) if isinstance(chosen, str) and chosen.strip() else None
