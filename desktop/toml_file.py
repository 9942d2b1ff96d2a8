"""A TOML file that belongs to a person: read with limits, changed without losing a line of theirs.

It is written whole or not at all, by one program at a time. A file that is no TOML is set aside,
never overwritten.
"""

import contextlib
import os
import stat
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from filelock import FileLock, Timeout

from desktop.errors import GramError, Reason

Value: TypeAlias = str | bool | float

_MAX_BYTES: Final = 64 << 10
"""Of the file; all settings together take less than 1 KiB."""
_MAX_DEPTH: Final = 32
_LOCK_S: Final = 10.0
_NOT_CHANGED: Final = "it cannot be changed here without losing something in it; use an editor"


class Table(NamedTuple):
    """What the file holds: nothing, where there is none."""

    values: Mapping[str, Any]
    text: str = ""
    told: Reason | None = None
    """Why nothing is in it, where the person should know."""


def read_toml(path: Path) -> Table:
    """The file's table; a broken file is set aside. Never raises."""
    return _read(_target(path))


def change_toml(path: Path, name: str, value: Value | None) -> Table:
    """Set the top-level key `name`, or remove it with None; the table afterwards.

    Comments, order and all other keys stay as they were.

    Raises:
        GramError: `settings_write`. The file is as it was then.
    """
    with _alone(path):
        file = _target(path)
        found = _read(file)
        if found.told is not None and found.told.code == "settings_unreadable":
            raise GramError("settings_write", **found.told.params)
        changed = _changed(found, name, value)
        _write(file, changed.text)
        return changed


def _changed(found: Table, name: str, value: Value | None) -> Table:
    """The table with one key changed. Raises GramError `settings_write`."""
    # 0.06 s that only a change needs
    import tomlkit  # noqa: PLC0415
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415

    wanted = {key: kept for key, kept in found.values.items() if key != name}
    try:
        document = tomlkit.parse(found.text)
        document.pop(name, None) if value is None else document.update({name: value})
        text = tomlkit.dumps(document)
        values = tomllib.loads(text)
    except (TOMLKitError, ValueError, TypeError, RecursionError) as e:
        raise GramError("settings_write", detail=_NOT_CHANGED) from e
    if value is not None:
        wanted[name] = value
    # as text: a NaN of the person's is no other NaN
    if {k: repr(v) for k, v in values.items()} != {k: repr(v) for k, v in wanted.items()}:
        raise GramError("settings_write", detail=_NOT_CHANGED)
    return Table(values, text, found.told)


def _read(path: Path) -> Table:
    try:
        text = _bytes(path).decode("utf-8")
        values = tomllib.loads(text)
        _check(values)
    except FileNotFoundError:
        return Table({})
    except (ValueError, RecursionError) as e:
        return Table({}, told=_set_aside(path, str(e)))
    except OSError as e:
        return Table({}, told=Reason("settings_unreadable", {"detail": e.strerror or str(e)}))
    return Table(values, text)


def _bytes(path: Path) -> bytes:
    """Of a regular file only: a pipe would be waited for, and a device may have no end."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(None, "it is not a regular file")
    with path.open("rb") as file:
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise OSError(None, f"it is larger than {_MAX_BYTES >> 10} KiB")
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
def _alone(path: Path) -> Iterator[None]:
    """Nobody else changes the file meanwhile. Raises GramError `settings_write`."""
    lock = FileLock(path.with_suffix(".lock"), timeout=_LOCK_S)
    try:
        lock.acquire()
    except Timeout as e:
        raise GramError("settings_write", detail="another Gram is changing them") from e
    except OSError as e:
        raise GramError("settings_write", detail=e.strerror or str(e)) from e
    try:
        yield
    finally:
        lock.release()


def _set_aside(path: Path, detail: str) -> Reason:
    """Rename the broken file to a name that is free; what the person should be told."""
    free = (path.with_name(f"{path.stem}.broken-{n}{path.suffix}") for n in range(1, 1000))
    aside = next((name for name in free if not os.path.lexists(name)), None)
    if aside is None:
        return Reason("settings_unreadable", {"detail": "too many broken ones lie beside it"})
    try:
        path.rename(aside)
    except OSError as e:
        return Reason("settings_unreadable", {"detail": e.strerror or str(e)})
    return Reason("settings_broken", {"detail": detail, "aside": aside.name, "name": path.name})


def _write(path: Path, text: str) -> None:
    """Whole or not at all: beside it first, then renamed over it."""
    beside = None
    try:
        descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        Path(beside).replace(path)
    except (OSError, ValueError, TypeError, RecursionError) as e:
        if beside is not None:
            with contextlib.suppress(OSError):
                Path(beside).unlink()
        raise GramError("settings_write", detail=getattr(e, "strerror", None) or str(e)) from e
