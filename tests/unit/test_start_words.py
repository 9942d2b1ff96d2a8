"""Where to start: each line names what it rests on, and nobody is sent to a ruined quantization."""

import pytest

from desktop.estimate.catalogue import find
from desktop.estimate.page import page_of
from desktop.estimate.quant_row import DECENT
from desktop.estimate.start_words import start_lines
from desktop.services import profiles


def page(profile, *quants, model="qwen3-30b-a3b"):
    chosen = tuple(find(quant, profile.quants) for quant in quants) or None
    return page_of(find(model, profiles.models()), profile, quants=chosen)


def named(page):
    cheapest = [found.row for found in page.start.cheapest if found.row]
    return [page.start.smallest, *cheapest]


def lines(page):
    return [" ".join(said.text() for said in line) for line in start_lines(page)]


def test_a_degraded_quantization_is_no_place_to_start():
    """An 8 GB card holds Qwen3 30B A3B at IQ1_M only: it was called the cheapest."""
    found = page(profiles.own_profile())
    assert any(row.best.quant.quality == "degraded" for row in found.rows)
    assert {row.best.quant.quality for row in named(found)} <= set(DECENT)
    assert "Only quantizations of quality acceptable or better count here." in lines(found)[-1]


def test_who_names_a_quantization_has_decided():
    found = page(profiles.own_profile(), "iq1_m")
    assert {row.best.quant.id for row in named(found)} == {"iq1_m"}
    assert "Only quantizations" not in lines(found)[-1]


def test_the_page_that_is_reproduced_counts_all():
    assert not page(profiles.compatibility_profile()).decent_only


@pytest.mark.parametrize("name", ["qwen3-30b-a3b", "llama-3.2-1b-instruct"])
def test_each_line_names_quantization_quality_context_and_back_end(name):
    found = page(profiles.own_profile(), model=name)
    told = lines(found)
    for row, line in zip(named(found), told, strict=False):
        quant = row.best.quant
        assert row.configuration.name in line
        assert f"There it takes {quant.label}, whose quality is {quant.quality}." in line
        assert f"By {row.best.target.id}, at a depth of 1,024." in line
    assert "--quant Q, --context N" in told[-1]
