"""Public reports of wrong estimates of speed (cases C): what our estimate says there.

Where a report tells all that the estimate needs, the measured rate has to lie in our range. Where it
does not, the test says what is missing, and holds what can be held.
"""

from dataclasses import replace

import pytest

from desktop import resources
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
from desktop.estimate.placed_work import Side, Sides, placed_work
from desktop.estimate.placement import ON_ONE_CARD, Placement
from desktop.estimate.sizes import weights_of
from desktop.estimate.speed import decode_speed
from desktop.estimate.targets import RESOURCE, efficiency_of, read_targets, targets_for
from desktop.estimate.work import active_weights, device_work
from desktop.records.estimate import Use

MODEL_BY_ID = {m.id: m for m in read_models(resources.text(MODELS))}
QUANT_BY_ID = {q.id: q for q in read_quants(resources.text(QUANTS))}
DEVICE_BY_ID = {c.id: c for c in read_configurations(resources.text(DEVICES))}
TARGETS = read_targets(resources.text(RESOURCE))
USE = Use(context=8192, depth=256)


def side(device, quant, backend=None, bandwidth_bytes_s=None):
    configuration = DEVICE_BY_ID[device]
    if bandwidth_bytes_s:
        configuration = replace(configuration, bandwidth_bytes_s=bandwidth_bytes_s)
    target = next(t for t in targets_for(configuration, TARGETS) if backend in {None, t.backend})
    return Side(configuration, efficiency_of(target, quant))


def on_card(model, quant, device, backend=None, use=USE):
    chosen, packed = MODEL_BY_ID[model], QUANT_BY_ID[quant]
    card = side(device, packed, backend)
    weights, cached = weights_of(chosen, packed), cache_read_bytes(chosen, use)
    work = device_work(chosen, weights, cached, card.configuration, card.efficiency)
    return decode_speed([work])


def with_experts_on_host(model, quant, card, host, layers):
    chosen, packed = MODEL_BY_ID[model], QUANT_BY_ID[quant]
    placement = Placement(shares=(1.0,), experts_on_host=layers)
    placed = placed_work(chosen, weights_of(chosen, packed), USE, placement, Sides((card,), host))
    return decode_speed(placed.decode)


def test_c01_a_mixture_is_charged_neither_all_its_weights_nor_only_its_active_ones():
    """llmfit#449: 472 tok/s said, 150 to 180 measured, of Qwen3 30B A3B at 4 bits.

    The card is in a picture only, so no range can be tested. On every card of 24 GB and more with
    up to 1,100 GB/s our range lies between what all weights would give at the full bandwidth, and
    what was said there.
    """
    weights = weights_of(MODEL_BY_ID["qwen3-30b-a3b"], QUANT_BY_ID["q4_k_m"])
    cards = [
        c
        for c in DEVICE_BY_ID.values()
        if "geforce" in c.id and c.memory_bytes > 23 * 2**30 and c.bandwidth_bytes_s < 1.1e12
    ]
    assert len(cards) >= 4
    for card in cards:
        speed = on_card("qwen3-30b-a3b", "q4_k_m", card.id)
        assert card.bandwidth_bytes_s / weights.capacity_bytes < speed.low_tok_s
        assert speed.high_tok_s < 472


def test_c03_a_mixture_all_on_the_card():
    """llmfit#474: RX 6900 XT, Qwen3.5 35B A3B, Q2_K_XL: 34.7 said, 77.6 measured.

    The packager's Q2_K_XL is not llama.cpp's; Q2_K is next to it. The back end is not told.
    """
    for backend in ("Vulkan", "ROCm"):
        speed = on_card("qwen3.5-35b-a3b", "q2_k", "radeon-rx-6900-xt-16gb", backend)
        assert speed.low_tok_s <= 77.6 <= speed.high_tok_s
        assert speed.low_tok_s > 34.7


def test_c03_besides_the_same_card_and_olmoe():
    """llmfit#544 measured OLMoE 1B 7B at Q4_K_M on the RX 6900 XT with llama-bench: 257.1."""
    for backend in ("Vulkan", "ROCm"):
        speed = on_card("olmoe-1b-7b-0125-instruct", "q4_k_m", "radeon-rx-6900-xt-16gb", backend)
        assert speed.low_tok_s <= 257.1 <= speed.high_tok_s


