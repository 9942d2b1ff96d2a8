"""The catalogue: whole names only, and no figure without its source."""

import pytest

from desktop import resources
from desktop.errors import GramError
from desktop.rules.catalogue import GIB, RESOURCE, find_device, read_catalogue
from desktop.rules.device_names import words_of

DEVICES = read_catalogue(resources.text(RESOURCE))
HEAD = "name,also,vendor,gpu_cores,memory_gib,bandwidth_gb_s,bandwidth_source,fp16_tflops,fp16_source,power_w,price_usd,year,source\n"


def found(name, gib=None, **options):
    return find_device(name, DEVICES, None if gib is None else int(gib * GIB), **options)


@pytest.mark.parametrize(
    ("name", "gib", "bandwidth_gb_s"),
    [
        ("NVIDIA GeForce RTX 3080", 10, 760.3),
        ("NVIDIA GeForce RTX 3080", 12, 912.4),
        ("NVIDIA GeForce RTX 3080 Ti", 12, 912.4),
        ("NVIDIA GeForce RTX 4070", 12, 504),
        ("NVIDIA GeForce RTX 4070 Ti SUPER", 16, 672),
        ("NVIDIA GeForce RTX 4060 Laptop GPU", 8, 256),
        ("NVIDIA GeForce RTX 4060", 8, 272),
        ("GA102 [GeForce RTX 3090]", 24, 936.2),
        ("NVIDIA A100-SXM4-40GB", 39.4, 1555),
        ("NVIDIA A100-SXM4-80GB", 79.2, 2039),
        ("NVIDIA A100 80GB PCIe", 79.3, 1935),
        ("NVIDIA A100-PCIE-40GB", None, 1555),
        ("NVIDIA H100 80GB HBM3", 79.6, 3350),
        ("NVIDIA H100 PCIe", 79.6, 2000),
        ("NVIDIA RTX A4000", 15.7, 448),  # public case A07
        ("Tesla T4", 14.6, 320),
        ("NVIDIA RTX 6000 Ada Generation", 48, 960),
        ("Quadro RTX 6000", 24, 672),
        ("AMD Radeon RX 9060 XT", 16, 322.3),  # public case A08
        ("AMD Radeon RX 9060 XT (RADV GFX1200)", 15.9, 322.3),
        ("AMD Radeon RX 7900 XTX (RADV NAVI31)", 24, 960),
        ("Radeon RX 7900 XT", 20, 800),
        ("AMD Radeon(TM) 8060S Graphics", 96, 256),
        ("Intel(R) Arc(TM) A770 Graphics", 15.9, 560),
        ("Intel(R) Arc(TM) A770 Graphics (DG2)", 8, 512),
        ("Intel(R) Arc(TM) 140V GPU (16GB)", 18, 136.5),
        ("Intel® Arc™ B580 Graphics", 12, 456),
    ],
)
def test_a_card_is_found_by_its_whole_name_and_its_memory(name, gib, bandwidth_gb_s):
    device = found(name, gib)
    assert device is not None
    assert device.bandwidth_bytes_s == pytest.approx(bandwidth_gb_s * 1e9)


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA GeForce RTX 3080 Tx",
        "NVIDIA GeForce RTX 308",
        "NVIDIA GeForce RTX 4060 Max-Q",
        "NVIDIA GeForce RTX 3090 (Laptop)",
        "GRID T4-16Q",
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
        "Navi 31 [Radeon RX 7900 XT/7900 XTX/7900 GRE]",
        "AMD Radeon Graphics",
        "Intel(R) UHD Graphics 770",
        "llvmpipe (LLVM 15.0.7, 256 bits)",
        "",
        "Radeon RX 9999 XT",
    ],
)
def test_what_is_not_in_the_catalogue_is_unknown_and_gets_no_default(name):
    assert found(name) is None


