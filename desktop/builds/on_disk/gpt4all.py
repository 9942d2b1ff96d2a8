"""GPT4All: GGUF files in its data folder, in the folder that its settings name, and the library's.

Files that begin with `incomplete` are not whole yet. Sources: gpt4all, `gpt4all-chat/src/main.cpp`
(organization `nomic.ai`, domain `gpt4all.io`,
settings as INI), `mysettings.cpp` (`modelPath`, the local data folder by
default), `modellist.cpp` (`processModelDirectory`); `gpt4all-bindings/python/gpt4all/gpt4all.py`
(`~/.cache/gpt4all`).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from desktop.builds.header import shown_name
from desktop.builds.on_disk.here import Here, config_folder, expanded, local_folder, once
from desktop.builds.on_disk.look import Look
from desktop.builds.on_disk.naming import is_gguf
from desktop.builds.on_disk.tables import read_lines
from desktop.records.on_disk import FoundFile

PROGRAM: Final = "GPT4All"
_UNFINISHED: Final = "incomplete"


def find_gpt4all(here: Here, look: Look) -> Iterator[FoundFile]:
    """Builds by the names of their files, as GPT4All's users know them."""
    for folder in _folders(here, look):
        for path in filter(is_gguf, look.files(folder)):
            if not path.name.startswith(_UNFINISHED):
                yield from look.found(path, shown_name(path))


def _folders(here: Here, look: Look) -> list[Path]:
    ini = Path("nomic.ai") / "GPT4All.ini"
    # on macOS, Qt keeps INI files as on Linux, under the organization's domain
    domain = Path("gpt4all.io") / "GPT4All.ini"
    places = {
        here.home / ".config" / ini,
        here.home / ".config" / domain,
        config_folder(here) / ini,
    }
    chosen = [read_lines(look, file, "=", quiet=True).get("modelPath") for file in sorted(places)]
    return once(
        (
            *(expanded(here, folder) if folder else None for folder in chosen),
            local_folder(here) / "nomic.ai" / "GPT4All",
            here.home / ".cache" / "gpt4all",
        )
    )
