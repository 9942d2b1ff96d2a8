"""Which quantization of a model is proposed."""

import pytest

from desktop.estimate.catalogue import find
from desktop.records.estimate import Estimate, Speed, Use
from desktop.records.fits import Fit, FitRow
from desktop.services import estimate_tables
from desktop.services.profiles import models
from desktop.services.proposal import proposed

MODEL = find("llama-3.1-8b-instruct", models())


def row(label, low=None, high=None, fit=Fit.IN_MEMORY):
    quant = find(label, estimate_tables.quants())
    speed = None if low is None else Speed(low, high, 2 * high)
    estimate = Estimate(MODEL.id, quant.id, "here", None, Use(4096), decode=speed)
    return FitRow(MODEL, quant, fit, estimate, round(quant.bits_per_weight * 1e9))


def label(*rows, at_least=10.0):
    return proposed(rows, at_least).quant.label


def test_the_best_quality_that_is_fast_enough():
    rows = row("Q8_0", 8, 12), row("Q6_K", 11, 15), row("Q4_K_M", 14, 19)
    assert label(*rows) == "Q6_K"
    assert label(*rows, at_least=12) == "Q4_K_M"
    assert label(*rows, at_least=5) == "Q8_0"


def test_where_none_is_fast_enough_the_fastest():
    assert label(row("Q8_0", 1, 1.5), row("Q6_K", 2, 2.5), row("Q4_K_M", 3, 4)) == "Q4_K_M"


def test_among_ranges_that_overlap_the_fastests_the_best_quality():
    assert label(row("Q8_0", 1, 2.9), row("Q6_K", 2, 3.2), row("Q4_K_M", 3, 4)) == "Q6_K"


def test_no_quality_is_given_up_for_speed_beyond_acceptable():
    assert label(row("Q4_K_M", 3, 4), row("Q2_K", 12, 14)) == "Q4_K_M"
    assert label(row("Q2_K", 12, 14)) == "Q2_K"


@pytest.mark.parametrize(
    ("there", "taken"),
    [
        (("FP16", "Q8_0", "Q5_K_M", "Q4_K_M", "Q4_0", "Q2_K"), "Q4_K_M"),
        (("FP16", "Q8_0"), "Q8_0"),
        (("Q4_0", "Q3_K_M"), "Q4_0"),
        (("Q2_K",), "Q2_K"),
    ],
)
def test_where_no_rate_is_known_the_smallest_of_good_quality(there, taken):
    assert label(*map(row, there)) == taken


def test_what_has_a_rate_goes_before_what_has_none():
    assert label(row("Q8_0"), row("Q4_K_M", 3, 4)) == "Q4_K_M"


def test_the_best_place_goes_first():
    card, offload = row("Q4_0", 3, 4, Fit.ON_CARD), row("Q8_0", 30, 40, Fit.WITH_OFFLOAD)
    assert label(offload, card) == "Q4_0"


def test_what_is_decent_with_offload_goes_before_what_is_worse_on_the_card():
    card, offload = row("Q2_K", 30, 40, Fit.ON_CARD), row("Q4_K_M", 3, 4, Fit.WITH_OFFLOAD)
    assert label(card, offload) == "Q4_K_M"


def test_nothing_is_proposed_of_what_does_not_run():
    assert proposed([row("Q8_0", fit=Fit.NOWHERE), row("Q4_0", fit=Fit.RULED_OUT)], 10) is None
