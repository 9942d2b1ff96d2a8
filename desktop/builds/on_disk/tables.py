"""The small files in which programs note things: JSON tables, and `key: value` lines."""

import json
from pathlib import Path
from typing import Any

from desktop.builds.on_disk.here import is_file
from desktop.builds.on_disk.look import Look


def read_json(look: Look, path: Path, *, quiet: bool = False) -> dict[str, Any] | None:
    """The table in a JSON file; None, and told, where there is none.

    Args:
        look: whose limits hold.
        path: the file.
        quiet: a file that is not there is no complaint.
    """
    if quiet and not is_file(path):
        return None
    data = look.read_small(path)
    if data is None:
        return None
    try:
        table = json.loads(data)
    except (ValueError, RecursionError):
        look.tell("on_disk_manifest", path, detail="it is not JSON")
        return None
    if not isinstance(table, dict):
        look.tell("on_disk_manifest", path, detail="it is not a table")
        return None
    return table


def read_lines(look: Look, path: Path, mark: str, *, quiet: bool = False) -> dict[str, str]:
    """What stands in lines of the form `key<mark> value`, quotes removed; of no file, nothing.

    Of a list below a key, its first item. Other lines that are indented belong to something else.
    """
    if quiet and not is_file(path):
        return {}
    data = look.read_small(path)
    found: dict[str, str] = {}
    last = ""
    for line in (data or b"").decode("utf-8-sig", "replace").splitlines():
        key, marked, value = line.partition(mark)
        item = line.strip()
        if item.startswith("- ") and found.get(last) == "":
            found[last] = _plain(item[2:])
        elif marked and key == key.lstrip() and not key.startswith("#"):
            last = key.strip()
            found.setdefault(last, _plain(value))
    return found


def _plain(value: str) -> str:
    return value.strip().strip("\"'")
