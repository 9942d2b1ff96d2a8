"""Which quantization of a model is proposed."""

import pytest

from desktop.estimate.catalogue import find
from desktop.records.estimate import Estimate, Speed, Use
from desktop.records.fits import Fit, FitRow, FitsRequest
from desktop.services import estimate_tables
from desktop.services.estimates import fits_of
from desktop.services.profiles import models
from desktop.services.proposal import proposed
from desktop.services.written_rows import row_to_write_out
from tests.unit.test_fits import ground_with, here

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


@pytest.mark.parametrize("rates", [(), (12, 15)])
def test_of_those_that_most_publishers_make_where_one_of_them_runs(rates):
    """Else who looks at all of them is proposed another than who looks at one a model."""
    rare = row("IQ4_XS", *rates), row("Q4_K_S", *rates), row("Q5_K_S", *rates)
    assert label(*rare, row("Q4_K_M", *rates)) == "Q4_K_M"
    assert label(*rare, row("Q4_K_M", fit=Fit.NOWHERE)) in {"IQ4_XS", "Q5_K_S"}


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


@pytest.mark.parametrize("changes", [{}, {"rates": {}}])
def test_what_is_written_out_of_all_is_what_is_proposed(changes):
    ground = ground_with(here(**changes))
    words = (MODEL.id,)
    at_least = FitsRequest().at_least_tok_s
    one = [r for r in fits_of(ground, FitsRequest(words=words)).rows if r.model == MODEL]
    every = fits_of(ground, FitsRequest(words=words, all_builds=True)).rows
    written = row_to_write_out([r for r in every if r.model == MODEL], at_least)
    assert [r.quant for r in one] == [written.quant]
