"""All estimates at once are the estimates one at a time, and those of a device's own page."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from desktop import resources
from desktop.errors import GramError
from desktop.estimate.assess import option_estimate
from desktop.estimate.bulk import asked, bulk
from desktop.estimate.cache import cache_read_bytes
from desktop.estimate.catalogue import (
    DEVICES,
    MODELS,
    QUANTS,
    read_configurations,
    read_models,
    read_quants,
)
from desktop.estimate.ranking import options
from desktop.estimate.sheet import sheet_of
from desktop.estimate.sizes import weights_of
from desktop.estimate.speed import decode_speed
from desktop.estimate.targets import RESOURCE, efficiency_of, read_targets, targets_for
from desktop.estimate.work import device_work
from desktop.records.estimate import Use
from desktop.services import profiles

GRAM = profiles.own_profile()
MODEL_LIST = read_models(resources.text(MODELS))
QUANT_LIST = read_quants(resources.text(QUANTS))
CONFIGURATIONS = read_configurations(resources.text(DEVICES))
TARGETS = read_targets(resources.text(RESOURCE))
USE = Use(context=16_384, depth=3000)
SAMPLE = 400
MODELS_LOOKED_AT, ROWS_OF_A_MODEL = 60, 30
MOST_DIFFERING = 0.01
"""The documented share of answers about fitting that the coarser count of memory changes."""


@pytest.fixture(scope="module")
def table():
    return asked(MODEL_LIST, QUANT_LIST)


def trained(model):
    return model.context_trained or 1 << 30


def one_at_a_time(model, quant, configuration, use):
    """By the law alone; what is offered at all is decided by hand here."""
    efficiency = efficiency_of(targets_for(configuration, TARGETS)[0], quant)
    dense = not any(group.experts for group in model.groups)
    if efficiency is None or (quant.id == "mxfp4" and dense):
        return None
    if (quant.id == "bf16" and not configuration.bf16) or trained(model) < use.context:
        return None
    weights = weights_of(model, quant)
    try:
        cached = cache_read_bytes(model, use)
        return decode_speed([device_work(model, weights, cached, configuration, efficiency)])
    except GramError:
        return None


@pytest.mark.parametrize("depth", [0, 3000])
def test_the_same_numbers_as_one_at_a_time(table, depth):
    use = replace(USE, depth=depth)
    found = bulk(table, CONFIGURATIONS, TARGETS, use)
    rng = random.Random(depth)
    nothing = 0
    for _ in range(SAMPLE):
        i, j, k = (rng.randrange(n) for n in found.low_tok_s.shape)
        speed = one_at_a_time(MODEL_LIST[i], QUANT_LIST[j], CONFIGURATIONS[k], use)
        here = found.low_tok_s[i, j, k], found.high_tok_s[i, j, k], found.ceiling_tok_s[i, j, k]
        if speed is None:
            nothing += 1
            assert all(math.isnan(value) for value in here)
            continue
        wanted = speed.low_tok_s, speed.high_tok_s, speed.ceiling_tok_s
        assert here == pytest.approx(wanted, rel=1e-12)
    assert 0 < nothing < SAMPLE / 2


def options_of(sheet, configuration):
    try:
        return {option.quant.id: option for option in options(sheet, configuration)}
    except GramError:
        return {}


@pytest.mark.parametrize("position", [0, 1024, 30_000])
def test_a_devices_own_page_says_the_same(table, position):
    """What is offered, the range, and memory but for what is documented, all over the catalogue."""
    found = bulk(table, GRAM.configurations, GRAM.targets, Use(position + 1, position))
    rng, fits, differing = random.Random(position), 0, 0
    longer = [i for i, model in enumerate(MODEL_LIST) if trained(model) > position]
    for i in rng.sample(longer, MODELS_LOOKED_AT):
        sheet = sheet_of(MODEL_LIST[i], GRAM, position)
        for _ in range(ROWS_OF_A_MODEL):
            k, j = rng.randrange(len(GRAM.configurations)), rng.randrange(len(QUANT_LIST))
            option = options_of(sheet, GRAM.configurations[k]).get(QUANT_LIST[j].id)
            check_cell(found, (i, j, k), sheet, option)
            fits += option is not None and option.fits
            differing += found.fits[i, j, k] != (option is not None and option.fits)
    looked_at = MODELS_LOOKED_AT * ROWS_OF_A_MODEL
    assert 0.1 < fits / looked_at < 0.9
    assert differing <= MOST_DIFFERING * looked_at


def check_cell(found, at, sheet, option):
    """One quantization on one device, in the table and on the device's page."""
    rates = [float(a[at]) for a in (found.low_tok_s, found.high_tok_s, found.ceiling_tok_s)]
    if option is None:
        assert all(map(math.isnan, (*rates, found.needed_bytes[at])))
        assert not found.fits[at]
        return
    device = GRAM.configurations[at[2]]
    speed = option_estimate(sheet, device, replace(option, fits=True)).decode
    assert (speed is None) == (device.bandwidth_bytes_s is None)
    wanted = (speed.low_tok_s, speed.high_tok_s, speed.ceiling_tok_s) if speed else (math.nan,) * 3
    assert rates == pytest.approx(wanted, rel=1e-12, nan_ok=True)
    bare = option.bare
    placed = bare.weights_bytes - option.weights.capacity_bytes
    left_out = bare.compute_bytes + bare.output_bytes + placed
    assert found.needed_bytes[at] + left_out == pytest.approx(option.need_bytes, rel=1e-12)


