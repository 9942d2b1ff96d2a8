"""A TOML file that belongs to a person: read with limits, changed without losing a line of theirs.

It is written whole or not at all, by one program at a time. A file that is no TOML is set aside,
never overwritten.
"""

import contextlib
import os
import re
import stat
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from filelock import FileLock, Timeout

from desktop.errors import GramError, Reason
from desktop.own_files import give_to_folders_owner, never_a_pipe, written_beside
from desktop.toml_text import Value, edited

Change: TypeAlias = Callable[[object], Value | None]
"""Given what stands there (None: nothing), what is to stand there."""

_MAX_BYTES: Final = 64 << 10
"""Of the file; all settings together take less than 1 KiB."""
_MAX_DEPTH: Final = 32
_TOO_LARGE: Final = f"larger than {_MAX_BYTES >> 10} KiB"
_LOCK_S: Final = 10.0
_READING_S: Final = 2.0
"""Who reads waits less: another Gram takes milliseconds."""
_ASIDE: Final = "{}.broken-{}{}"
_MARK: Final = "\ufeff"
"""The byte-order mark."""
_BROKEN: Final = (ValueError, RecursionError)
_NOT_CHANGED: Final = "it cannot be changed here without losing something in it; use an editor"


class Table(NamedTuple):
    """What the file holds: nothing, where there is none."""

    values: Mapping[str, Any]
    text: str = ""
    told: Reason | None = None
    """Why nothing is in it, where the person should know."""


def read_toml(path: Path) -> Table:
    """The file's table; a broken file is set aside. Never raises."""
    file = _target(path)
    try:
        return _parsed(file)
    except _BROKEN as e:
        return _broken(file, str(e))
    except OSError as e:
        return _unreadable(_said(e))


def change_toml(path: Path, name: str, value: Value | Change | None, table: str = "") -> Table:
    """Set the key `name`, or remove it with None; the whole file's table afterwards.

    Comments, order and all other keys stay as they were.

    Args:
        path: the file.
        name: of the key.
        value: for it; or what makes it of what stands there, while nobody else changes the file.
        table: the key stands below `[table]`; empty: above all of them.

    Raises:
        GramError: `settings_write`, `settings_busy`; what `value` raises. The file is as it was
            then, a broken one too.
    """
    file = _target(path)
    with _alone(file, _LOCK_S):
        broken = None
        try:
            found = _parsed(file)
        except _BROKEN as e:
            found, broken = Table({}), str(e)
        except OSError as e:
            raise GramError("settings_write", detail=_said(e)) from e
        inside = found.values.get(table, {}) if table else found.values
        if not isinstance(inside, Mapping):
            raise GramError("settings_write", detail=_NOT_CHANGED)
        if callable(value):
            value = value(inside.get(name))
        changed = _changed(found, name, value, table)
        return changed._replace(told=_write(file, changed.text, broken))


def broken_ones(path: Path) -> tuple[Path, ...]:
    """What was set aside of the file, by number.

    Raises:
        OSError: the folder cannot be read.
    """
    file = _target(path)
    named = re.compile(_ASIDE.format(re.escape(file.stem), "([0-9]+)", re.escape(file.suffix)))
    found = [(m, p) for p in file.parent.iterdir() if (m := named.fullmatch(p.name))]
    return tuple(p for _, p in sorted(found, key=lambda pair: int(pair[0][1])))


def _changed(found: Table, name: str, value: Value | None, table: str) -> Table:
    """The table with one key changed. Raises GramError `settings_write`."""
    try:
        values, text = edited(found.text.removeprefix(_MARK), found.values, name, value, table)
    except ValueError as e:
        raise GramError("settings_write", detail=_NOT_CHANGED) from e
    # as it was: Windows' editors put a mark before the text
    text = _MARK * found.text.startswith(_MARK) + text
    if len(text.encode()) > _MAX_BYTES:
        raise GramError("settings_write", detail=f"the file would be {_TOO_LARGE}")
    return Table(values, text)


def _parsed(path: Path) -> Table:
    """The file as it is now; an empty table where there is none.

    Raises:
        OSError: it cannot be read.
        ValueError, RecursionError: it is no TOML that can be written again.
    """
    try:
        text = _bytes(path).decode("utf-8")
    except FileNotFoundError:
        return Table({})
    values = tomllib.loads(text.removeprefix(_MARK))
    _check(values)
    return Table(values, text)


