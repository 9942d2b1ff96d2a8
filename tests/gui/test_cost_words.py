"""The window's words for what a million tokens cost."""

import pytest

from desktop.records.cost import Costs, HourlyRate, Price, RateBasis
from desktop.rules.price import RENT_ALONE, WHOLE_ALONE
from desktop.ui import cost_words
from tests.gui import demo


@pytest.mark.parametrize(
    ("basis", "left_out"), [(RateBasis.RENTED, RENT_ALONE), (RateBasis.OWNED, WHOLE_ALONE)]
)
def test_what_a_price_leaves_out_is_named(qapp, basis, left_out):
    costs = Costs(Price(1.5, HourlyRate(0.5, basis)), None, None, None, None)
    assert cost_words.price(costs).endswith(f"). {left_out}")


def test_a_rate_card_has_both_parts_in_it(qapp):
    assert cost_words.price(demo.costs_known().costs).endswith("an hour (default rate card)")
