"""The law of a token and of a prompt: by hand, and what it refuses."""

import math
from dataclasses import replace

import pytest

from desktop.errors import GramError
from desktop.estimate.batch_reads import Held
from desktop.estimate.speed import (
    DeviceWork,
    decode_speed,
    first_token,
    prompt_seconds,
    prompt_speed,
    weights_ceiling,
)
from desktop.records.estimate import Efficiency, Interval

EFFICIENCY = Efficiency(
    bandwidth_share=Interval(0.5, 0.8),
    layer_s=Interval(10e-6, 20e-6),
    token_s=Interval(100e-6, 200e-6),
    compute_share=Interval(0.5, 2.0),
    attention_share=Interval(0.1, 0.4),
    weight_flop=Interval(5, 10),
    extra_layer_s=(("experts", Interval(5e-6, 50e-6)),),
)
WORK = DeviceWork(
    weight_bytes=4e9,
    cache_bytes=1e9,
    layers=32,
    bandwidth_bytes_s=1e12,
    efficiency=EFFICIENCY,
    weights=7e9,
    token_flop=2e9,
    extra_layers=(("experts", 16), ("state", 4)),
    shader_flops=20e12,
    prompt_weights=6.5e9,
    attention_flop=1e9,
)
BARE = Efficiency(Interval(0.5, 0.8), Interval(0, 0), Interval(0, 0))


def test_a_token_is_the_sum_of_its_parts_by_hand():
    speed = decode_speed([WORK])
    # 5 GB at 0.5 TB/s; 7e9 weights x 10 ÷ 20e12; 2e9 ÷ 0.1 ÷ 20e12; 32 x 20 µs; 16 x 50 µs; 200 µs
    slow = 10e-3 + 3.5e-3 + 1e-3 + 0.64e-3 + 0.8e-3 + 0.2e-3
    # 5 GB at 0.8 TB/s; 7e9 x 5 ÷ 20e12; 2e9 ÷ 0.4 ÷ 20e12; 32 x 10 µs; 16 x 5 µs; 100 µs
    fast = 6.25e-3 + 1.75e-3 + 0.25e-3 + 0.32e-3 + 0.08e-3 + 0.1e-3
    assert speed.low_tok_s == pytest.approx(1 / slow)
    assert speed.high_tok_s == pytest.approx(1 / fast)
    assert speed.ceiling_tok_s == pytest.approx(200)
    assert weights_ceiling([WORK]) == pytest.approx(250)


def test_devices_work_one_after_another():
    other = replace(WORK, bandwidth_bytes_s=50e9, weight_bytes=1e9, cache_bytes=0)
    both, one, two = (decode_speed(works) for works in ([WORK, other], [WORK], [other]))
    for end in ("low_tok_s", "high_tok_s", "ceiling_tok_s"):
        assert 1 / getattr(both, end) == pytest.approx(
            1 / getattr(one, end) + 1 / getattr(two, end)
        )
    assert decode_speed([other, WORK]).low_tok_s == pytest.approx(both.low_tok_s)


def test_the_range_is_below_the_ceiling_and_in_order():
    speed = decode_speed([WORK])
    assert speed.low_tok_s < speed.high_tok_s < speed.ceiling_tok_s


@pytest.mark.parametrize(
    "more",
    [
        {"weight_bytes": 5e9},
        {"cache_bytes": 2e9},
        {"layers": 64},
        {"weights": 8e9},
        {"token_flop": 4e9},
        {"extra_layers": (("experts", 17),)},
    ],
)
def test_more_work_is_slower_at_both_ends(more):
    before, after = decode_speed([WORK]), decode_speed([replace(WORK, **more)])
    assert after.low_tok_s < before.low_tok_s
    assert after.high_tok_s < before.high_tok_s


def test_without_work_and_costs_it_is_share_times_bandwidth():
    speed = decode_speed([replace(WORK, efficiency=BARE, weights=None, shader_flops=None)])
    assert speed.low_tok_s == pytest.approx(100)
    assert speed.high_tok_s == pytest.approx(160)


def test_an_unknown_shaders_rate_is_the_usual_of_the_class():
    usual = replace(EFFICIENCY, flop_per_byte=20.0)
    unknown = replace(WORK, efficiency=usual, shader_flops=None)
    assert decode_speed([unknown]) == decode_speed([WORK])
    with pytest.raises(GramError) as raised:
        decode_speed([replace(WORK, shader_flops=None)])
    assert raised.value.code == "bad_number"


