"""Our own profile: what it does better than the page that it is compared with."""

from dataclasses import replace

import pytest

from desktop.errors import GramError
from desktop.estimate import reasons
from desktop.estimate.assess import option_estimate
from desktop.estimate.cache import cache_read_bytes
from desktop.estimate.catalogue import find
from desktop.estimate.device_page import device_page_of
from desktop.estimate.fitting import Room
from desktop.estimate.here import Here, rows_here
from desktop.estimate.page import page_of, position_of
from desktop.estimate.placed_work import Side, Sides
from desktop.estimate.profile import ProfileId
from desktop.estimate.profile import Side as Memory
from desktop.estimate.ranking import choose, options
from desktop.estimate.sheet import sheet_of, use_at
from desktop.estimate.speed import decode_speed
from desktop.estimate.targets import efficiency_of, targets_for
from desktop.estimate.token_work import Asked
from desktop.estimate.work import device_work
from desktop.records.estimate import Tier
from desktop.records.model import SizeBasis
from desktop.services import profiles


@pytest.fixture(scope="module")
def gram():
    return profiles.own_profile()


def model(name):
    return find(name, profiles.models())


def device(profile, name):
    return find(name, profile.configurations)


@pytest.fixture(scope="module")
def page(gram):
    return page_of(model("llama-3.1-8b-instruct"), gram, profiles.models())


def test_no_bf16_where_the_device_has_none(gram):
    """The page that is reproduced offers a Tesla P40 bf16; it has no such arithmetic."""
    sheet = sheet_of(model("llama-3.2-1b-instruct"), gram, 1024)
    found = device_page_of(sheet, device(gram, "tesla-p40-24gb"))
    assert found.choice.best.quant.id == "fp16"
    row = next(row for row in found.quants if row.quant.id == "bf16")
    assert row.reason.code == "estimate_no_arithmetic"
    page = profiles.compatibility_profile()
    theirs = choose(sheet_of(sheet.model, page, 1024), device(page, "tesla-p40-24gb"))
    assert theirs.best.quant.id == "bf16"


def test_bf16_is_offered_only_to_devices_that_compute_it(page):
    offered = {row.configuration for row in page.rows if row.best.quant.id == "bf16"}
    assert offered
    assert all(configuration.bf16 for configuration in offered)


def test_fixed_times_are_calibrated_and_not_zero(gram):
    for target in gram.targets:
        for _, efficiency in target.efficiencies:
            assert efficiency.layer_s.low > 0, target.id


def test_the_basis_of_a_size_is_named(gram, page):
    """A file goes before the tensors, and those before bits per weight."""
    by_id = {row.quant.id: row for row in page.sizes}
    assert by_id["q4_k_m"].weights.basis is SizeBasis.TENSORS
    assert by_id["fp8"].weights.basis is SizeBasis.BITS
    codes = {"q4_k_m": "estimate_size_tensors", "fp8": "estimate_size_bits"}
    row = page.rows[0]
    for quant, code in codes.items():
        weights = by_id[quant].weights
        told = reasons.of_range(
            page.model, by_id[quant].quant, weights, row.best.target, row.best.efficiency
        )
        assert told[-1].code == code
    exact = replace(by_id["q4_k_m"].weights, basis=SizeBasis.EXACT)
    told = reasons.of_range(
        page.model, by_id["q4_k_m"].quant, exact, row.best.target, row.best.efficiency
    )
    assert told[-1].code == "estimate_size_exact"


def test_bits_per_weight_are_the_current_ones(gram):
    ours = {quant.id: quant.bits_per_weight for quant in gram.quants}
    assert ours["q4_k_m"] == 4.8944
    assert ours["iq4_nl"] == 4.6818
    theirs = {quant.id: quant for quant in profiles.compatibility_profile().quants}
    assert set(theirs) <= set(ours)
    assert {q.id: (q.quality, q.rank) for q in gram.quants if q.id in theirs} == {
        q.id: (q.quality, q.rank) for q in theirs.values()
    }


def test_a_row_is_what_the_one_law_of_speed_says(gram, page):
    """The page, the window and one estimate at a time cannot differ: it is the same function."""
    use = use_at(page.model, 1024)
    for row in page.rows[::40]:
        target = targets_for(row.configuration, gram.targets)[0]
        efficiency = efficiency_of(target, row.best.quant)
        read = cache_read_bytes(page.model, use)
        work = device_work(page.model, row.best.weights, read, row.configuration, efficiency)
        assert decode_speed([work]) == row.speed
        assert row.best.target == target


def test_every_range_is_below_its_ceiling_and_stated_at_a_depth(page):
    assert page.rows
    for row in page.rows:
        assert 0 < row.speed.low_tok_s < row.speed.high_tok_s < row.speed.ceiling_tok_s
        assert row.speed.ceiling_tok_s < row.weights_ceiling_tok_s
        assert row.best.need.total_bytes == row.best.need_bytes <= row.configuration.usable_bytes
        assert row.estimate.use.depth == 1024
        assert row.estimate.tier is Tier.C
        assert {r.code for r in row.estimate.reasons} <= set(reasons.LABELS)


