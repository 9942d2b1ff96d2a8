"""What the person set: `settings.toml`.

A file that is no TOML is set aside (`toml_file`); a value that is not allowed is left out. The
person is told of both by a `Reason`, and of what is no setting: a slip of the keyboard is not
silent. Comments, and keys of a newer Gram, are kept.
"""

import difflib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from desktop.errors import GramError, Param, Reason
from desktop.setting_keys import (
    BUILDS,
    FOLDERS,
    KEYS,
    REFUSALS,
    BuildPreferences,
    Key,
    Settings,
)
from desktop.toml_file import Table, Value, change_toml, read_toml

__all__ = [
    "KEYS",
    "BuildPreferences",
    "Loaded",
    "Settings",
    "change_setting",
    "key_of",
    "read_build_preferences",
    "read_settings",
    "with_folder",
    "without_folder",
]

_SHOWN: Final = 60
"""Characters of a wrong value or name."""
_CLOSE: Final = 0.75
"""Of difflib's ratio: one wrong letter in four."""
_MOST_NAMED: Final = 5
"""Of the names that are like no setting's."""
_MOST_COMPARED: Final = 100
"""Names of a file, and of each section in it: comparing thousands would take seconds."""
_LEAST_WORD: Final = 3
"""Letters of a word that a setting may be called by."""
_DEFAULTS: Final[Mapping[object, str]] = {None: "not set", (): "not set", False: "no"}
_TABLES: Final = frozenset(name.partition(".")[0] for name in KEYS if "." in name)


class Loaded(NamedTuple):
    """The settings, and what the person should be told of their file."""

    settings: Settings
    told: tuple[Reason, ...] = ()


_OWN: Final[Mapping[str, str]] = {name.rpartition(".")[2]: name for name in KEYS}
"""Keys by what stands in the file, without their table."""
_WORDS: Final = [word for own in _OWN for word in own.split("_") if len(word) >= _LEAST_WORD]
_CALLED: Final[Mapping[str, str]] = {
    **{
        word: name
        for own, name in _OWN.items()
        for word in own.split("_")
        if _WORDS.count(word) == 1
    },
    **_OWN,
    **{name: name for name in KEYS},
}
"""What a setting may be called by: its name, and each word of it that no other has."""


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


def with_folder(path: Path, text: str) -> str:
    """Add a folder or GGUF file of the person's own to `builds.folders`; as it is kept.

    Raises:
        GramError: `folder_missing`, `setting_bad`, `settings_write`, `settings_busy`.
    """
    added = _there(text)

    def more(found: object) -> Value:
        folders = _list(found)
        if any(_is_same(folder, added) for folder in folders):
            return folders
        if len(folders) >= KEYS[FOLDERS].most:
            raise _refused(FOLDERS, text)
        return [*folders, added]

    change_toml(path, FOLDERS.rpartition(".")[2], more, BUILDS)
    return added


def without_folder(path: Path, text: str) -> bool:
    """Take a folder or file out of `builds.folders`, there or not; whether it was in it.

    Raises:
        GramError: `settings_write`, `settings_busy`.
    """
    gone = str(_absolute(text))
    was_in = False

    def fewer(found: object) -> Value | None:
        nonlocal was_in
        folders = _list(found)
        left = [folder for folder in folders if not _is_same(folder, gone)]
        was_in = len(left) < len(folders)
        return (left or None) if was_in else folders or None

    if not any(_is_same(f, gone) for f in read_build_preferences(path)[0].folders):
        return False
    change_toml(path, FOLDERS.rpartition(".")[2], fewer, BUILDS)
    return was_in


def key_of(name: str) -> Key:
    """The key of that name.

    Raises:
        GramError: `setting_unknown`; `setting_near` where another is called nearly so.
    """
    if name in KEYS:
        return KEYS[name]
    said: dict[str, Param] = {"name": _cut(name), "allowed": ", ".join(KEYS)}
    near = _nearest(name)
    if near is None:
        raise GramError("setting_unknown", **said)
    raise GramError("setting_near", near=near, **said)


def _typed(name: str, value: object) -> Value:
    """As it is kept. Raises GramError `setting_bad`."""
    try:
        return KEYS[name].checked(value)
    except REFUSALS as e:
        raise _refused(name, value) from e


def _refused(name: str, value: object) -> GramError:
    return GramError("setting_bad", name=name, found=_shown(value), allowed=KEYS[name].allowed)


def _several(name: str, values: Sequence[str]) -> Value:
    """A list of folders as it is kept, each once. Raises as `_there`."""
    found = list(dict.fromkeys(map(_there, values)))
    if len(found) > KEYS[name].most:
        raise _refused(name, f"{len(found)} of them")
    return found


def _there(text: str) -> str:
    """A folder or GGUF file that is there, from the root on.

    Raises:
        GramError: `folder_missing`; `setting_bad` for another file.
    """
    _typed(FOLDERS, text)
    path = _absolute(text)
    if not path.exists():
        raise GramError("folder_missing", name=str(path))
    if not path.is_dir() and path.suffix.lower() != ".gguf":
        raise _refused(FOLDERS, text)
    return str(path)


