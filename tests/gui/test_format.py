"""Numbers, times and dates as people read them."""

import os
import time

import pytest
from PySide6.QtCore import QLocale

from desktop.ui import format as fmt


@pytest.fixture(autouse=True)
def english(qapp):
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom))
    yield
    QLocale.setDefault(before)


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (312.2, "312"),
        (48.31, "48.3"),
        (0.7123, "0.712"),
        (1234.5, "1,230"),
        (9.999, "10.0"),
        (99.96, "100"),
        (0.0004567, "0.000457"),
        (0, "0"),
        (float("inf"), fmt.DASH),
        (float("nan"), fmt.DASH),
    ],
)
def test_three_significant_figures(value, shown):
    assert fmt.number(value) == shown


def test_follows_the_locale():
    QLocale.setDefault(QLocale(QLocale.Language.German, QLocale.Country.Germany))
    assert plain(fmt.rate(48.31)) == "48,3 tok/s"
    assert fmt.number(1234) == "1.230"


def test_units():
    assert plain(fmt.rate(48.31)) == "48.3 tok/s"
    assert plain(fmt.spread(0.0121)) == "± 1.2 %"
    assert plain(fmt.watts(34.52)) == "34.5 W"
    assert plain(fmt.energy(0.7123)) == "0.712 J/token"


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (98_362_432, "98.4 MB"),
        (8_336_000_000, "8.34 GB"),
        (1_500_000_000_000, "1.50 TB"),
        (512, "512 B"),
    ],
)
def test_sizes_are_decimal(count, shown):
    assert plain(fmt.size(count)) == shown


@pytest.mark.parametrize(
    ("left_s", "shown"),
    [
        (3, "a few seconds left"),
        (41.7, "about 40 s left"),
        (89, "about 90 s left"),
        (118, "about 2 min left"),
    ],
)
def test_time_left_is_coarse(left_s, shown):
    assert fmt.time_left(left_s) == shown


def test_date_is_local(monkeypatch):
    monkeypatch.setenv("TZ", "Etc/GMT-5")
    time.tzset()
    try:
        assert plain(fmt.date("2025-03-14T23:26:53Z")) == "15/03/2025 04:26"
    finally:
        monkeypatch.undo()
        os.environ.setdefault("TZ", "UTC")
        time.tzset()


def test_what_is_no_date_is_shown_as_it_is():
    assert fmt.date("yesterday") == "yesterday"


def test_missing_is_the_dash():
    assert fmt.or_dash(None, fmt.rate) == fmt.DASH
    assert plain(fmt.or_dash(2.0, fmt.rate)) == "2.00 tok/s"


def test_counts_and_keys():
    assert plain(fmt.repetitions(1)) == "1 repetition"
    assert plain(fmt.repetitions(12)) == "12 repetitions"
    assert fmt.short_key("00" * 29 + "acbe75") == "·acbe75"


@pytest.mark.parametrize(
    ("gib", "said"),
    [
        (8, "8 GiB"),
        (15.62, "15.6 GiB"),
        (107.5, "107.5 GiB"),
        (0.5, "0.5 GiB"),
        (50 / 1024, "50 MiB"),
        (1e-6, "1,074 B"),
        (0, "0 B"),
    ],
)
def test_memory_is_binary(gib, said):
    assert plain(fmt.memory(round(gib * 2**30))) == said
