"""What the moving line says of a download."""

import pytest

from desktop.cli import fetch_line
from desktop.records.offers import FetchState, FetchStep


@pytest.mark.parametrize(
    ("left_s", "told"), [(12.4, True), (1.0, True), (0.6, False), (0.0, False)]
)
def test_less_than_a_second_is_no_time_to_tell(left_s, told):
    said = fetch_line._live(FetchStep("x", FetchState.FETCHING, 93, 100, 1e6, left_s))
    assert ("left" in said) is told
    assert "93 B of 100 B  1.00 MB/s" in said


def test_every_state_has_words():
    assert set(fetch_line._WORDS) == set(FetchState)
