"""Bytes of the cache, layer by layer."""

import pytest

from desktop.errors import GramError
from desktop.estimate.cache import cache_bytes, cache_read_bytes, layer_cache_bytes, state_bytes
from desktop.estimate.layers import layers_of
from desktop.records.estimate import Use
from desktop.records.model import Attention, LayerGroup, Model, Recurrent

FULL = LayerGroup(
    2, Attention.FULL, heads=8, kv_heads=2, key_size=64, value_size=32, feed_forward=256
)
TOKEN = 2 * (64 + 32) * 2


def model(*groups, **fields):
    base = {"id": "m", "name": "M", "architecture": "llama", "parameters": 1000}
    base |= {"hidden": 512, "vocabulary": 1000, "tied": False}
    return Model(**(base | fields), groups=groups)


def test_full_attention_keeps_every_cell():
    assert layer_cache_bytes(model(FULL), Use(1024)) == (TOKEN * 1024,) * 2


def test_the_context_is_rounded_up_to_256():
    assert cache_bytes(model(FULL), Use(1)) == cache_bytes(model(FULL), Use(256))
    assert cache_bytes(model(FULL), Use(257)) == cache_bytes(model(FULL), Use(512))


def test_sequences_share_the_context_and_each_share_is_rounded_up():
    assert cache_bytes(model(FULL), Use(1024, sequences=4)) == 2 * TOKEN * 1024
    assert cache_bytes(model(FULL), Use(1024, sequences=3)) == 2 * TOKEN * 3 * 512


def sliding(window):
    return LayerGroup(1, Attention.SLIDING, kv_heads=2, key_size=64, value_size=32, window=window)


def test_sliding_layers_keep_the_window_and_a_micro_batch():
    assert cache_bytes(model(sliding(1024)), Use(65536)) == TOKEN * (1024 + 512)
    assert cache_bytes(model(sliding(1024)), Use(65536, micro_batch=100)) == TOKEN * 1280
    assert cache_bytes(model(sliding(1024)), Use(600)) == TOKEN * 768
    assert cache_bytes(model(sliding(1024)), Use(65536, full_sliding_cache=True)) == TOKEN * 65536