def test_c04_experts_on_the_host_are_read_at_the_hosts_bandwidth():
    """llmfit#544: RX 6900 XT with DDR4, Qwen3-Coder-Next: 28.3 said, 10.3 measured.

    Not told: the quantization, how many layers' experts were on the host, and the kind and number
    of memory modules. With all experts there, Q4_K_M and two channels of DDR4-3200 our range begins
    at half of what was said; the measured rate is below it, as llama.cpp computed this
    architecture slowly then (its issue 19480). What is read is counted layer by layer.
    """
    model, quant = MODEL_BY_ID["qwen3-coder-next"], QUANT_BY_ID["q4_k_m"]
    weights = weights_of(model, quant)
    assert 3.3e9 < active_weights(model, weights, weights.parts) < 4.2e9
    card = side("radeon-rx-6900-xt-16gb", quant)
    host = side("desktop-ddr4-3200-2-channels-64gb", quant)
    away = with_experts_on_host("qwen3-coder-next", "q4_k_m", card, host, 48)
    assert away.low_tok_s < 28.3 / 1.7
    all_there = on_card("qwen3-coder-next", "q4_k_m", "radeon-rx-6900-xt-16gb")
    assert away.high_tok_s < all_there.high_tok_s / 2


def test_c06_one_function_whoever_asks():
    """llmfit#805: one command said 33.7, another 160, of the same build on the same RTX 3090."""
    use = Use(context=32_768, depth=32_768)
    model, quant = MODEL_BY_ID["qwen3-30b-a3b"], QUANT_BY_ID["q4_k_m"]
    card = side("geforce-rtx-3090-24gb", quant)
    alone = on_card(model.id, quant.id, "geforce-rtx-3090-24gb", use=use)
    placed = placed_work(model, weights_of(model, quant), use, ON_ONE_CARD, Sides((card,)))
    together = bulk(asked([model], [quant]), [card.configuration], TARGETS, use)
    for end in ("low_tok_s", "high_tok_s", "ceiling_tok_s"):
        wanted = getattr(alone, end)
        assert getattr(decode_speed(placed.decode), end) == pytest.approx(wanted, rel=1e-9)
        assert getattr(together, end)[0, 0, 0] == pytest.approx(wanted, rel=1e-9)


def test_c07_a_mixture_with_experts_on_a_host_with_four_channels():
    """llmfit#755: RTX 2080, i9-10900X, DDR4 with four channels, experts of 36 layers on the host.

    Qwen3 30B A3B at Q4_K_M: the server's own log has 36.7 tok/s of generation alone.
    """
    quant = QUANT_BY_ID["q4_k_m"]
    card = side("geforce-rtx-2080-8gb", quant)
    # no processor of that kind is in the catalogue: a server's law at 4 x 8 bytes x 3.2 GT/s
    host = side("epyc-7003-256gb", quant, bandwidth_bytes_s=102.4e9)
    speed = with_experts_on_host("qwen3-30b-a3b", "q4_k_m", card, host, 36)
    assert speed.low_tok_s <= 36.7 <= speed.high_tok_s


@pytest.mark.parametrize(
    ("model", "measured"),
    [("qwen3-4b", 110.6), ("llama-3.1-8b-instruct", 71.9), ("qwen3-8b", 69.3)],
)
def test_c07_besides_the_same_card_with_dense_models(model, measured):
    """llmfit#773: RTX 2080, Q4_K_M, llama.cpp, all layers on the card; no row of the fit."""
    speed = on_card(model, "q4_k_m", "geforce-rtx-2080-8gb")
    assert speed.low_tok_s <= measured <= speed.high_tok_s


def test_c08_ranges_are_narrower_than_that_tools_errors():
    """llmfit's fit.rs: over 152 public rows its estimate ÷ measured goes from 0.67 to 1.19 by class.

    Those rows are not at hand. What can be held: where a class was measured by its own maker's back
    end, our whole range of a dense model is no wider than those classes' errors are apart.
    """
    for device, backend in (
        ("geforce-rtx-4090-24gb", "CUDA"),
        ("geforce-rtx-3060-12gb", "CUDA"),
        ("geforce-gtx-1080-ti-11gb", "CUDA"),
        ("apple-m2-max-64gb", "Metal"),
        ("apple-m4-pro-48gb", "Metal"),
    ):
        speed = on_card("llama-3.1-8b-instruct", "q4_k_m", device, backend)
        assert speed.high_tok_s / speed.low_tok_s < 1.19 / 0.67