def test_the_choice_is_the_best_that_fits(gram):
    """Worked out again the slow way, for every device."""
    sheet = sheet_of(model("qwen3-30b-a3b"), gram, 1024)
    for configuration in gram.configurations:
        fitting = [row for row in device_page_of(sheet, configuration).quants
                   if row.option and row.option.fits]  # fmt: skip
        best = max(fitting, key=lambda row: row.quant.rank, default=None)
        chosen = choose(sheet, configuration).best
        assert (chosen.quant.rank if chosen else None) == (best.quant.rank if best else None)


def test_what_a_processor_and_a_shared_memory_need(gram):
    """A card's host part is not its own; a chip's is; a processor has all of it."""
    sheet = sheet_of(model("llama-3.1-8b-instruct"), gram, 1024)
    quant, weights = next(row for row in sheet.weights if row[0].id == "q4_k_m")
    card, shared, host = (sheet.need(quant, weights, side)[1] for side in Memory)
    assert card < shared
    assert weights.capacity_bytes < host
    assert card < weights.capacity_bytes + sheet.cache_read_bytes + (1 << 30)


def test_the_layers_add_up_to_the_whole(gram, page):
    sheet = page.sheet
    found = device_page_of(sheet, device(gram, "geforce-rtx-3090-24gb"))
    weights = next(row.weights for row in found.quants if row.quant.id == found.shown.id)
    assert sum(row.weight_bytes for row in found.layers) == weights.capacity_bytes
    assert sum(row.read_bytes for row in found.layers) == weights.active_bytes
    assert sum(row.cache_read_bytes for row in found.layers) == sheet.cache_read_bytes


def test_a_model_of_unknown_architecture_has_a_reason_and_no_number(gram):
    odd = replace(model("llama-3.2-1b-instruct"), architecture="never-heard-of")
    page = page_of(odd, gram)
    assert not page.rows
    assert page.start.smallest is None
    codes = {row.reason.code for row in page.without}
    assert codes == {"architecture_unknown"}


@pytest.mark.parametrize("position", [-1, (1 << 24) + 1])
def test_an_absurd_context_is_refused(gram, position):
    with pytest.raises(GramError) as caught:
        page_of(model("llama-3.2-1b-instruct"), gram, position=position)
    assert caught.value.code == "bad_number"


@pytest.mark.parametrize("entry", profiles.models()[::4], ids=lambda entry: entry.id)
def test_every_model_has_a_page_under_both_profiles(entry):
    for profile_id in ProfileId:
        page = page_of(entry, profiles.profile(profile_id))
        known = len(page.rows) + len(page.without)
        assert known == len(page.profile.configurations)
        assert page.rows or profile_id is ProfileId.PAGE
        highs = [row.speed.high_tok_s for row in page.rows]
        assert highs == sorted(highs, reverse=True)
        assert page.sheet.use.depth == min(position_of(entry, None), entry.context_trained - 1)


@pytest.mark.parametrize("name", ["llama-3.1-8b-instruct", "qwen3-30b-a3b", "gemma-3-4b-it"])
@pytest.mark.parametrize("depth", [0, 1024, 6000])
def test_a_card_here_and_the_same_in_the_catalogue_have_the_same_ranges(gram, name, depth):
    """Decode at the depth, a prompt of 512 tokens from an empty cache, and the first token."""
    card = device(gram, "geforce-rtx-3090-24gb")
    sheet = sheet_of(model(name), gram, depth)
    wanted = next(o for o in options(sheet, card) if o.quant.id == "q4_k_m")
    here = Here(
        name=card.name,
        room=Room(cards=(card.usable_bytes,), host_bytes=64 << 30),
        cards=("CUDA0",),
        bandwidths={"CUDA0": card.bandwidth_bytes_s},
        sides={wanted.quant.family: Sides((Side(card, wanted.efficiency),))},
    )
    (row,) = rows_here(here, [Asked(sheet.model, wanted.quant, wanted.weights)], sheet.use)
    theirs = option_estimate(sheet, card, wanted)
    assert row.estimate.tier is theirs.tier is Tier.C
    for told in ("low_tok_s", "high_tok_s", "ceiling_tok_s"):
        for rate in ("decode", "prompt"):
            mine = getattr(getattr(row.estimate, rate), told)
            assert mine == pytest.approx(getattr(getattr(theirs, rate), told), rel=1e-9)
    first = row.estimate.first_token_s
    assert (first.low, first.high) == pytest.approx(
        (theirs.first_token_s.low, theirs.first_token_s.high), rel=1e-9
    )


def test_related_models_are_of_the_family_first(page):
    assert page.related[0].family == page.model.family
    assert page.model.id not in {other.id for other in page.related}
    assert len({other.id for other in page.related}) == len(page.related) == 8
