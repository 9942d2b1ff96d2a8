"""One meaning of the prompt's rate, whatever the context: 512 tokens from an empty cache."""

from dataclasses import replace

import pytest

from desktop.estimate.evidence import PROMPT as MEASURED_PROMPT
from desktop.estimate.fitting import Room
from desktop.estimate.here import PROMPT, rows_here
from desktop.estimate.placed_work import Sides, placed_work
from desktop.estimate.placement import Placement
from desktop.estimate.sheet import PROMPT as PAGE_PROMPT
from desktop.estimate.sheet import sheet_of
from desktop.estimate.speed import first_token, prompt_speed
from desktop.records.estimate import Tier, Use
from desktop.services.profiles import own_profile
from tests.unit.test_fits import GIB, asked, here, side


def at(depth, **changes):
    [row] = rows_here(here(**changes), [asked()], Use(context=131_072, depth=depth))
    return row.estimate


def catalogue():
    return {"rates": {}, "sides": {"gguf_kquant": Sides((), side())}}


def test_all_rooms_mean_the_same_prompt():
    assert PROMPT == PAGE_PROMPT == MEASURED_PROMPT == 512


@pytest.mark.parametrize("told", [{}, catalogue()], ids=["parts", "catalogue"])
def test_the_prompts_rate_does_not_go_with_the_depth(told):
    short, usual, long = (at(depth, **told) for depth in (0, 512, 100_000))
    assert short.prompt == usual.prompt == long.prompt
    assert short.decode.high_tok_s > long.decode.high_tok_s


@pytest.mark.parametrize("told", [{}, catalogue()], ids=["parts", "catalogue"])
def test_the_first_token_waits_for_the_whole_prompt(told):
    usual, long = at(512, **told), at(100_000, **told)
    # attention grows with the prompt: longer than in proportion
    assert long.first_token_s.low > usual.first_token_s.low * 100_000 / 512


@pytest.mark.parametrize("told", [{}, catalogue()], ids=["parts", "catalogue"])
def test_with_nothing_before_it_the_prompt_is_one_token(told):
    none, one, usual = (at(depth, **told) for depth in (0, 1, 512))
    assert none.first_token_s.high == pytest.approx(one.first_token_s.high, rel=0.01)
    assert none.first_token_s.high < usual.first_token_s.high / 10
    # the prompt's token costs what a generated one does: about two of them
    assert none.first_token_s.low < 2.1 / none.decode.high_tok_s
    assert none.first_token_s.high > 1.9 / none.decode.low_tok_s


@pytest.mark.parametrize("told", [{}, catalogue()], ids=["parts", "catalogue"])
def test_no_first_token_comes_before_its_weights_are_read(told):
    # once for the prompt, once for the token
    least_s = 2 / at(0, **told).decode.ceiling_tok_s
    for depth in (1, 16, 64):
        assert at(depth, **told).first_token_s.low > 0.9999 * least_s


def test_it_is_that_of_the_models_page():
    of = asked()
    one = side()
    sheet = sheet_of(of.model, own_profile(), 1024, (of.quant,))
    works = sheet.works(of.quant, of.weights, one.configuration, one.efficiency)
    found = at(1024, **catalogue())
    expected = prompt_speed([works.prompt], PAGE_PROMPT)
    assert found.prompt.low_tok_s == pytest.approx(expected.low_tok_s)
    assert found.prompt.high_tok_s == pytest.approx(expected.high_tok_s)
    whole = first_token([works.whole], [works.token], 1024)
    assert found.first_token_s.low == pytest.approx(whole.low)
    assert found.first_token_s.high == pytest.approx(whole.high)


def test_with_offload_too():
    of = asked("llama-3.1-8b-instruct")
    sides = Sides((side(),), side())
    told = {
        "rates": {}, "room": Room((3 * GIB,), 64 * GIB), "cards": ("CUDA0",),
        "sides": {"gguf_kquant": sides},
    }  # fmt: skip
    use = Use(context=32_768, depth=32_000)
    [row] = rows_here(here(**told), [of], use)
    assert row.estimate.tier is Tier.C
    placement = Placement((float(3 * GIB),), gpu_layers=row.gpu_layers)
    usual = placed_work(of.model, of.weights, replace(use, depth=512), placement, sides)
    assert row.estimate.prompt == prompt_speed(usual.prompt)
