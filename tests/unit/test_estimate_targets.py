"""The table of targets: that it is whole, sane and holds no device's own constants."""

import csv
import io

import pytest

from desktop import resources
from desktop.errors import GramError
from desktop.estimate.catalogue import DEVICES, QUANTS, read_configurations, read_quants
from desktop.estimate.targets import RESOURCE, efficiency_of, read_targets, targets_for

TEXT = resources.text(RESOURCE)
TARGETS = read_targets(TEXT)
CONFIGURATIONS = read_configurations(resources.text(DEVICES))
QUANT_BY_ID = {q.id: q for q in read_quants(resources.text(QUANTS))}


def with_cell(column, text, line=0):
    rows = list(csv.DictReader(io.StringIO(TEXT)))
    rows[line][column] = text
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def by_id(name):
    return next(c for c in CONFIGURATIONS if c.id == name)


def test_every_device_of_the_catalogue_has_a_target():
    assert [c.id for c in CONFIGURATIONS if not targets_for(c, TARGETS)] == []


def test_every_llama_cpp_quantization_runs_and_no_other_engines_formats():
    for target in TARGETS:
        runs = {quant.id for quant in QUANT_BY_ID.values() if efficiency_of(target, quant)}
        assert {"q4_0", "q8_0", "q4_k_m", "iq2_xs", "fp16", "bf16", "mxfp4"} <= runs
        assert not {"fp8", "awq_4bit", "gptq_4bit"} & runs


@pytest.mark.parametrize(
    ("device", "backends"),
    [
        ("geforce-rtx-3090-24gb", ["CUDA", "Vulkan"]),
        ("instinct-mi300x-192gb", ["ROCm", "Vulkan"]),
        ("radeon-rx-7900-xtx-24gb", ["Vulkan", "ROCm"]),
        ("arc-b580-12gb", ["Vulkan", "SYCL"]),
        ("apple-m4-max-128gb-546", ["Metal", "Vulkan"]),
        ("ryzen-ai-max-395-128gb", ["Vulkan", "ROCm", "CPU"]),
        ("raspberry-pi-5-8gb", ["CPU"]),
    ],
)
def test_the_first_target_is_the_one_to_take(device, backends):
    assert [t.backend for t in targets_for(by_id(device), TARGETS)] == backends


def test_all_six_back_ends_are_there():
    assert {t.backend for t in TARGETS} == {"CUDA", "Vulkan", "ROCm", "Metal", "SYCL", "CPU"}
    assert {t.id for t in TARGETS if t.backend == "CUDA"} == {"llama-cpp-cuda"}


def test_shares_and_costs_are_what_devices_can_have():
    for target in TARGETS:
        for _, e in target.efficiencies:
            assert 0.1 < e.bandwidth_share.low < e.bandwidth_share.high <= 0.98
            assert 1e-6 < e.layer_s.low < e.layer_s.high < 1e-3
            assert e.token_s.low < e.token_s.high < 5e-3
            assert {kind for kind, _ in e.extra_layer_s} == {"experts", "state", "latent"}
            assert e.source in {"public-fit", "public-law", "assumed"}


def test_memory_with_stacked_chips_is_read_at_a_lower_share():
    def share(device_class):
        target = next(t for t in TARGETS if (t.backend, t.device_class) == ("CUDA", device_class))
        return target.efficiencies[0][1].bandwidth_share

    for gddr, hbm in (
        ("nvidia-ampere", "nvidia-ampere-hbm"),
        ("nvidia-pascal", "nvidia-pascal-hbm"),
    ):
        assert share(hbm).high < share(gddr).high
        assert share(hbm).low < share(gddr).low


def test_classes_without_a_measured_device_are_wider():
    def width(backend, device_class):
        target = next(t for t in TARGETS if (t.backend, t.device_class) == (backend, device_class))
        flop = target.efficiencies[0][1].weight_flop
        return target.measured_devices, flop.high / flop.low

    fitted, law = width("CUDA", "nvidia-ada"), width("CUDA", "nvidia-hopper-hbm")
    assert (fitted[0] > 0, law[0]) == (True, 0)
    assert law[1] > fitted[1]
    assert width("ROCm", "amd-cdna-hbm")[1] > width("ROCm", "amd-rdna3")[1] * 1.1


def test_the_table_has_classes_and_no_devices():
    names = {name.casefold() for c in CONFIGURATIONS for name in (c.id, c.name, *c.aliases)}
    assert not {t.device_class.casefold() for t in TARGETS} & names


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("share_low", "0"),
        ("share_low", "-0.5"),
        ("share_low", "nan"),
        ("share_low", "1e999"),
        ("share_low", "much"),
        ("share_low", "0.99"),
        ("share_high", ""),
        ("layer_us_low", "1e9"),
        ("token_us_high", "0"),
        ("compute_low", ""),
        ("overhead_mib", "-1"),
        ("devices", "some"),
        ("source", " "),
        ("backend", ""),
    ],
)
def test_a_damaged_table_is_refused_by_its_name(column, text):
    with pytest.raises(GramError) as raised:
        read_targets(with_cell(column, text))
    assert raised.value.code == "resource_damaged"
    assert RESOURCE in str(raised.value)


def test_a_table_without_a_column_or_with_a_target_twice_is_refused():
    lines = TEXT.splitlines()
    for text in ("\n".join([lines[0].replace("share_low", "share"), *lines[1:]]),
                 "\n".join([*lines, lines[1]])):  # fmt: skip
        with pytest.raises(GramError) as raised:
            read_targets(text)
        assert raised.value.code == "resource_damaged"