def _absolute(text: str) -> Path:
    """From the root on; `..` as the file system takes it."""
    path = Path(os.path.expanduser(text.strip())).absolute()  # noqa: PTH111 - pathlib's raises
    return path.resolve() if ".." in path.parts else path


def _is_same(folder: object, path: str) -> bool:
    """Whether what stands in the file, however written, is `path`."""
    if not isinstance(folder, str) or not folder.strip():
        return False
    written = Path.home() / os.path.expanduser(folder.strip())  # noqa: PTH111
    return os.path.normcase(written) == os.path.normcase(path)


def _list(found: object) -> list[Any]:
    """What stands in the file, wrong ones too: they are the person's."""
    if isinstance(found, list):
        return list(found)
    return [] if found is None else [found]


def _loaded(found: Table, file: str) -> Loaded:
    """The settings of a file, and all that is to be told of it."""
    told: list[Reason] = [] if found.told is None else [found.told]
    settings = _of(found.values, file, told.append)
    told += _not_read(found.values, file)
    for table in _TABLES & found.values.keys():
        inner = found.values[table]
        if isinstance(inner, Mapping):
            told += _not_read_in(table, inner, file)
        else:
            told.append(Reason("setting_no_table", {"file": file, "name": table}))
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
            said: dict[str, Param] = {"file": file, "name": name, "found": _shown(one)}
            tell(Reason("setting_item_bad_in_file", {**said, "allowed": key.allowed}))
    return tuple(dict.fromkeys(good))


def _bad_in_file(file: str, name: str, found: object) -> Reason:
    default = Settings().value(name)
    shown = _DEFAULTS[default] if default in _DEFAULTS else str(default)
    said: dict[str, Param] = {"file": file, "name": name, "found": _shown(found), "default": shown}
    return Reason("setting_bad_in_file", {**said, "allowed": KEYS[name].allowed})


def _not_read(values: Mapping[str, Any], file: str) -> Iterator[Reason]:
    """What stands in the file and is no setting: what each setting may be meant by, then the rest.

    However long the file, it is a sentence for each setting and place, and one for the rest.
    """
    slips: dict[tuple[str, bool], Reason] = {}
    rest: list[str] = []
    known = {*KEYS, *_TABLES}
    unknown = ((name, value) for name, value in values.items() if name not in known)
    for name, value in islice(unknown, _MOST_COMPARED):
        inside = list(islice(value, _MOST_COMPARED)) if isinstance(value, dict) else []
        found = [slip for inner in inside if (slip := _slip(file, inner, name))]
        if not found and (slip := _slip(file, name)):
            found = [slip]
        for near, reason in found:
            slips.setdefault((near, bool(inside)), reason)
        if not found:
            rest.append(f"[{_cut(name)}]" if inside else _cut(name))
    yield from slips.values()
    yield from _rest(file, rest, KEYS)


def _not_read_in(table: str, values: Mapping[str, Any], file: str) -> Iterator[Reason]:
    """The same for a table that holds settings."""
    slips: dict[str, Reason] = {}
    rest: list[str] = []
    own = [name for name in KEYS if name.startswith(f"{table}.")]
    unknown = (name for name in values if f"{table}.{name}" not in own)
    for name in islice(unknown, _MOST_COMPARED):
        near = _nearest(name)
        if near is None:
            rest.append(f"{table}.{_cut(name)}")
        elif near in own:
            said: dict[str, Param] = {"file": file, "name": f"{table}.{_cut(name)}", "near": near}
            slips.setdefault(near, Reason("setting_near_in_file", said))
        else:
            slips.setdefault(near, _in_section(file, name, near, table))
    yield from slips.values()
    yield from _rest(file, rest, own)


def _rest(file: str, names: Sequence[str], allowed: Iterable[str]) -> Iterator[Reason]:
    if names:
        shown = ", ".join(names[:_MOST_NAMED]) + ", …" * (len(names) > _MOST_NAMED)
        said = {"file": file, "names": shown, "allowed": ", ".join(allowed)}
        yield Reason("settings_not_read", said)


def _slip(file: str, name: str, section: str | None = None) -> tuple[str, Reason] | None:
    """The setting that may be meant, and what to say; None where the name is like none of them."""
    near = _nearest(name)
    if near is None:
        return None
    if section is None:
        said: dict[str, Param] = {"file": file, "name": _cut(name), "near": near}
        return near, Reason("setting_near_in_file", said)
    return near, _in_section(file, name, near, section)


def _in_section(file: str, name: str, near: str, section: str) -> Reason:
    """What is a setting, but not below this section."""
    table, _, own = near.rpartition(".")
    said: dict[str, Param] = {"file": file, "name": _cut(name), "section": _cut(section)}
    if table:
        return Reason("setting_in_other_section", {**said, "near": own, "right": table})
    return Reason("setting_in_section", {**said, "near": near})


def _nearest(name: str) -> str | None:
    """The setting that is called so but for capitals, dashes, a missing word or a slip."""
    written = _cut(name).strip().lower().replace("-", "_").replace(" ", "_")
    close = difflib.get_close_matches(written, _CALLED, 1, _CLOSE)
    return _CALLED[close[0]] if close else None


def _shown(value: object) -> str:
    """As it stands in the file, a long one cut."""
    return _cut(str(value).lower() if isinstance(value, bool) else str(value))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
