"""What the person set: `settings.toml`, flat.

A file that is no TOML is set aside (`toml_file`); a value that is not allowed is left out. The
person is told of both by a `Reason`. Comments, and keys of a newer Gram, are kept.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from desktop.errors import GramError, Reason
from desktop.toml_file import Value, change_toml, read_toml

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
"""Characters of a wrong value."""
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


def read_settings(path: Path) -> Loaded:
    """The settings of the file at `path`; the defaults where there is none. Never raises."""
    found = read_toml(path)
    loaded = _of(found.values, path.name)
    return loaded if found.told is None else loaded._replace(told=(found.told, *loaded.told))


def change_setting(path: Path, name: str, value: str | None) -> Loaded:
    """Set `name` to `value`, or unset it with None; the settings afterwards.

    Raises:
        GramError: `setting_unknown`, `setting_bad`, `settings_write`. The file is as it was then.
    """
    key = key_of(name)
    try:
        checked = None if value is None else key.checked(value)
    except _REFUSALS as e:
        said = {"name": name, "found": _shown(value), "allowed": key.allowed}
        raise GramError("setting_bad", **said) from e
    found = change_toml(path, name, checked)
    settings, _ = _of(found.values, path.name)
    return Loaded(settings, () if found.told is None else (found.told,))


def key_of(name: str) -> Key:
    """The key of that name.

    Raises:
        GramError: `setting_unknown`.
    """
    if name not in KEYS:
        raise GramError("setting_unknown", name=name, allowed=", ".join(KEYS))
    return KEYS[name]


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


def _shown(value: object) -> str:
    """As it stands in the file, a long one cut."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
