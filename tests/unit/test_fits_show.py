"""What `gram fits` prints: everything that a row hints at is explained, whatever the width."""

import json
import re
from dataclasses import replace

import pytest

from desktop import cli
from desktop.cli import fits_json, fits_show
from desktop.errors import Reason
from desktop.estimate.fitting import Room
from desktop.estimate.placed_work import Sides
from desktop.records.fits import FitsRequest
from desktop.records.machine import Device, DeviceKind
from desktop.services.estimates import fits_of
from tests.unit.test_fits import GIB, SMALL, ground_with, here, side

CPU = Device("CPU", "AMD EPYC", DeviceKind.CPU, "CPU")


def ground(**changes):
    return replace(ground_with(here(**changes)), devices=(CPU,))


def unmeasured(**changes):
    return replace(ground(rates={}, **changes), parts_at=None)


def with_card(**changes):
    families = ("gguf_kquant", "gguf_legacy", "fp16", "gguf_iquant", "mxfp4")
    sides = dict.fromkeys(families, Sides((side(),), side()))
    room = Room((4 * GIB,), 32 * GIB)
    made = unmeasured(sides=sides, room=room, cards=("CUDA0",), **changes)
    return replace(made, on_card_bytes=4 * GIB, with_offload_bytes=36 * GIB)


@pytest.fixture
def printed(capsys, monkeypatch):
    def show(of, *words, width=None, **changes):
        if width is not None:
            monkeypatch.setenv("COLUMNS", str(width))
        found = fits_of(of, FitsRequest(words=words, **changes))
        fits_show.fits(found)
        return found, capsys.readouterr().out

    return show


@pytest.mark.parametrize("width", [60, 80, 120, None])
@pytest.mark.parametrize("make", [ground, unmeasured, with_card])
def test_no_line_is_longer_than_there_is_room_and_nothing_is_cut(printed, make, width):
    found, said = printed(make(), "llama", width=width)
    assert "\x1b" not in said
    assert "\N{HORIZONTAL ELLIPSIS}" not in said
    if width is not None:
        assert max(map(len, said.splitlines())) <= width
    for row in found.rows:
        assert row.model.id in said


@pytest.mark.parametrize("make", [ground, unmeasured, with_card])
def test_each_number_beside_a_tier_is_explained_once(printed, make):
    found, said = printed(make(), "llama", all_builds=True)
    codes = {reason.code for row in found.rows for reason in row.estimate.reasons}
    explained = re.findall(r"^(\d+)  \S", said, re.MULTILINE)
    assert explained == [str(number) for number in range(1, len(codes) + 1)]
    beside = re.findall(r"(?:[ABC]|none)((?: \d+)+)$", said, re.MULTILINE)
    assert len(beside) == len(found.rows)
    assert {number for told in beside for number in told.split()} == set(explained)
    for tier in {row.estimate.tier for row in found.rows} - {None}:
        assert said.count(f"Tier {tier}:") == 1


def test_a_sentence_for_many_rows_names_the_figures_of_none(printed):
    _, said = printed(ground(room=Room(host_bytes=4 * GIB)), "llama", all_builds=True)
    meanings = [line for line in said.splitlines() if re.match(r"\d+  ", line)]
    assert not any(re.search(r"Q4_K_M|\d GiB|\d GB", line) for line in meanings)


class TestBeforeTheTable:
    def test_how_to_measure_where_nothing_was(self, printed):
        _, said = printed(unmeasured(), "llama")
        assert said.index("gram fits --probe") < said.index("quantization ")
        assert "gram parts" in said
        assert "no speed is known" in said
        assert "no parts yet, 0 own runs that count" in said

    def test_parts_that_do_not_count_have_their_reason_and_not_the_advice_to_measure(self, printed):
        busy = Reason("estimate_parts_busy", {"percent": 62})
        found, said = printed(replace(ground(rates={}, why_no_sides=busy), told=(busy,)), SMALL)
        assert found.rows[0].estimate.reasons[0] == busy
        assert "not known" in said
        assert said.count("other programs took 62 % of the processors") == 2
        assert "--probe" not in said
        [told] = fits_json.fits(found)["rows"]
        assert told["reasons"][0]["text"] in " ".join(said.split())
        assert told["reasons"][0]["advice"] in " ".join(said.split())

    def test_nor_is_it_given_where_the_catalogue_gives_a_rate(self, printed):
        why = Reason("estimate_parts_no_rate")
        made = replace(with_card(why_catalogue=why), parts_at="2026-12-01T00:00:00Z")
        found, said = printed(made, SMALL)
        assert found.rows[0].estimate.decode is not None
        assert "no rate follows from the parts that were measured here" in said
        assert "--probe" not in said

    def test_without_a_rate_the_text_and_the_object_have_one_reason(self, printed):
        found, said = printed(unmeasured(), SMALL)
        [reason] = fits_json.fits(found)["rows"][0]["reasons"]
        assert f"1  {reason['text']} {reason['advice']}" in said

    def test_rates_of_the_catalogue_are_called_so(self, printed):
        _, said = printed(with_card(), SMALL)
        assert "rates are by the catalogue alone" in said

    def test_nothing_of_it_where_parts_were_measured(self, printed):
        assert "--probe" not in printed(ground(), SMALL)[1]

    def test_what_is_told_of_all_rows(self, printed):
        told = Reason("estimate_card_unused", {"cards": "RTX 3090", "backends": "processors only"})
        _, said = printed(replace(ground(), told=(told,)), SMALL)
        assert said.index("Not used: RTX 3090") < said.index("quantization ")

    def test_how_much_of_the_memory_may_be_taken(self, printed):
        _, said = printed(ground(), SMALL)
        limit = "Of the system's memory, 16 GiB, a build may take 14.4 GiB: 90 %"
        assert said.index(limit) < said.index("quantization ")

    def test_that_nothing_is_fast_enough(self, printed):
        _, said = printed(ground(), "llama-3", at_least_tok_s=1e5)
        assert "No model here reaches 100,000 tokens a second over its whole range" in said

    def test_how_many_are_fast_enough(self, printed):
        found, said = printed(ground(), "llama-3", at_least_tok_s=10)
        fast = sum(row.estimate.decode.low_tok_s >= 10 for row in found.rows)
        assert 0 < fast < len(found.rows)
        assert re.search(rf"{fast} of {len(found.rows)} models reach(es)? 10 tokens", said)
        assert "reach" not in printed(ground(), "llama-3", at_least_tok_s=0)[1]