def test_a_prompt_is_two_operations_a_weight_and_attention():
    seconds = prompt_seconds([WORK], 1024)
    flop = 1024 * (2 * 6.5e9 + 1e9)
    # two micro-batches, each reading 4 GB; the cost of layers, experts and token twice
    slow = flop / 10e12 + 2 * 4e9 / 0.5e12 + 2 * (0.64e-3 + 0.8e-3 + 0.2e-3)
    fast = max(flop / 40e12, 2 * 4e9 / 0.8e12) + 2 * (0.32e-3 + 0.08e-3 + 0.1e-3)
    assert seconds.high == pytest.approx(slow)
    assert seconds.low == pytest.approx(fast)
    speed = prompt_speed([WORK], 1024)
    assert speed.low_tok_s == pytest.approx(1024 / slow)
    assert speed.high_tok_s == pytest.approx(1024 / fast)


def test_a_short_prompt_is_bound_by_reading_and_a_long_one_by_computing():
    short, long = prompt_speed([WORK], 1), prompt_speed([WORK], 2048, 2048)
    assert short.high_tok_s < 210
    assert long.high_tok_s == pytest.approx(40e12 / 14e9, rel=0.05)


def test_experts_are_all_read_for_a_prompt():
    mixture = replace(WORK, held=(Held("Q4_K", 3e9), Held("Q4_K", 57e9, 1 / 57)))
    assert prompt_speed([mixture]).low_tok_s < prompt_speed([WORK]).low_tok_s
    assert prompt_speed([mixture]).ceiling_tok_s == pytest.approx(512 / 60e-3, rel=1e-3)
    assert decode_speed([mixture]) == decode_speed([WORK])


def test_one_token_reads_the_experts_that_it_chooses():
    mixture = replace(WORK, held=(Held("Q4_K", 3e9), Held("Q4_K", 57e9, 1 / 57)))
    one, two = prompt_speed([mixture], 1), prompt_speed([mixture], 2)
    assert one.low_tok_s == pytest.approx(prompt_speed([WORK], 1).low_tok_s)
    assert one.ceiling_tok_s == pytest.approx(weights_ceiling([mixture]))
    # 3 GB once, and two choices of 1 GB that are rarely the same
    assert two.ceiling_tok_s == pytest.approx(2 / 5e-3, rel=0.01)


def test_the_first_token_comes_after_the_prompt_and_one_token():
    told = first_token([WORK], [WORK], 512)
    prompt, decode = prompt_seconds([WORK], 512), decode_speed([WORK])
    assert told.low == pytest.approx(prompt.low + 1 / decode.high_tok_s)
    assert told.high == pytest.approx(prompt.high + 1 / decode.low_tok_s)


def test_no_compute_rate_no_prompt():
    bare = replace(WORK, efficiency=BARE)
    assert prompt_speed([bare]) is None
    assert prompt_seconds([WORK, bare], 512) is None
    assert first_token([bare], [WORK]) is None


@pytest.mark.parametrize(
    "absurd",
    [
        {"bandwidth_bytes_s": 0.0},
        {"bandwidth_bytes_s": None},
        {"bandwidth_bytes_s": -1e12},
        {"bandwidth_bytes_s": math.nan},
        {"bandwidth_bytes_s": math.inf},
        {"weight_bytes": -1.0},
        {"weight_bytes": math.nan},
        {"cache_bytes": -1.0},
        {"weight_bytes": 0.0, "cache_bytes": 0.0},
        {"layers": -1},
        {"layers": 1 << 20},
        {"weights": None},
        {"weights": math.nan},
        {"token_flop": -1.0},
        {"extra_layers": (("experts", -1.0),)},
        {"shader_flops": 0.0},
        {"shader_flops": math.inf},
        {"efficiency": replace(EFFICIENCY, bandwidth_share=Interval(0, 0.5))},
        {"efficiency": replace(EFFICIENCY, bandwidth_share=Interval(0.8, 0.5))},
        {"efficiency": replace(EFFICIENCY, bandwidth_share=Interval(0.5, 2.0))},
        {"efficiency": replace(EFFICIENCY, attention_share=Interval(0, 1))},
        {"efficiency": replace(EFFICIENCY, layer_s=Interval(-1e-6, 1e-6))},
        {"efficiency": replace(EFFICIENCY, token_s=Interval(0, math.nan))},
        {"efficiency": replace(EFFICIENCY, weight_flop=Interval(-1, 1))},
        {"efficiency": replace(EFFICIENCY, extra_layer_s=(("experts", Interval(1, 0)),))},
    ],
)
def test_absurd_figures_get_a_reason_never_a_number(absurd):
    with pytest.raises(GramError) as raised:
        decode_speed([replace(WORK, **absurd)])
    assert raised.value.code == "bad_number"


@pytest.mark.parametrize("tokens", [0, -1, 1 << 25])
def test_an_absurd_prompt_gets_a_reason(tokens):
    for ask in (lambda: prompt_speed([WORK], tokens), lambda: prompt_speed([WORK], 512, tokens)):
        with pytest.raises(GramError) as raised:
            ask()
        assert raised.value.code == "bad_number"


def test_nothing_to_do_gets_a_reason():
    with pytest.raises(GramError):
        decode_speed([])
