"""What each device has to do, on one device and on several."""

import random
from dataclasses import replace

import pytest

from desktop import resources
from desktop.errors import GramError
from desktop.estimate.batch_reads import batch_bytes
from desktop.estimate.cache import cache_read_bytes
from desktop.estimate.catalogue import (
    DEVICES,
    MODELS,
    QUANTS,
    read_configurations,
    read_models,
    read_quants,
)
from desktop.estimate.placed_work import BUS_BYTES_S, Side, Sides, placed_work
from desktop.estimate.placement import ON_HOST, ON_ONE_CARD, Placement
from desktop.estimate.sizes import bits_weights, weights_of
from desktop.estimate.speed import decode_speed, prompt_speed
from desktop.estimate.targets import RESOURCE, efficiency_of, read_targets, targets_for
from desktop.estimate.work import (
    active_weights,
    attention_flop,
    device_work,
    extra_layers,
    flop_per_cache_byte,
    layer_units,
    prompt_work,
)
from desktop.records.estimate import Use

MODEL_BY_ID = {m.id: m for m in read_models(resources.text(MODELS))}
QUANT_BY_ID = {q.id: q for q in read_quants(resources.text(QUANTS))}
DEVICE_BY_ID = {c.id: c for c in read_configurations(resources.text(DEVICES))}
TARGETS = read_targets(resources.text(RESOURCE))
Q4 = QUANT_BY_ID["q4_k_m"]
USE = Use(context=8192, depth=4096)
LLAMA = MODEL_BY_ID["llama-3.1-8b-instruct"]
MIXTURE = MODEL_BY_ID["qwen3-30b-a3b"]


def side(device, quant=Q4):
    configuration = DEVICE_BY_ID[device]
    return Side(configuration, efficiency_of(targets_for(configuration, TARGETS)[0], quant))


CARD = side("geforce-rtx-3090-24gb")
HOST = side("desktop-ddr5-5600-2-channels-64gb")


def whole(model, quant=Q4, use=USE, on=CARD):
    weights = weights_of(model, quant)
    cached = cache_read_bytes(model, use)
    work = device_work(model, weights, cached, on.configuration, on.efficiency)
    return prompt_work(work, model, weights, use)


@pytest.mark.parametrize(
    ("model", "billions"),
    [
        ("llama-3.2-1b-instruct", 1.236),  # tied: all of them
        ("llama-3.1-8b-instruct", 7.505),  # 8.03 less the embedding's 128,256 x 4,096
        ("qwen3-30b-a3b", 3.04),  # 8 of 128 experts
        ("gpt-oss-20b", 3.61),  # as published
    ],
)
@pytest.mark.parametrize("quant", ["q4_k_m", "q8_0", "iq4_xs", "fp16"])
def test_a_token_is_multiplied_with_the_active_weights_in_any_quantization(model, billions, quant):
    chosen = MODEL_BY_ID[model]
    weights = weights_of(chosen, QUANT_BY_ID[quant])
    assert active_weights(chosen, weights, weights.parts) / 1e9 == pytest.approx(billions, rel=3e-3)


def test_by_bits_alone_the_published_parameters_are_active():
    for model in (LLAMA, MIXTURE):
        weights = bits_weights(model, Q4)
        wanted = model.active_parameters or model.parameters
        assert active_weights(model, weights, weights.parts) == pytest.approx(wanted, rel=1e-6)


def test_layers_that_only_attend_or_only_feed_forward_are_half():
    nemotron = MODEL_BY_ID["nemotron-3-nano-4b"]
    assert layer_units(LLAMA.groups) == 32
    assert layer_units(nemotron.groups) == nemotron.layers / 2
    assert extra_layers(LLAMA.groups) == ()
    assert dict(extra_layers(nemotron.groups)) == {"state": 21}
    assert dict(extra_layers(MIXTURE.groups)) == {"experts": 48}
    flash = MODEL_BY_ID["glm-4.7-flash"]
    assert dict(extra_layers(flash.groups)) == {"experts": 46, "latent": 47}


def test_attention_is_counted_a_head_and_position():
    # 32 heads x (128 + 128) x 2 x 32 layers
    assert attention_flop(LLAMA, 1) == 32 * 256 * 2 * 32
    assert attention_flop(LLAMA, 1000) == 1000 * attention_flop(LLAMA, 1)
    # 4 heads share a key: 4 operations a byte
    assert flop_per_cache_byte(LLAMA) == pytest.approx(4)
    assert flop_per_cache_byte(MODEL_BY_ID["llama-2-7b-chat"]) == pytest.approx(1)
    # latent: 20 heads x (512 + 64 + 512) x 2 for 576 x 2 bytes
    assert flop_per_cache_byte(MODEL_BY_ID["glm-4.7-flash"]) == pytest.approx(20 * 1088 * 2 / 1152)
    assert flop_per_cache_byte(MODEL_BY_ID["mamba-2.8b"]) == 0


def test_a_window_bounds_the_attention_of_its_layers():
    gemma = MODEL_BY_ID["gemma-3-1b-it"]
    full = sum(g.layers for g in gemma.groups if g.window is None)
    rise = attention_flop(gemma, 20_000) - attention_flop(gemma, 10_000)
    assert rise == 10_000 * full * 4 * 512 * 2