def _broken(path: Path, detail: str) -> Table:
    """Set a broken file aside, unless another Gram has done so or written a good one meanwhile."""
    try:
        with _alone(path, _READING_S):
            try:
                return _parsed(path)
            except _BROKEN as e:
                return Table({}, told=_set_aside(path, str(e)))
    except GramError as e:
        return _unreadable(f"{detail}; {e.reason.params.get('detail', e.reason.text())}")
    except OSError as e:
        return _unreadable(_said(e))


def _unreadable(detail: str) -> Table:
    return Table({}, told=Reason("settings_unreadable", {"detail": detail}))


def _said(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _bytes(path: Path) -> bytes:
    """Of a regular file only: a pipe would be waited for, and a device may have no end."""
    with open(path, "rb", opener=never_a_pipe) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(None, "it is not a regular file")
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise OSError(None, f"it is {_TOO_LARGE}")
    return data


def _check(table: dict[str, object]) -> None:
    """Raises ValueError for what could be read but not be written again."""
    level: list[object] = [table]
    for _ in range(_MAX_DEPTH):
        # TOML's whole numbers have 64 bits, source: toml.io, v1.0.0
        if any(isinstance(v, int) and not -(2**63) <= v < 2**63 for v in level):
            raise ValueError("a number is too large")
        level = [child for value in level for child in _children(value)]
        if not level:
            return
    raise ValueError(f"it is nested deeper than {_MAX_DEPTH}")


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _target(path: Path) -> Path:
    """Where a link leads: the file itself is replaced, not the link to it."""
    return Path(os.path.realpath(path))


@contextlib.contextmanager
def _alone(path: Path, limit_s: float) -> Iterator[None]:
    """Nobody else changes the file meanwhile: profiles that link to one file have one lock.

    Raises:
        GramError: `settings_busy` after `limit_s`; `settings_write` where no lock can be made.
    """
    lock = FileLock(path.with_suffix(".lock"), timeout=limit_s)
    try:
        lock.acquire()
    except Timeout as e:
        raise GramError("settings_busy") from e
    except OSError as e:
        raise GramError("settings_write", detail=_said(e)) from e
    try:
        give_to_folders_owner(Path(lock.lock_file))
        yield
    finally:
        lock.release()


def _write(path: Path, text: str, broken: str | None) -> Reason | None:
    """Put the text in the file's place, whole or not at all.

    A broken file is set aside only when what replaces it is on the disk.

    Args:
        path: the file.
        text: all of it.
        broken: why the file that is there cannot be read; None where it can.

    Returns:
        What the person should be told of the file that was there.

    Raises:
        GramError: `settings_write`. The file is as it was then.
    """
    try:
        with written_beside(path, text.encode()) as beside:
            told = None if broken is None else _set_aside(path, broken)
            if told is not None and "aside" not in told.params:
                raise GramError("settings_write", **told.params)
            try:
                beside.replace(path)
            except OSError:
                _put_back(path, told)
                raise
            return told
    except (OSError, ValueError, TypeError, RecursionError) as e:
        raise GramError("settings_write", detail=_said(e)) from e


def _set_aside(path: Path, detail: str) -> Reason:
    """Rename the broken file to a name that is free; what the person should be told.

    Only under the lock: a rename writes over a file that has just taken the name.
    """
    free = (path.with_name(_ASIDE.format(path.stem, n, path.suffix)) for n in range(1, 1000))
    aside = next((name for name in free if not os.path.lexists(name)), None)
    if aside is None:
        return Reason("settings_unreadable", {"detail": "too many broken ones lie beside it"})
    try:
        path.rename(aside)
    except OSError as e:
        return Reason("settings_unreadable", {"detail": f"{detail}; {_said(e)}"})
    return Reason("settings_broken", {"detail": detail, "aside": aside.name, "name": path.name})


def _put_back(path: Path, told: Reason | None) -> None:
    if told is not None:
        with contextlib.suppress(OSError):
            path.with_name(str(told.params["aside"])).rename(path)