def test_the_vendor_must_fit():
    assert found("AMD Radeon RTX 3080") is None
    assert found("A770", vendor="NVIDIA") is None
    assert found("RTX 3080", 10, vendor="NVIDIA") is not None
    assert found("Intel Arc Pro A40") is None  # not NVIDIA's A40


def test_memory_that_no_such_card_has_finds_none():
    assert found("NVIDIA GeForce RTX 4090", 48) is None
    assert found("NVIDIA GeForce RTX 4090", 4095 / 1024) is None  # public case A04


def test_one_name_with_memory_unknown_gives_only_what_both_share():
    a100 = found("NVIDIA A100")
    assert a100 is not None
    assert (a100.power_w, a100.fp16_flops, a100.year) == (400, 312e12, 2020)
    assert a100.memory_gib is None
    assert a100.bandwidth_bytes_s is None
    assert a100.price_usd is None


@pytest.mark.parametrize(("cores", "bandwidth_gb_s"), [(32, 410), (40, 546), (None, None)])
def test_gpu_cores_decide_the_bandwidth_of_apple_chips(cores, bandwidth_gb_s):
    chip = found("Apple M4 Max", 27, gpu_cores=cores)
    assert chip is not None
    assert chip.bandwidth_bytes_s == (bandwidth_gb_s and bandwidth_gb_s * 1e9)


def test_cores_that_no_such_chip_has_find_none():
    assert found("Apple M4 Max", gpu_cores=33) is None
    assert found("Apple M1", gpu_cores=7).bandwidth_bytes_s == 68.25e9


def test_the_rtx_3090_in_full():
    card = found("NVIDIA GeForce RTX 3090", 24)
    assert (card.vendor, card.memory_gib, card.power_w, card.price_usd, card.year) == (
        "NVIDIA",
        24,
        350,
        1500,
        2020,
    )
    assert card.fp16_flops == pytest.approx(71.16e12)
    assert card.source == "nvidia-geforce; hf x2; hf"


def test_laptop_cards_have_no_price():
    laptops = [d for d in DEVICES if "Laptop" in d.name]
    assert len(laptops) > 10
    assert all(d.price_usd is None for d in laptops)


def test_every_source_is_in_the_readme():
    readme = resources.text("catalogue/README.md")
    for code in {c for d in DEVICES for s in d.source.split("; ") for c in s.split(" + ")}:
        assert f"`{code}`" in readme


def test_no_two_devices_answer_to_the_same_name_memory_and_cores():
    keys = [(w, d.memory_gib, d.gpu_cores) for d in DEVICES for w in set(d.words)]
    assert len(keys) == len(set(keys))
    assert all(w for w, _, _ in keys)


def test_words():
    assert words_of("NVIDIA GeForce RTX 3080 Ti") == {"rtx", "3080", "ti"}
    assert words_of("AMD Radeon (TM) RX 6900 XT") == {"rx", "6900", "xt"}


@pytest.mark.parametrize(
    "row",
    [
        "A,,NVIDIA,,24,1008,,,,,,2022,hf",  # bandwidth without source
        "A,,NVIDIA,,24,,,10,,,,2022,hf",  # fp16 without source
        "A,,NVIDIA,,24,,,,,,,2022,",  # no source at all
        "A,,NVIDIA,,-24,,,,,,,2022,hf",
        "A,,NVIDIA,,0,,,,,,,2022,hf",
        "A,,NVIDIA,,nan,,,,,,,2022,hf",
        "A,,NVIDIA,,many,,,,,,,2022,hf",
        "A,,NVIDIA",
    ],
)
def test_a_damaged_table_is_named(row):
    with pytest.raises(GramError) as caught:
        read_catalogue(HEAD + row + "\n")
    assert caught.value.code == "resource_damaged"


def test_a_missing_column_is_named():
    with pytest.raises(GramError, match="line 1: there is no column also"):
        read_catalogue("name,vendor\nA,NVIDIA\n")