def test_packed_caches_have_their_blocks():
    use = Use(256, cache_key_type="Q8_0", cache_value_type="Q4_0")
    assert cache_bytes(model(FULL), use) == 2 * 256 * (2 * 64 // 32 * 34 + 2 * 32 // 32 * 18)


def test_a_head_that_is_no_whole_number_of_blocks_is_refused():
    odd = LayerGroup(1, Attention.FULL, kv_heads=8, key_size=80, value_size=80)
    with pytest.raises(GramError, match="packs 32 numbers together, and a head of M has 80"):
        cache_bytes(model(odd), Use(256, cache_key_type="Q8_0"))


def test_latent_attention_keeps_one_vector():
    mla = LayerGroup(
        1, Attention.LATENT, kv_heads=1, key_size=192, value_size=128, latent_size=512, rope_size=64
    )
    assert cache_bytes(model(mla), Use(256)) == 256 * 576 * 2
    assert cache_read_bytes(model(mla), Use(256, depth=9)) == 10 * 576 * 2


def test_an_indexer_keeps_a_key_of_its_own():
    mla = LayerGroup(1, Attention.LATENT, latent_size=512, rope_size=64, indexer_size=128)
    assert cache_bytes(model(mla), Use(256)) == 256 * (576 + 128) * 2


@pytest.mark.parametrize(
    ("state", "elements"),
    [
        (Recurrent("mamba", 4, 128, 16), 3 * 128 + 128 * 16),
        (Recurrent("mamba2", 4, 128, 16, groups=2), 3 * (128 + 2 * 2 * 16) + 128 * 16),
        (Recurrent("gated_delta_net", 4, 128, 16, 2), 3 * (128 + 2 * 2 * 16) + 128 * 16),
        (Recurrent("short_conv", 3), 512 * 2),
        (Recurrent("kimi_delta", 4, time_step_rank=8, head_size=16), 3 * 3 * 8 * 16 + 8 * 16 * 16),
        (Recurrent("lightning", time_step_rank=8, head_size=16), 8 * 16 * 16),
        (Recurrent("rwkv", head_size=64, shifts=2), 512 * (2 + 64)),
    ],
)
def test_a_recurrent_state_is_f32_and_as_long_as_no_context(state, elements):
    layer = LayerGroup(3, Attention.RECURRENT, recurrent=state)
    assert state_bytes(model(layer), state) == elements * 4
    assert cache_bytes(model(layer), Use(131072)) == 3 * elements * 4
    assert cache_bytes(model(layer), Use(512, sequences=2)) == 2 * 3 * elements * 4
    assert cache_read_bytes(model(layer), Use(512)) == 3 * elements * 4


def test_a_recurrent_layer_that_lacks_a_measure_is_refused():
    layer = LayerGroup(1, Attention.RECURRENT, recurrent=Recurrent("mamba", 4, 128))
    with pytest.raises(GramError, match="does not say state_size"):
        cache_bytes(model(layer), Use(512))


def test_a_layer_may_have_attention_and_state_side_by_side():
    both = LayerGroup(
        1,
        Attention.FULL,
        kv_heads=2,
        key_size=64,
        value_size=32,
        recurrent=Recurrent("mamba", 4, 8, 2),
    )
    assert cache_bytes(model(both), Use(256)) == TOKEN * 256 + (3 * 8 + 8 * 2) * 4


def test_layers_that_share_a_cache_keep_none_but_read_it():
    shares = LayerGroup(
        1, Attention.FULL, kv_heads=2, key_size=64, value_size=32, shares_cache=True
    )
    assert cache_bytes(model(shares), Use(256)) == 0
    assert cache_read_bytes(model(shares), Use(256, depth=99)) == 100 * TOKEN


def test_reading_counts_the_new_token_and_stops_at_the_window():
    assert cache_read_bytes(model(FULL), Use(2048, depth=1024)) == 2 * 1025 * TOKEN
    assert cache_read_bytes(model(sliding(512)), Use(2048, depth=1024)) == 512 * TOKEN
    assert cache_read_bytes(model(sliding(512)), Use(2048, depth=99)) == 100 * TOKEN


def test_without_flash_attention_values_are_as_wide_as_the_widest():
    wide = LayerGroup(1, Attention.FULL, kv_heads=2, key_size=64, value_size=128)
    use = Use(256, flash_attention=False)
    assert layer_cache_bytes(model(FULL, wide), use) == (256 * (128 + 256) * 2,) * 3


def test_models_that_keep_nothing():
    assert cache_bytes(model(FULL, architecture="bert"), Use(512)) == 0
    assert cache_read_bytes(model(FULL, architecture="bert"), Use(512)) == 0


@pytest.mark.parametrize(
    "use",
    [
        *(Use(0), Use(-1), Use(1 << 25), Use(512, depth=513), Use(512, depth=-1)),
        *(Use(512, batch=0), Use(512, micro_batch=0), Use(512, sequences=0)),
        Use(512, sequences=257),
    ],
)
def test_nonsense_gets_a_reason(use):
    with pytest.raises(GramError) as caught:
        cache_bytes(model(FULL), use)
    assert caught.value.code == "bad_number"


@pytest.mark.parametrize(
    "use",
    [
        Use(512, cache_key_type="Q6_K"),
        Use(512, cache_value_type="f16"),
        Use(512, cache_value_type="Q8_0", flash_attention=False),
    ],
)
def test_types_that_the_engine_refuses(use):
    with pytest.raises(GramError) as caught:
        cache_bytes(model(FULL), use)
    assert caught.value.code == "cache_type"


def test_layers_are_told_by_index_or_stand_in_order():
    first = LayerGroup(2, Attention.FULL, (0, 3))
    rest = LayerGroup(2, Attention.SLIDING)
    assert layers_of(model(first, rest)) == (first, rest, rest, first)


@pytest.mark.parametrize(
    "groups",
    [
        (),
        (LayerGroup(513, Attention.FULL),),
        (LayerGroup(2, Attention.FULL, (0,)),),
        (LayerGroup(1, Attention.FULL, (0,)), LayerGroup(1, Attention.FULL, (0,))),
        (LayerGroup(1, Attention.FULL, (5,)),),
    ],
)
def test_groups_that_do_not_fit_together(groups):
    with pytest.raises(GramError) as caught:
        layers_of(model(*groups))
    assert caught.value.code == "layers_unclear"
