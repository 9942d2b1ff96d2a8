"""What the person set: `settings.toml`, flat, written whole or not at all.

A file that is no TOML is set aside, never overwritten; a value that is not allowed is left out. The
person is told of both by a `Reason`. Keys of a newer Gram are kept when the file is written again.
"""

import contextlib
import math
import os
import re
import stat
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import tomli_w
from filelock import FileLock, Timeout

from desktop.errors import GramError, Reason

Value: TypeAlias = str | bool | float

_ISO_COUNTRIES: Final = frozenset(
    re.findall(
        "..",
        "ADAEAFAGAIALAMAOAQARASATAUAWAXAZBABBBDBEBFBGBHBIBJBLBMBNBOBQBRBSBTBVBWBYBZCACCCDCFCGCHCICK"
        "CLCMCNCOCRCUCVCWCXCYCZDEDJDKDMDODZECEEEGEHERESETFIFJFKFMFOFRGAGBGDGEGFGGGHGIGLGMGNGPGQGRGSGT"
        "GUGWGYHKHMHNHRHTHUIDIEILIMINIOIQIRISITJEJMJOJPKEKGKHKIKMKNKPKRKWKYKZLALBLCLILKLRLSLTLULVLYMA"
        "MCMDMEMFMGMHMKMLMMMNMOMPMQMRMSMTMUMVMWMXMYMZNANCNENFNGNINLNONPNRNUNZOMPAPEPFPGPHPKPLPMPNPRPS"
        "PTPWPYQARERORSRURWSASBSCSDSESGSHSISJSKSLSMSNSOSRSSSTSVSXSYSZTCTDTFTGTHTJTKTLTMTNTOTRTTTVTWTZ"
        "UAUGUMUSUYUZVAVCVEVGVIVNVUWFWSXKYEYTZAZMZW",
    )
)
"""ISO 3166-1 alpha-2, and `XK` for Kosovo."""
_US_STATES: Final = frozenset(
    re.findall(
        "..",
        "ALAKAZARCACOCTDEDCFLGAHIIDILINIAKSKYLAMEMDMAMIMNMSMOMTNENVNHNJNMNYNCNDOHOKORPARISCSDTNTXUT"
        "VTVAWAWVWIWY",
    )
)
_MAX_BYTES: Final = 64 << 10
"""Of the file; all settings together take less than 1 KiB."""
_MAX_DEPTH: Final = 32
_LOCK_S: Final = 10.0
_SHOWN: Final = 60
"""Characters of a wrong value."""
_REFUSALS: Final = (ValueError, TypeError, OverflowError)
_YES_NO: Final = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting; None is not set."""

    place: str | None = None
    """Country, in the United States with its state: `NL`, `US-CA`."""
    rented: bool = False
    hourly_rate_usd: float | None = None
    """What an hour costs: paid for a rented machine, or set by the owner instead of a rate card."""
    tariff_usd_kwh: float | None = None
    """What electricity costs."""
    hardware_price_usd: float | None = None
    """What the machine cost, or its cards where nothing else was bought for it."""


class Loaded(NamedTuple):
    """The settings, and what the person should be told of their file."""

    settings: Settings
    told: tuple[Reason, ...] = ()


class Key(NamedTuple):
    """What one setting may be."""

    what: str
    allowed: str
    checked: Callable[[object], Value]
    """The value as kept. Raises one of `_REFUSALS` where it is not allowed."""


def _place(value: object) -> str:
    text = str(value).strip()
    if not text.isascii():
        # other letters may become two of these in capitals
        raise ValueError(text)
    text = text.upper().replace("_", "-")
    country, _, state = text.partition("-")
    if country not in _ISO_COUNTRIES or (state and (country != "US" or state not in _US_STATES)):
        raise ValueError(text)
    if text.endswith("-"):
        raise ValueError(text)
    return text


def _yes_or_no(value: object) -> bool:
    if isinstance(value, bool):
        return value
    found = _YES_NO.get(str(value).strip().lower())
    if found is None:
        raise ValueError(value)
    return found


def _dollars(most: float) -> Callable[[object], float]:
    def checked(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise TypeError(value)
        number = float(value)
        if not (math.isfinite(number) and 0 <= number <= most):
            raise ValueError(value)
        return number + 0.0  # -0 is 0

    return checked


KEYS: Final[Mapping[str, Key]] = {
    "place": Key(
        "where the machine stands, for its carbon",
        "a country's two letters (NL), in the United States with the state's (US-CA)",
        _place,
    ),
    "rented": Key("whether the machine is rented", "yes or no", _yes_or_no),
    "hourly_rate_usd": Key(
        "what an hour of the machine costs",
        "US dollars an hour, from 0 to 10000, with a point: 0.50",
        _dollars(10_000),
    ),
    "tariff_usd_kwh": Key(
        "what electricity costs",
        "US dollars per kWh, from 0 to 10, with a point: 0.30",
        _dollars(10),
    ),
    "hardware_price_usd": Key(
        "what the machine cost",
        "US dollars, from 0 to 10000000, with a point: 1600",
        _dollars(10_000_000),
    ),
}


def read_settings(path: Path) -> Loaded:
    """The settings of the file at `path`; the defaults where there is none. Never raises."""
    table, told = _table(_target(path))
    allowed: dict[str, Any] = {}
    for name in (n for n in KEYS if n in table):
        try:
            allowed[name] = KEYS[name].checked(table[name])
        except _REFUSALS:
            told = (*told, _bad(name, str(table[name])))
    return Loaded(Settings(**allowed), told)


def change_setting(path: Path, name: str, value: str | None) -> Loaded:
    """Set `name` to `value`, or unset it with None; the settings afterwards.

    Raises:
        GramError: `setting_unknown`, `setting_bad`, `settings_write`. The file is as it was then.
    """
    key = key_of(name)
    try:
        checked = None if value is None else key.checked(value)
    except _REFUSALS as e:
        raise GramError("setting_bad", **_bad(name, str(value)).params) from e
    with _alone(path):
        file = _target(path)
        table, told = _table(file, must=True)
        if checked is None:
            table.pop(name, None)
        else:
            table[name] = checked
        _write(file, table)
        return Loaded(read_settings(file).settings, told)


def key_of(name: str) -> Key:
    """The key of that name.

    Raises:
        GramError: `setting_unknown`.
    """
    if name not in KEYS:
        raise GramError("setting_unknown", name=name, allowed=", ".join(KEYS))
    return KEYS[name]


def _bad(name: str, found: str) -> Reason:
    shown = found if len(found) <= _SHOWN else f"{found[:_SHOWN]}…"
    return Reason("setting_bad", {"name": name, "found": shown, "allowed": KEYS[name].allowed})


def _table(path: Path, *, must: bool = False) -> tuple[dict[str, object], tuple[Reason, ...]]:
    """The file's table, empty where there is none; a broken file is set aside.

    Raises:
        GramError: `settings_write`, only where it `must` be known and cannot be read.
    """
    try:
        table = tomllib.loads(_bytes(path).decode("utf-8"))
        _check(table)
    except FileNotFoundError:
        return {}, ()
    except (ValueError, RecursionError) as e:
        told = _set_aside(path, str(e))
    except OSError as e:
        told = Reason("settings_unreadable", {"detail": e.strerror or str(e)})
    else:
        return table, ()
    if must and told.code == "settings_unreadable":
        raise GramError("settings_write", **told.params)
    return {}, (told,)


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
    """Nobody else changes the settings meanwhile. Raises GramError `settings_write`."""
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


def _write(path: Path, table: Mapping[str, object]) -> None:
    """Whole or not at all: beside it first, then renamed over it."""
    beside = None
    try:
        descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(descriptor, "wb") as file:
            tomli_w.dump(table, file)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).replace(path)
    except (OSError, ValueError, TypeError, RecursionError) as e:
        if beside is not None:
            with contextlib.suppress(OSError):
                Path(beside).unlink()
        raise GramError("settings_write", detail=getattr(e, "strerror", None) or str(e)) from e
