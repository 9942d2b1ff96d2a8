"""All estimates at once are the estimates one at a time."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from desktop import resources
from desktop.errors import GramError
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
from desktop.estimate.sizes import weights_of
from desktop.estimate.speed import decode_speed
from desktop.estimate.targets import RESOURCE, efficiency_of, read_targets, targets_for
from desktop.estimate.work import device_work
from desktop.records.estimate import Use

MODEL_LIST = read_models(resources.text(MODELS))
QUANT_LIST = read_quants(resources.text(QUANTS))
CONFIGURATIONS = read_configurations(resources.text(DEVICES))
TARGETS = read_targets(resources.text(RESOURCE))
USE = Use(context=16_384, depth=3000)
SAMPLE = 400


@pytest.fixture(scope="module")
def table():
    return asked(MODEL_LIST, QUANT_LIST)


def one_at_a_time(model, quant, configuration, use):
    efficiency = efficiency_of(targets_for(configuration, TARGETS)[0], quant)
    if efficiency is None:
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


def test_what_fits_is_what_is_needed_beside_the_usable_memory(table):
    extra = [1e9 * (i % 7) for i in range(len(MODEL_LIST))]
    found = bulk(table, CONFIGURATIONS, TARGETS, USE, extra)
    rng = random.Random(1)
    for _ in range(SAMPLE):
        i, j, k = (rng.randrange(n) for n in found.fits.shape)
        overhead = targets_for(CONFIGURATIONS[k], TARGETS)[0].overhead_bytes
        held = weights_of(MODEL_LIST[i], QUANT_LIST[j]).capacity_bytes
        needed = held + extra[i] + overhead
        assert found.needed_bytes[i, j, k] == pytest.approx(needed)
        assert found.fits[i, j, k] == (needed <= CONFIGURATIONS[k].usable_bytes)
    assert 0.1 < found.fits.mean() < 0.99


def test_ranges_are_in_order_everywhere(table):
    found = bulk(table, CONFIGURATIONS, TARGETS, USE)
    known = ~np.isnan(found.low_tok_s)
    assert known.mean() > 0.8
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
