"""Figures as the estimate's page prints them, for the terminal and the window alike."""

from desktop.records.estimate import Configuration, Interval, Speed
from desktop.sentences import figures

GIB = 2**30
GB = 10**9
_LEAST = 1e-4
"""What is written without powers of ten."""


def rate(value_tok_s: float) -> str:
    """One decimal and a thousands mark: `7,024.3`."""
    return f"{value_tok_s:,.1f}"


def span(speed: Speed) -> str:
    """Low and high: `5,092.6–7,024.3`."""  # noqa: RUF002 - the dash that is meant
    return f"{rate(speed.low_tok_s)}–{rate(speed.high_tok_s)}"  # noqa: RUF001


def figure(value: float) -> str:
    """Three significant figures, never in powers of ten: `0.0712`, `48.3`, `1,230`."""
    return figures.figure(value)


def seconds(found: Interval) -> str:
    """Low and high of a time that may be milliseconds or minutes: `0.00483–0.0130`."""  # noqa: RUF002
    return f"{figure(found.low)}–{figure(found.high)}"  # noqa: RUF001


def amount(count_bytes: float, unit_bytes: int = GB) -> str:
    """At most one decimal: `4`, `3.3`, `204.8`."""
    return _short(count_bytes / unit_bytes)


def file_size(count_bytes: float) -> str:
    """GB, as files are told; of what is less than one two figures: `16.1`, `4`, `0.098`."""
    size = count_bytes / GB
    return f"{size:.2g}" if _LEAST <= size < 1 else amount(count_bytes)


def memory(count_bytes: float, unit_bytes: int = GB) -> str:
    """With its unit: `3.3 GB`, `12 GiB`."""
    return f"{amount(count_bytes, unit_bytes)} {unit_name(unit_bytes)}"


def apart(one_bytes: int, other_bytes: int, unit_bytes: int = GB) -> tuple[str, str]:
    """Two sizes as `memory` tells them; where these are the same, with more decimals, four at most.

    "Needs 24 GiB of 24 GiB" does not say why it does not fit.
    """
    sizes = one_bytes / unit_bytes, other_bytes / unit_bytes
    texts = [tuple(map(_short, sizes))]
    texts += [tuple(f"{size:,.{places}f}" for size in sizes) for places in range(2, 5)]
    one, other = next((pair for pair in texts if pair[0] != pair[1]), texts[0])
    return f"{one} {unit_name(unit_bytes)}", f"{other} {unit_name(unit_bytes)}"


def unit_name(unit_bytes: int) -> str:
    """`GB` or `GiB`."""
    return "GiB" if unit_bytes == GIB else "GB"


def bandwidth(bytes_s: float) -> str:
    """`456 GB/s`, `204.8 GB/s`."""
    return f"{_short(bytes_s / GB)} GB/s"


def parameters(count: int) -> str:
    """`1.2 B`, `135 M`."""
    if round(count / 10**6) >= 1000:  # noqa: PLR2004 - a thousand millions
        return f"{count / 10**9:,.1f} B"
    return f"{count / 10**6:,.0f} M"


def price(value_usd: float) -> str:
    """`$249`."""
    return f"${value_usd:,.0f}"


def device(configuration: Configuration) -> tuple[str, str]:
    """A configuration's name in two: the device and its memory, `Intel Arc B580`, `12 GB`.

    The memory is empty where the name does not end with it.
    """
    words = configuration.name.split(" ")
    numbers = (i for i in range(1, len(words) - 1) if words[i + 1] == "GB" and _is_number(words[i]))
    at = next(numbers, len(words))
    return " ".join(words[:at]), " ".join(words[at:])


def _short(value: float) -> str:
    """At most one decimal; of what would round to nothing two figures."""
    text = f"{value:,.1f}".removesuffix(".0")
    return f"{value:.2g}" if text == "0" and value >= _LEAST else text


def _is_number(word: str) -> bool:
    return word.replace(".", "", 1).isdecimal()
