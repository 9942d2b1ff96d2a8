"""Every setting: what it is, and what it may be. The one list of them; `settings` reads and keeps.

One with a dot stands in a table of the file: `builds.budget_gb` below `[builds]`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

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
_LEAST_GB: Final = 0.1
"""Less holds no build at all."""
_LEAST_USD: Final = 0.0001
"""Less is a slip of the keyboard: no hour and no kWh costs a hundredth of a cent."""
_FIGURES: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")
_YES_NO: Final = {"yes": True, "true": True, "no": False, "false": False}
_CONSENTS: Final = ("ask", "allow")
MOST_FOLDERS: Final = 100
BUILDS: Final = "builds"
"""The table of what is about builds."""
FOLDERS: Final = f"{BUILDS}.folders"
REFUSALS: Final = (ValueError, TypeError, OverflowError)
"""What a check raises where a value is not allowed."""


@dataclass(frozen=True, slots=True)
class BuildPreferences:
    """What the person set about builds."""

    folders: tuple[str, ...] = ()
    """Where they keep builds themselves, and single files of theirs, as written."""
    budget_gb: float | None = None
    """What Gram's own may take of the disk, in 10^9 bytes; None: not set."""
    limit_mb_s: float | None = None
    """What downloads may take of the connection, in 10^6 bytes a second; None: all of it."""
    metered: str = _CONSENTS[0]
    """Over a metered connection: `ask` first, or `allow` downloads."""


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
    builds: BuildPreferences = BuildPreferences()

    def value(self, name: str) -> Any:
        """What the key `name` is, of `KEYS`."""
        table, _, own = name.rpartition(".")
        return getattr(getattr(self, table) if table else self, own)


class Key(NamedTuple):
    """What one setting may be."""

    what: str
    allowed: str
    checked: Callable[[object], str | bool | float]
    """The value as kept, of a list one of them. Raises one of `REFUSALS` where that may not be."""
    most: int = 1
    """More than 1: it is a list."""


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


def _consent(value: object) -> str:
    if not isinstance(value, str) or value.strip().lower() not in _CONSENTS:
        raise ValueError(value)
    return value.strip().lower()


def _folder(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError(value)
    value.encode()  # what no file can hold is a ValueError
    return value.strip()


def _number(least: float, most: float) -> Callable[[object], float]:
    def checked(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise TypeError(value)
        if isinstance(value, str) and not _FIGURES.fullmatch(value.strip()):
            # what a keyboard's slip or another script writes is not guessed at
            raise ValueError(value)
        number = float(value)
        if not least <= number <= most:  # NaN is neither
            raise ValueError(value)
        return number + 0.0  # -0 is 0

    return checked


def _dollars(most: float) -> Callable[[object], float]:
    number = _number(0, most)

    def checked(value: object) -> float:
        dollars = number(value)
        if 0 < dollars < _LEAST_USD:
            raise ValueError(value)
        return dollars

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
    "builds.budget_gb": Key(
        "what the builds that Gram keeps may take of the disk, else half of what is free",
        "GB (of 1000 MB), from 0.1 to 1000000, as a number: 200",
        _number(_LEAST_GB, 1_000_000),
    ),
    "builds.limit_mb_s": Key(
        "how fast downloads of builds may be, else as fast as they come",
        "MB a second, from 0.01 to 1000000, with a point: 2.5",
        _number(0.01, 1_000_000),
    ),
    "builds.metered": Key(
        "whether builds are downloaded over a metered connection",
        "ask (each time, before it is used) or allow (never ask)",
        _consent,
    ),
    FOLDERS: Key(
        "your own folders and files of builds, used where they are",
        f"folders and GGUF files that are there, at most {MOST_FOLDERS}",
        _folder,
        MOST_FOLDERS,
    ),
}
TABLES: Final = frozenset(name.partition(".")[0] for name in KEYS if "." in name)
"""Tables of the file that hold settings."""
