"""What the person set: `settings.toml`.

A file that is no TOML is set aside (`toml_file`); a value that is not allowed is left out. The
person is told of both by a `Reason`, and of what is no setting: a slip of the keyboard is not
silent. Comments, and keys of a newer Gram, are kept.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from desktop.errors import Param, Reason
from desktop.setting_folders import folder_there, refused
from desktop.setting_keys import BUILDS, KEYS, REFUSALS, BuildPreferences, Settings
from desktop.setting_slips import key_of, not_read, shown
from desktop.toml_file import Table, change_toml, read_toml
from desktop.toml_text import Value

__all__ = [
    "KEYS",
    "BuildPreferences",
    "Loaded",
    "Settings",
    "change_setting",
    "key_of",
    "read_build_preferences",
    "read_settings",
]

_DEFAULTS: Final[Mapping[object, str]] = {None: "not set", (): "not set", False: "no"}


class Loaded(NamedTuple):
    """The settings, and what the person should be told of their file."""

    settings: Settings
    told: tuple[Reason, ...] = ()


def read_settings(path: Path) -> Loaded:
    """The settings of the file at `path`; the defaults where there is none. Never raises."""
    return _loaded(read_toml(path), path.name)


def read_build_preferences(path: Path) -> tuple[BuildPreferences, tuple[Reason, ...]]:
    """Of the settings those about builds, and what is to be told of them. Never raises."""
    found = read_toml(path)
    told = () if found.told is None else (found.told,)
    values = {name: value for name, value in found.values.items() if name == BUILDS}
    loaded = _loaded(Table(values), path.name)
    return loaded.settings.builds, (*told, *loaded.told)


def change_setting(path: Path, name: str, value: str | Sequence[str] | None) -> Loaded:
    """Set `name` to `value`, or unset it with None; the settings afterwards.

    Args:
        path: the file.
        name: of `KEYS`.
        value: as typed; several where the key is a list, which then holds just these. What a
            folder's name is relative to is where the program runs.

    Raises:
        GramError: `setting_unknown`, `setting_near`, `setting_bad`, `folder_missing`,
            `settings_write`, `settings_busy`. The file is as it was then.
    """
    key = key_of(name)
    table, _, own = name.rpartition(".")
    kept: Value | None
    if value is None:
        kept = None
    elif key.most > 1:
        kept = _several(name, [value] if isinstance(value, str) else value)
    else:
        kept = _typed(name, value)
    return _loaded(change_toml(path, own, kept, table), path.name)


def _typed(name: str, value: object) -> Value:
    """As it is kept. Raises GramError `setting_bad`."""
    try:
        return KEYS[name].checked(value)
    except REFUSALS as e:
        raise refused(name, value) from e


def _several(name: str, values: Sequence[str]) -> Value:
    """A list of folders as it is kept, each once. Raises as `folder_there`."""
    found = list(dict.fromkeys(map(folder_there, values)))
    if len(found) > KEYS[name].most:
        raise refused(name, f"{len(found)} of them")
    return found


def _loaded(found: Table, file: str) -> Loaded:
    """The settings of a file, and all that is to be told of it."""
    told: list[Reason] = [] if found.told is None else [found.told]
    settings = _of(found.values, file, told.append)
    told += not_read(found.values, file)
    return Loaded(settings, tuple(told))


def _of(values: Mapping[str, Any], file: str, tell: Callable[[Reason], None]) -> Settings:
    """The settings in a file; what is not allowed is told with the name of the file."""
    settings = Settings()
    for name in KEYS:
        table, _, own = name.rpartition(".")
        inside = values.get(table) if table else values
        if not isinstance(inside, Mapping) or own not in inside:
            continue
        try:
            allowed = _allowed(file, name, inside[own], tell)
        except REFUSALS:
            tell(_bad_in_file(file, name, inside[own]))
            continue
        if table:
            within = replace(getattr(settings, table), **{own: allowed})
            settings = replace(settings, **{table: within})
        else:
            settings = replace(settings, **{own: allowed})
    return settings


def _allowed(file: str, name: str, found: Any, tell: Callable[[Reason], None]) -> Any:
    """The value; of a list only what is wrong in it is left out. Raises one of `REFUSALS`."""
    key = KEYS[name]
    if key.most == 1:
        return key.checked(found)
    if not isinstance(found, list) or len(found) > key.most:
        raise ValueError(found)
    good = []
    for one in found:
        try:
            good.append(key.checked(one))
        except REFUSALS:
            said: dict[str, Param] = {"file": file, "name": name, "found": shown(one)}
            tell(Reason("setting_item_bad_in_file", {**said, "allowed": key.allowed}))
    return tuple(dict.fromkeys(good))


def _bad_in_file(file: str, name: str, found: object) -> Reason:
    default = Settings().value(name)
    words = _DEFAULTS[default] if default in _DEFAULTS else str(default)
    said: dict[str, Param] = {"file": file, "name": name, "found": shown(found), "default": words}
    return Reason("setting_bad_in_file", {**said, "allowed": KEYS[name].allowed})
