"""What the person set about builds: the table `[builds]` of `settings.toml`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from desktop.errors import Reason
from desktop.records.library import BuildPreferences
from desktop.toml_file import read_toml

TABLE: Final = "builds"
_MOST_FOLDERS: Final = 100
_MOST_GB: Final = 1_000_000
_SHOWN: Final = 60
_NOT_SET: Final = "not set"


def read_preferences(settings: Path) -> tuple[BuildPreferences, tuple[Reason, ...]]:
    """The preferences in the settings file, and what the person should be told. Never raises.

    What is not allowed is left out: of a list of folders, only the wrong ones.
    """
    found = read_toml(settings)
    told = [] if found.told is None else [found.told]
    table = found.values.get(TABLE, {})
    if not isinstance(table, Mapping):
        told.append(_bad(settings, TABLE, table, "a table: [builds]"))
        table = {}
    folders, budget_gb = None, None
    for name, value in table.items():
        if name == "folders":
            folders = _folders(settings, value, told.append)
        elif name == "budget_gb":
            budget_gb = _budget(settings, value, told.append)
        else:
            said = {"file": settings.name, "name": str(name)[:_SHOWN]}
            told.append(Reason("builds_setting_unknown", said))
    return BuildPreferences(folders or (), budget_gb), tuple(told)


def _folders(settings: Path, value: Any, tell: Callable[[Reason], None]) -> tuple[str, ...]:
    allowed = 'a list of folders, ["/data/models"]'
    if not isinstance(value, list) or len(value) > _MOST_FOLDERS:
        tell(_bad(settings, "folders", value, f"{allowed}, at most {_MOST_FOLDERS}"))
        return ()
    good = []
    for folder in value:
        if isinstance(folder, str) and folder.strip() and "\0" not in folder:
            good.append(folder.strip())
        else:
            tell(_bad(settings, "folders", folder, allowed))
    return tuple(dict.fromkeys(good))


def _budget(settings: Path, value: Any, tell: Callable[[Reason], None]) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and 0 <= value <= _MOST_GB:  # NaN is neither
        return float(value)
    tell(_bad(settings, "budget_gb", value, f"GB, from 0 to {_MOST_GB}, as a number: 200"))
    return None


def _bad(settings: Path, name: str, found: Any, allowed: str) -> Reason:
    said = {"file": settings.name, "name": name, "found": str(found)[:_SHOWN]}
    return Reason("builds_setting_bad", {**said, "default": _NOT_SET, "allowed": allowed})