class TestWords:
    def test_one_is_one(self, printed):
        assert "1 model, in one quantization." in printed(ground(), SMALL)[1]
        assert "1 build of 1 model: a build is" in printed(ground(), SMALL, "q4_k_m")[1]
        _, said = printed(ground(), SMALL, "llama-3.1-70b", every_model=True)
        assert "1 models" not in said

    def test_models_are_no_builds(self, printed):
        found, said = printed(ground(), "llama-3.2", all_builds=True)
        models = {row.model.id for row in found.rows}
        assert f"{len(found.rows)} builds of {len(models)} models" in said

    @pytest.mark.parametrize("make", [ground, unmeasured])
    def test_the_rule_by_which_a_quantization_was_taken_is_told(self, printed, make):
        _, said = printed(make(), "llama")
        rated = make is ground
        assert ("the best in quality whose whole range" in said) is rated
        assert ("the smallest of good quality" in said) is not rated
        assert "among those that most publishers make" in said

    def test_who_names_a_quantization_is_told_of_no_rule(self, printed):
        _, said = printed(ground(), "llama", "q4_k_m")
        assert "best in quality" not in said
        assert "most publishers" not in said

    def test_what_has_no_row_is_counted_by_its_cause(self, printed):
        found, said = printed(ground(), "llama", context=100_000)
        nowhere = found.hidden - found.beyond
        assert f"{nowhere} more models do not fit here" in said
        assert f"{found.beyond} more models are not trained for 100,000 tokens" in said

    def test_memory_is_told_in_one_unit(self, printed):
        _, said = printed(ground(), "llama")
        assert "GiB" in said
        assert not re.search(r"\d GB", said)

    def test_a_prompt_is_told_with_its_length(self, printed):
        _, said = printed(ground(), SMALL, context=8192, depth=8000)
        assert "reading a prompt of 512 tokens, from an empty cache (pp512)" in said
        assert "an answer to a prompt of 8,000 tokens begins" in said

    def test_columns_without_room_are_not_explained(self, printed):
        _, said = printed(ground(), SMALL, width=60)
        assert "from an empty cache" not in said

    def test_a_quantization_that_is_not_computed_here_has_its_reason(self, printed):
        _, said = printed(unmeasured(), "bf16")
        assert "AMD EPYC does not compute in BF16" in said
        assert "nowhere" not in said
        # measuring would change nothing of it
        assert "--probe" not in said


class TestJson:
    def test_what_has_no_row_is_told(self):
        found = fits_of(ground(), FitsRequest(words=("llama", "mxfp4"), context=100_000))
        told = fits_json.fits(found)
        assert told["hidden"] == found.hidden
        assert told["beyond"] == found.beyond
        assert [reason["code"] for reason in told["ruled_out"]] == ["estimate_mixtures_only"]

    def test_a_model_beyond_its_training_does_not_fit_nowhere(self):
        request = FitsRequest(words=("smollm2-135m",), context=100_000, every_model=True)
        [row] = fits_json.fits(fits_of(ground(), request))["rows"]
        assert row["fit"] == "ruled_out"
        assert row["decode"] is None


@pytest.mark.engine
def test_who_names_what_does_not_fit_is_told_why(home, capsys):
    assert cli.main(["fits", "llama-3.1-405b", "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert row["fit"] == "nowhere"
    assert row["reasons"][0]["text"]
