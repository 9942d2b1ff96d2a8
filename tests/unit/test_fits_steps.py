"""What fits, for several contexts at once; every model with a row; offload with few trials."""

from dataclasses import replace

import pytest

from desktop.estimate.catalogue import find
from desktop.estimate.fitting import Room, place
from desktop.estimate.held import held_by_layers
from desktop.estimate.memory import needs
from desktop.estimate.placement import Placement
from desktop.estimate.sizes import weights_of
from desktop.records.estimate import Use
from desktop.records.fits import Fit, FitsRequest
from desktop.services import estimate_tables
from desktop.services.estimates import FitsWork, fits_at, fits_of, models_of_a_step
from desktop.services.profiles import models
from tests.unit.test_fits import GIB, ground_with, here

USE = Use(context=4096, depth=4095)


def ground(**changes):
    return ground_with(here(**changes))


def request(context, **changes):
    made = FitsRequest(context=context, depth=context - 1, words=("smollm2",), every_model=True)
    return replace(made, **changes)


def weights(name, label):
    model, quant = find(name, models()), find(label, estimate_tables.quants())
    return model, weights_of(model, quant)


def test_several_contexts_are_as_each_alone():
    requests = [request(512), request(4096), request(8192)]
    together = fits_at(ground(), requests)
    assert list(together) == [fits_of(ground(), one) for one in requests]


def test_every_model_has_a_row_and_where_it_does_not_run_a_reason():
    found = fits_of(ground(room=Room(host_bytes=2 * GIB)), request(4096, words=("llama",)))
    asked_for = [m for m in models() if "llama" in m.id]
    assert {row.model.id for row in found.rows} >= {m.id for m in asked_for}
    assert found.hidden == 0
    large = next(row for row in found.rows if row.model.id == "llama-3.1-70b-instruct")
    assert large.fit is Fit.NOWHERE
    assert [reason.code for reason in large.estimate.reasons] == ["estimate_fits_nowhere"]


def test_a_context_beyond_the_training_has_no_number():
    found = fits_of(ground(), request(1 << 20))
    assert found.rows
    for row in found.rows:
        assert row.model.context_trained < 1 << 20
        assert row.fit is Fit.RULED_OUT
        assert row.estimate.decode is None
        assert row.estimate.need is None
        assert [r.code for r in row.estimate.reasons] == ["estimate_beyond_context"]


@pytest.mark.parametrize(
    ("count", "took_ms", "next_count"),
    [(1, 10, 10), (1, 2, 12), (1, 500, 1), (12, 1200, 1), (12, 300, 4), (4, 100, 4), (1, 0, 12)],
)
def test_a_step_is_as_many_models_as_take_a_tenth_of_a_second(count, took_ms, next_count):
    assert models_of_a_step(count, took_ms * 1_000_000) == next_count


def test_a_step_is_at_one_context_however_many_are_asked_for():
    work = FitsWork(ground(), [request(512), request(4096), request(8192)])
    assert work.go_on()
    counts = [len(fits.rows) for fits in work.answers()]
    assert counts[0] > 0
    assert counts[1:] == [0, 0]
    assert 0 < work.fraction < 1
    while work.go_on():
        pass
    assert work.fraction == 1


def test_those_that_fit_stand_first():
    found = fits_of(ground(room=Room(host_bytes=8 * GIB)), request(4096, words=("llama",)))
    fitting = [row.runs for row in found.rows]
    assert fitting == sorted(fitting, reverse=True)
    assert any(fitting)
    assert not all(fitting)


class TestHeld:
    @pytest.mark.parametrize("name", ["llama-3.1-8b-instruct", "qwen3-30b-a3b", "gemma-3-4b-it"])
    @pytest.mark.parametrize("on_host", [0, 1, 7])
    def test_sums_by_layer_are_what_memory_counts(self, name, on_host):
        model, counted = weights(name, "Q4_K_M")
        kinds = [Placement((1.0,), gpu_layers=model.layers + 1 - on_host)]
        if model.is_mixture:
            kinds.append(Placement((1.0,), experts_on_host=on_host))
        for placement in kinds:
            needed = needs(model, counted, USE, placement)
            held = held_by_layers(model, counted, USE).on_cards(model, placement)
            assert held == [need.weights_bytes + need.cache_bytes for need in needed.cards]

    @pytest.mark.parametrize(
        ("name", "label", "card"),
        [
            ("llama-3.1-8b-instruct", "Q8_0", 6),
            ("llama-3.1-70b-instruct", "Q2_K", 12),
            ("qwen3-30b-a3b", "Q4_K_M", 12),
            ("gemma-3-27b-it", "Q4_K_M", 8),
        ],
    )
    def test_offload_leaves_no_layer_behind_that_the_card_bears(self, name, label, card):
        model, counted = weights(name, label)
        room = Room((card * GIB,), 64 * GIB, overhead_bytes=400 << 20)
        placed = place(room, model, counted, USE)
        assert placed.fit is Fit.WITH_OFFLOAD
        assert placed.card_bytes <= card * GIB
        one_more = (
            replace(placed.placement, experts_on_host=placed.placement.experts_on_host - 1)
            if placed.placement.experts_on_host
            else replace(placed.placement, gpu_layers=placed.placement.gpu_layers + 1)
        )
        needed = needs(model, counted, USE, one_more)
        assert needed.cards[0].total_bytes + room.overhead_bytes > card * GIB

    def test_several_cards_share_what_they_bear(self):
        model, counted = weights("llama-3.1-70b-instruct", "Q4_K_M")
        room = Room((8 * GIB, 24 * GIB), 64 * GIB)
        placed = place(room, model, counted, USE)
        assert placed.fit is Fit.WITH_OFFLOAD
        needed = needs(model, counted, USE, placed.placement)
        assert all(
            need.total_bytes <= size for need, size in zip(needed.cards, room.cards, strict=True)
        )

    def test_offload_is_not_looked_for_unless_asked(self):
        model, counted = weights("llama-3.1-8b-instruct", "Q8_0")
        room = Room((6 * GIB,), 64 * GIB)
        assert place(room, model, counted, USE, offload=False).fit is Fit.NOWHERE
        assert place(room, model, counted, USE).fit is Fit.WITH_OFFLOAD

    def test_what_is_larger_than_all_memory_fits_nowhere_without_a_search(self):
        model, counted = weights("llama-3.1-405b-instruct", "Q8_0")
        assert place(Room((12 * GIB,), 32 * GIB), model, counted, USE).fit is Fit.NOWHERE
