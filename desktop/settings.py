"""What the person set: `settings.toml`, flat.

A file that is no TOML is set aside (`toml_file`); a value that is not allowed is left out. The
person is told of both by a `Reason`, and of what is no setting: a slip of the keyboard is not
silent. Comments, and keys of a newer Gram, are kept.
"""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from desktop.errors import GramError, Param, Reason
from desktop.toml_file import Table, Value, change_toml, read_toml

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
_LEAST_USD: Final = 0.0001
"""Less is a slip of the keyboard: no hour and no kWh costs a hundredth of a cent."""
_FIGURES: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")
_SHOWN: Final = 60
"""Characters of a wrong value or name."""
_CLOSE: Final = 0.75
"""Of difflib's ratio: one wrong letter in four."""
_MOST_NAMED: Final = 5
"""Of the names that are like no setting's."""
_MOST_COMPARED: Final = 100
"""Names of a file, and of each section in it: comparing thousands would take seconds."""
_TABLES: Final = frozenset({"builds"})
"""Sections that others read (`builds.preferences`)."""
_REFUSALS: Final = (ValueError, TypeError, OverflowError)
_DEFAULTS: Final[Mapping[object, str]] = {None: "not set", False: "no"}
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
        if isinstance(value, str) and not _FIGURES.fullmatch(value.strip()):
            # what a keyboard's slip or another script writes is not guessed at
            raise ValueError(value)
        number = float(value)
        if not (number == 0 or _LEAST_USD <= number <= most):  # NaN is neither
            raise ValueError(value)
        return number + 0.0  # -0 is 0

    return checked


KEYS: Final[Mapping[str, Key]] = {
    "place": Key(
        "where the machine stands, for its carbon",
        "a country's two letters (NL, GB: ISO 3166), in the United States with the state's (US-CA)",
        _place,
    ),
    "rented": Key("whether the machine is rented", "yes or no", _yes_or_no),
    "hourly_rate_usd": Key(
        "what an hour of the machine costs",
        "US dollars an hour, from 0 to 10000 (0 or at least 0.0001), with a point: 0.50",
        _dollars(10_000),
    ),
    "tariff_usd_kwh": Key(
        "what electricity costs",
        "US dollars per kWh, from 0 to 10 (0 or at least 0.0001), with a point: 0.30",
        _dollars(10),
    ),
    "hardware_price_usd": Key(
        "what the machine cost",
        "US dollars, from 0 to 10000000 (0 or at least 0.0001), with a point: 1600",
        _dollars(10_000_000),
    ),
}


_WORDS: Final = [word for key in KEYS for word in key.split("_")]
_CALLED: Final[Mapping[str, str]] = {
    **{word: key for key in KEYS for word in key.split("_") if _WORDS.count(word) == 1},
    **{key: key for key in KEYS},
}
"""What a setting may be called by: its name, and each word of it that no other has."""


def read_settings(path: Path) -> Loaded:
    """The settings of the file at `path`; the defaults where there is none. Never raises."""
    return _loaded(read_toml(path), path.name)


def change_setting(path: Path, name: str, value: str | None) -> Loaded:
    """Set `name` to `value`, or unset it with None; the settings afterwards.

    Raises:
        GramError: `setting_unknown`, `setting_near`, `setting_bad`, `settings_write`,
            `settings_busy`. The file is as it was then.
    """
    key = key_of(name)
    try:
        checked = None if value is None else key.checked(value)
    except _REFUSALS as e:
        said = {"name": name, "found": _shown(value), "allowed": key.allowed}
        raise GramError("setting_bad", **said) from e
    return _loaded(change_toml(path, name, checked), path.name)


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


def _loaded(found: Table, file: str) -> Loaded:
    """The settings of a file, and all that is to be told of it."""
    loaded = _of(found.values, file)
    told = (*loaded.told, *_not_read(found.values, file))
    return loaded._replace(told=told if found.told is None else (found.told, *told))


def _of(table: Mapping[str, Any], file: str) -> Loaded:
    """The settings in a file's table; what is not allowed is told with the name of the file."""
    allowed: dict[str, Any] = {}
    told: list[Reason] = []
    for name in (n for n in KEYS if n in table):
        try:
            allowed[name] = KEYS[name].checked(table[name])
        except _REFUSALS:
            told.append(_bad_in_file(file, name, table[name]))
    return Loaded(Settings(**allowed), tuple(told))


def _bad_in_file(file: str, name: str, found: object) -> Reason:
    default = _DEFAULTS[getattr(Settings(), name)]
    said = {"file": file, "name": name, "found": _shown(found), "default": default}
    return Reason("setting_bad_in_file", {**said, "allowed": KEYS[name].allowed})


def _not_read(table: Mapping[str, Any], file: str) -> Iterator[Reason]:
    """What stands in the file and is no setting: what each setting may be meant by, then the rest.

    However long the file, it is a sentence for each setting and place, and one for the rest.
    """
    slips: dict[tuple[str, bool], Reason] = {}
    rest: list[str] = []
    known = {*KEYS, *_TABLES}
    unknown = ((name, value) for name, value in table.items() if name not in known)
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
    if rest:
        names = ", ".join(rest[:_MOST_NAMED]) + ", …" * (len(rest) > _MOST_NAMED)
        yield Reason(
            "settings_not_read", {"file": file, "names": names, "allowed": ", ".join(KEYS)}
        )


def _slip(file: str, name: str, section: str | None = None) -> tuple[str, Reason] | None:
    """The setting that may be meant, and what to say; None where the name is like none of them."""
    near = _nearest(name)
    if near is None:
        return None
    said: dict[str, Param] = {"file": file, "name": _cut(name), "near": near}
    if section is None:
        return near, Reason("setting_near_in_file", said)
    return near, Reason("setting_in_section", {**said, "section": _cut(section)})


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
