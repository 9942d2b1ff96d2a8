"""Numbers, units, times and dates as people read them, by the system's locale.

A missing value is the dash. Rates and energies have three significant figures: the spread of a
run seldom allows a fourth. Sizes of files are decimal (1 GB is 10⁹ bytes), as in file listings;
memory is binary (1 GiB is 2³⁰ bytes).
"""

import math
import re
from collections.abc import Callable
from typing import Final, TypeVar

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale, Qt

DASH: Final = "\N{EN DASH}"
_NBSP: Final = "\N{NO-BREAK SPACE}"
_FIGURES: Final = 3
_BINARY_UNITS: Final = ((2**30, "GiB"), (2**20, "MiB"))
_UNITS: Final = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
_MINUTE_S: Final = 60
_FEW_S: Final = 8
_ROUND_S: Final = 90

T = TypeVar("T")


def or_dash(value: T | None, form: Callable[[T], str]) -> str:
    """`form(value)`, or the dash where there is no value."""
    return DASH if value is None else form(value)


def number(value: float) -> str:
    """Three significant figures: `312`, `48.3`, `0.712`, `1,230`."""
    if value == 0 or not math.isfinite(value):
        return QLocale().toString(0) if value == 0 else DASH
    exponent = math.floor(math.log10(abs(value)))
    rounded = round(float(value), _FIGURES - 1 - exponent)
    exponent = math.floor(math.log10(abs(rounded)))
    return QLocale().toString(rounded, "f", max(0, _FIGURES - 1 - exponent))


def with_unit(value: float, unit: str) -> str:
    """The number and its unit, kept on one line."""
    return f"{number(value)}{_NBSP}{unit}"


def rate(tok_s: float) -> str:
    """`48.3 tok/s`."""
    return with_unit(tok_s, "tok/s")


def spread(fraction: float) -> str:
    """`± 1.2 %` of a fraction, 0.012."""
    return f"±{_NBSP}{QLocale().toString(100.0 * fraction, 'f', 1)}{_NBSP}%"


def size(count_bytes: int) -> str:
    """`98.4 MB`."""
    for factor, unit in _UNITS:
        if count_bytes >= factor:
            return with_unit(count_bytes / factor, unit)
    return f"{QLocale().toString(count_bytes)}{_NBSP}B"


def memory(count_bytes: int) -> str:
    """`8 GiB`, `15.6 GiB`: memory is built and sold in binary sizes.

    What would round to none is in a smaller unit: `50 MiB`.
    """
    for factor, unit in _BINARY_UNITS:
        tenths = round(count_bytes / factor, 1)
        if tenths:
            return (
                f"{QLocale().toString(tenths, 'f', 0 if tenths.is_integer() else 1)}{_NBSP}{unit}"
            )
    return f"{QLocale().toString(count_bytes)}{_NBSP}B"


def watts(watts_w: float) -> str:
    """`34.5 W`."""
    return with_unit(watts_w, "W")


def energy(per_token_j: float) -> str:
    """`0.712 J/token`."""
    return with_unit(per_token_j, "J/token")


def time_left(left_s: float) -> str:
    """`about 40 s left`: coarse on purpose, an estimate that jumps by the second is no help."""
    if left_s < _FEW_S:
        return _tr("a few seconds left")
    if left_s < _ROUND_S:
        return _tr("about {seconds} s left").format(seconds=5 * round(left_s / 5))
    return _tr("about {minutes} min left").format(minutes=round(left_s / _MINUTE_S))


def date(at: str) -> str:
    """Local date and time, short, of RFC 3339 text; the text itself when it is no date."""
    moment = QDateTime.fromString(at, Qt.DateFormat.ISODate)
    if not moment.isValid():
        return at
    return QLocale().toString(moment.toLocalTime(), QLocale.FormatType.ShortFormat)


def repetitions(count: int) -> str:
    """`12 repetitions`."""
    if count == 1:
        return _tr("1 repetition").replace(" ", _NBSP)
    words = QCoreApplication.translate("Format", "%n repetitions", "", count)
    return words.replace(" ", _NBSP)


def breakable(name: str) -> str:
    """The name with places where a line may end: names of builds are long and have no spaces."""
    return re.sub(r"([_./:])", "\\1\N{ZERO WIDTH SPACE}", name)


def short_key(key_id: str) -> str:
    """`·acbe75`: a machine's short id."""
    return f"·{key_id[-6:]}"


def _tr(text: str) -> str:
    return QCoreApplication.translate("Format", text)