def test_one_card_is_the_same_by_both_ways():
    for model in (LLAMA, MIXTURE, MODEL_BY_ID["gemma-3-1b-it"], MODEL_BY_ID["qwen3.5-9b"]):
        placed = placed_work(model, weights_of(model, Q4), USE, ON_ONE_CARD, Sides((CARD,)))
        one = whole(model)
        assert len(placed.decode) == 1
        assert decode_speed(placed.decode).low_tok_s == pytest.approx(
            decode_speed([one]).low_tok_s, rel=2e-3
        )
        assert prompt_speed(placed.prompt).high_tok_s == pytest.approx(
            prompt_speed([one]).high_tok_s, rel=2e-3
        )


def test_nothing_is_lost_or_read_twice_however_it_lies():
    rng = random.Random(4)
    for _ in range(40):
        model = rng.choice([LLAMA, MIXTURE, MODEL_BY_ID["glm-4.7-flash"]])
        weights, cards = weights_of(model, Q4), rng.randint(1, 3)
        placement = Placement(
            shares=tuple(rng.uniform(0.1, 1) for _ in range(cards)),
            gpu_layers=rng.choice([None, 0, 5, 20, 99]),
            experts_on_host=rng.choice([0, 10, 99]),
            cache_on_host=rng.random() < 0.2,
        )
        sides = Sides((CARD,) * cards, HOST)
        placed = placed_work(model, weights, USE, placement, sides)
        assert sum(w.weight_bytes for w in placed.decode) == weights.active_bytes
        assert sum(w.cache_bytes for w in placed.decode) == cache_read_bytes(model, USE)
        assert sum(w.layers for w in placed.decode) == layer_units(model.groups)
        told = sum(dict(w.extra_layers).get("experts", 0) for w in placed.decode)
        assert told == dict(extra_layers(model.groups)).get("experts", 0)


def test_two_equal_cards_read_in_turn_and_are_no_faster_than_one():
    weights = weights_of(LLAMA, Q4)
    two = placed_work(LLAMA, weights, USE, Placement(shares=(1, 1)), Sides((CARD, CARD)))
    assert len(two.decode) == 2
    one = decode_speed([whole(LLAMA)])
    assert decode_speed(two.decode).high_tok_s <= one.high_tok_s
    assert decode_speed(two.decode).ceiling_tok_s == pytest.approx(one.ceiling_tok_s)


def test_each_layer_on_the_host_makes_a_token_slower():
    weights, speeds = weights_of(LLAMA, Q4), []
    for layers in (33, 24, 12, 0):
        placement = Placement(shares=(1.0,), gpu_layers=layers)
        placed = placed_work(LLAMA, weights, USE, placement, Sides((CARD,), HOST))
        speeds.append(decode_speed(placed.decode).low_tok_s)
    assert speeds == sorted(speeds, reverse=True)
    assert speeds[0] > 5 * speeds[-1]


def test_on_the_host_alone_it_is_the_processors_law():
    placed = placed_work(LLAMA, weights_of(LLAMA, Q4), USE, ON_HOST, Sides((), HOST))
    assert [w.bandwidth_bytes_s for w in placed.decode] == [HOST.configuration.bandwidth_bytes_s]
    assert placed.prompt == placed.decode
    speed = decode_speed(placed.decode)
    assert 5 < speed.low_tok_s < speed.high_tok_s < speed.ceiling_tok_s < 20


def test_experts_on_the_host_are_read_there_for_a_token_and_sent_over_the_bus_for_a_prompt():
    weights = weights_of(MIXTURE, Q4)
    placement = Placement(shares=(1.0,), experts_on_host=99)
    placed = placed_work(MIXTURE, weights, USE, placement, Sides((CARD,), HOST))
    card, host = placed.decode
    assert host.bandwidth_bytes_s == HOST.configuration.bandwidth_bytes_s
    assert batch_bytes(host.held, 512) > 10 * host.weight_bytes
    assert batch_bytes(host.held, 1) == pytest.approx(host.weight_bytes, rel=1e-4)
    assert dict(host.extra_layers) == {"experts": 48}
    assert not dict(card.extra_layers)
    assert placed.prompt[1].bandwidth_bytes_s == BUS_BYTES_S
    assert placed.prompt[1].shader_flops == CARD.configuration.shader_flops
    all_on_card = decode_speed([whole(MIXTURE)])
    assert decode_speed(placed.decode).high_tok_s < all_on_card.low_tok_s


def test_what_is_not_there_gets_a_reason():
    weights = weights_of(LLAMA, Q4)
    for placement, sides in (
        (Placement(shares=(1.0, 1.0)), Sides((CARD,))),
        (Placement(shares=(1.0,), gpu_layers=3), Sides((CARD,))),
        (ON_HOST, Sides((CARD,))),
    ):
        with pytest.raises(GramError) as raised:
            placed_work(LLAMA, weights, USE, placement, sides)
        assert raised.value.code == "placement_bad"


@pytest.mark.parametrize("depth", [-1, 9000])
def test_a_negative_or_impossible_depth_gets_a_reason(depth):
    with pytest.raises(GramError) as raised:
        placed_work(
            LLAMA, weights_of(LLAMA, Q4), replace(USE, depth=depth), ON_ONE_CARD, Sides((CARD,))
        )
    assert raised.value.code == "bad_number"


def test_as_the_context_grows_a_token_gets_slower_and_a_prompts_too():
    decode, prompt = [], []
    for depth in (0, 1024, 8192, 65_536):
        work = whole(LLAMA, use=Use(context=131_072, depth=depth))
        decode.append(decode_speed([work]).high_tok_s)
        prompt.append(prompt_speed([work], max(1, depth) and 512).high_tok_s)
    assert decode == sorted(decode, reverse=True)
    assert prompt == sorted(prompt, reverse=True)
    assert decode[0] > 1.5 * decode[-1]
