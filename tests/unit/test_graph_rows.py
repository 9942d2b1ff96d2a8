"""Many equal layers in a row: a few of them tell the scratch of all, or it is said that they do not."""

import pytest

from desktop.estimate.catalogue import find
from desktop.estimate.compute import compute_bytes
from desktop.estimate.graph_rows import FEWEST, all_of, shortened
from desktop.estimate.placement import ON_HOST, ON_ONE_CARD, Placement
from desktop.estimate.scratch import Tape
from desktop.estimate.scratch_plan import plan_of
from desktop.estimate.scratch_rows import Row
from desktop.records.estimate import Use
from desktop.records.model import WeightUse
from desktop.services.profiles import models

HOST = 0
KIB = 1024
PACKING = tuple((use, 0.5625 if use is not WeightUse.OUTPUT else 0.82) for use in WeightUse)


class TestShortened:
    def test_equal_layers_are_left_out_and_others_stay(self):
        chosen = shortened([7, *[1] * 20, 2, -1], FEWEST)
        assert chosen.layers == (0, 1, 2, 3, 21, 22)
        assert chosen.ends == {1, 2, 3}
        assert chosen.rows == (Row(range(3), even=False),)

    def test_periods_of_several_layers(self):
        chosen = shortened([1, 1, 2] * 9, FEWEST)
        assert chosen.layers == tuple(range(9))
        assert chosen.ends == {2, 5, 8}

    def test_two_rows(self):
        chosen = shortened([*[1] * 9, *[2] * 9], FEWEST)
        assert [row.marks for row in chosen.rows] == [range(3), range(3, 6)]
        assert chosen.layers == (0, 1, 2, 9, 10, 11)

    @pytest.mark.parametrize("count", [3, 4])
    def test_few_layers_all_stay(self, count):
        kinds = [1] * count
        assert shortened(kinds, 4) == all_of(count)

    @pytest.mark.parametrize("count", [11, 12])
    def test_with_more_than_the_fewest_an_even_number_is_left_out(self, count):
        chosen = shortened([1] * count, FEWEST + 1)
        assert (count - len(chosen.layers)) % 2 == 0
        assert chosen.rows[0].even


def row_of(periods, period):
    """The plan of a tape of so many equal periods."""
    tape = Tape(HOST)
    node = tape.op(KIB, HOST, tape.input(KIB))
    for _ in range(periods):
        node = period(tape, node)
        tape.mark()
    tape.expand(tape.op(KIB, HOST, node))
    return plan_of(tape, rows=(Row(range(periods), even=False),))


class TestSettled:
    def test_what_ends_as_it_began_tells_of_any_number(self):
        def period(tape, node):
            wide = tape.op(8 * KIB, HOST, node)
            node = tape.op(KIB, HOST, wide)
            tape.expand(node)
            return node

        found = {row_of(periods, period).peaks({}) for periods in (4, 5, 40)}
        assert len(found) == 1
        assert found.pop() is not None

    def test_what_grows_with_each_period_tells_nothing(self):
        def period(tape, node):
            node = tape.op(KIB, HOST, node, stays=True)
            tape.expand(node)
            return node

        assert row_of(4, period).peaks({}) is None

    def test_what_is_asked_for_at_the_end_alone_tells_nothing(self):
        assert row_of(6, lambda tape, node: tape.op(KIB, HOST, node)).peaks({}) is None

    def test_inputs_of_each_period_tell_nothing(self):
        def period(tape, node):
            node = tape.op(KIB, HOST, node, tape.input(KIB))
            tape.expand(node)
            return node

        assert row_of(4, period).peaks({}) is None

    def test_copies_that_are_made_before_the_period_tell_nothing(self):
        periods, card, host = 4, 0, 1
        tape = Tape(host)
        late = [tape.op(KIB, host, tape.input(KIB)) for _ in range(periods)]
        for one in late:
            tape.expand(one)
        node = tape.op(KIB, card, tape.held(0, card))
        tape.expand(node)
        for one in late:
            node = tape.op(KIB, card, node, one)
            tape.expand(node)
            tape.mark()
        assert plan_of(tape, rows=(Row(range(periods), even=False),)).peaks({}) is None

    def test_packed_weights_are_sized_when_they_are_placed(self):
        tape = Tape(1)
        tape.expand(tape.op(KIB, 0, tape.held_packed(4 * KIB, "kind", 1)))
        plan = plan_of(tape)
        assert plan.peaks({"kind": 1.0}) == (5 * KIB, 0)
        assert plan.peaks({"kind": 0.5}) == (3 * KIB, 0)


def placements(model):
    yield ON_HOST
    yield ON_ONE_CARD
    yield Placement((1.0,), gpu_layers=model.layers // 2)
    yield Placement((1.0,), cache_on_host=True)
    yield Placement((1.0, 2.0))
    yield Placement((1.0, 2.0), gpu_layers=model.layers - 3)
    if model.is_mixture:
        yield Placement((1.0,), experts_on_host=model.layers // 2)


@pytest.mark.parametrize(
    "name",
    [
        "llama-3.1-8b-instruct", "gemma-3-4b-it", "gpt-oss-20b", "qwen3-30b-a3b", "gemma-3n-e4b-it",
        "qwen3-next-80b-a3b-instruct", "lfm2-350m", "deepseek-v2-lite-chat", "jamba-reasoning-3b",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "use", [Use(4096), Use(16_384, flash_attention=False), Use(4096, micro_batch=16)], ids=str
)
def test_a_few_of_equal_layers_take_the_scratch_of_all(name, use):
    model = find(name, models())
    assert model is not None
    for placement in placements(model):
        short = compute_bytes(model, use, placement, PACKING)
        assert short == compute_bytes(model, use, placement, PACKING, kept_periods=())