def test_what_the_caller_adds_is_needed_besides(table):
    extra = [1e9 * (i % 7) for i in range(len(MODEL_LIST))]
    found = bulk(table, CONFIGURATIONS, TARGETS, USE, extra)
    bare = bulk(table, CONFIGURATIONS, TARGETS, USE)
    more = found.needed_bytes - bare.needed_bytes
    known = ~np.isnan(more)
    assert known.any()
    assert np.abs(more - np.array(extra)[:, None, None])[known].max() < 1
    usable = np.array([c.usable_bytes for c in CONFIGURATIONS])
    assert (found.fits == (found.needed_bytes <= usable)).all()
    assert 0.1 < found.fits.mean() < bare.fits.mean() < 0.99


def test_bf16_has_no_number_where_no_arithmetic_is(table):
    found = bulk(table, CONFIGURATIONS, TARGETS, USE)
    bf16 = next(j for j, quant in enumerate(QUANT_LIST) if quant.id == "bf16")
    without = np.array([not c.bf16 for c in CONFIGURATIONS])
    assert 0 < without.sum() < len(CONFIGURATIONS)
    for told in (found.low_tok_s, found.high_tok_s, found.ceiling_tok_s, found.needed_bytes):
        assert np.isnan(told[:, bf16, without]).all()
        assert not np.isnan(told[:, bf16, ~without]).all()
    assert not found.fits[:, bf16, without].any()


def test_mxfp4_has_no_number_for_dense_models(table):
    found = bulk(table, CONFIGURATIONS, TARGETS, USE)
    mxfp4 = next(j for j, quant in enumerate(QUANT_LIST) if quant.id == "mxfp4")
    known = ~np.isnan(found.needed_bytes[:, mxfp4]).all(axis=1)
    assert known.any()
    assert all(model.is_mixture for model, yes in zip(MODEL_LIST, known, strict=True) if yes)


def test_no_number_beyond_what_a_model_is_trained_for(table):
    found = bulk(table, CONFIGURATIONS, TARGETS, USE)
    short = [i for i, m in enumerate(MODEL_LIST) if trained(m) < USE.context]
    assert 0 < len(short) < len(MODEL_LIST)
    assert np.isnan(found.high_tok_s[short]).all()
    assert not found.fits[short].any()


def test_a_second_back_end_is_taken_where_the_first_has_no_such_quantization(table):
    """As a device's own page does it."""
    device = next(c for c in CONFIGURATIONS if c.id == "geforce-rtx-3090-24gb")
    first, second = targets_for(device, TARGETS)[:2]
    fewer = replace(first, efficiencies=tuple(e for e in first.efficiencies if e[0] != "fp16"))
    found = bulk(table, [device], (fewer, second), USE)
    alone = bulk(table, [device], (second,), USE)
    fp16 = next(j for j, quant in enumerate(QUANT_LIST) if quant.id == "fp16")
    assert np.array_equal(found.high_tok_s[:, fp16], alone.high_tok_s[:, fp16], equal_nan=True)
    assert np.array_equal(found.needed_bytes[:, fp16], alone.needed_bytes[:, fp16], equal_nan=True)
    assert not np.array_equal(found.high_tok_s, alone.high_tok_s, equal_nan=True)


def test_ranges_are_in_order_everywhere(table):
    found = bulk(table, CONFIGURATIONS, TARGETS, USE)
    known = ~np.isnan(found.low_tok_s)
    assert known[[trained(model) >= USE.context for model in MODEL_LIST]].mean() > 0.8
    low, high, ceiling = (
        getattr(found, name)[known] for name in ("low_tok_s", "high_tok_s", "ceiling_tok_s")
    )
    assert (low > 0).all()
    assert (low < high).all()
    assert (high < ceiling).all()


def test_every_device_with_a_bandwidth_has_a_number(table):
    found = bulk(table, CONFIGURATIONS, TARGETS, USE)
    model = next(i for i, m in enumerate(MODEL_LIST) if m.id == "llama-3.1-8b-instruct")
    quant = next(j for j, q in enumerate(QUANT_LIST) if q.id == "q4_k_m")
    without = np.isnan(found.low_tok_s[model, quant])
    assert [c.id for c, no in zip(CONFIGURATIONS, without, strict=True) if no] == [
        c.id for c in CONFIGURATIONS if c.bandwidth_bytes_s is None
    ]


def test_no_bandwidth_or_no_target_is_no_number(table):
    one = CONFIGURATIONS[0]
    found = bulk(
        table,
        [replace(one, bandwidth_bytes_s=None), replace(one, device_class="made-of-wood"), one],
        TARGETS,
        USE,
    )
    assert np.isnan(found.low_tok_s[:, :, :2]).all()
    assert not np.isnan(found.low_tok_s[:, :, 2]).all()
    assert not found.fits[:, :, 1].any()


@pytest.mark.parametrize("use", [replace(USE, depth=-1), replace(USE, context=0)])
def test_absurd_use_gets_a_reason(table, use):
    with pytest.raises(GramError) as raised:
        bulk(table, CONFIGURATIONS[:2], TARGETS, use)
    assert raised.value.code == "bad_number"
