"""The compatibility profile: an existing estimator's page, reproduced figure by figure.

What is expected is in tests/data/page003_*.csv: the figures and names as that page prints them.
"""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.estimate import printed, reasons
from desktop.estimate.catalogue import find
from desktop.estimate.page import page_of
from desktop.records.model import SizeBasis
from desktop.services import profiles

DATA = Path(__file__).parents[1] / "data"


def expected(name):
    with (DATA / f"page003_{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def page():
    models = profiles.models()
    model = find("llama-3.2-1b-instruct", models)
    return page_of(model, profiles.compatibility_profile(), models)


def printed_row(rank, row):
    return {
        "rank": str(rank),
        "name": row.configuration.name,
        "id": row.configuration.id,
        "quant": row.best.quant.label,
        "target": row.best.target.id,
        "runner_up": row.runner_up.quant.label,
        "full_context": row.at_full_context.best.quant.label,
        "need_gb": printed.amount(row.best.need.total_bytes),
        "usable_gb": printed.amount(row.configuration.usable_bytes),
        "low": printed.rate(row.speed.low_tok_s),
        "high": printed.rate(row.speed.high_tok_s),
        "ceiling": printed.rate(row.weights_ceiling_tok_s),
        "tier": str(row.estimate.tier),
        "reasons": ", ".join(reasons.LABELS[r.code] for r in row.estimate.reasons),
    }


def test_the_56_rows_are_reproduced_as_printed_in_order(page):
    assert len(page.rows) == 56
    assert [printed_row(rank, row) for rank, row in enumerate(page.rows, 1)] == expected("rows")


def test_the_24_sizes_are_reproduced_as_printed_in_order(page):
    found = [
        {
            "label": row.quant.label,
            "family": row.quant.family,
            "id": row.quant.id,
            "bits": f"{row.quant.bits_per_weight:g}",
            "quality": row.quant.quality,
            "rank": str(row.quant.rank),
            "capacity_gb": printed.amount(row.weights.capacity_bytes),
            "active_gb": printed.amount(row.weights.active_bytes),
            "basis": "Computed" if row.weights.basis is SizeBasis.BITS else "exact",
        }
        for row in page.sizes
    ]
    assert len(found) == 24
    assert found == expected("quants")


def test_the_four_without_a_result_are_reproduced_with_their_reason(page):
    found = []
    for row in page.without:
        assert row.reason.code == "estimate_no_target"
        name, memory = printed.device(row.configuration)
        said = row.reason.params
        found.append(
            {
                "name": name,
                "memory": memory,
                "usable_gb": printed.amount(row.configuration.usable_bytes),
                "bandwidth_gb_s": printed.bandwidth(
                    row.configuration.bandwidth_bytes_s
                ).removesuffix(" GB/s"),
                "quant": said["quant"],
                "memory_again": said["memory"],
                "name_again": said["device"],
                "id": said["id"],
            }
        )
    assert found == expected("unsupported")


def test_what_to_start_with(page):
    smallest = page.start.smallest
    assert printed.device(smallest.configuration) == ("Intel Arc B580", "12 GB")
    assert printed.memory(smallest.configuration.usable_bytes) == "12 GB"
    assert (smallest.best.quant.label, smallest.best.quant.quality) == ("Q8_0", "excellent")
    for rate, found in zip((10, 20, 40), page.start.cheapest, strict=True):
        assert found.rate_tok_s == rate
        assert printed.device(found.row.configuration) == ("Intel Arc B580", "12 GB")
        assert printed.price(found.row.configuration.price_usd) == "$249"


def test_only_reasons_that_a_row_has_are_explained_by_the_alphabet(page):
    assert [reasons.LABELS[r.code] for r in page.meanings] == [
        "computed artifact size",
        "exposed latency uncalibrated",
        "matched target",
        "outside efficiency regime",
    ]
    assert [dict(r.params) for r in page.meanings] == [
        {"quant": "BF16"},
        {"target": "vllm-cuda"},
        {"target": "vllm-cuda"},
        {"target": "vllm-cuda", "family": "bf16"},
    ]


def test_the_context_stands_beside_every_range(page):
    assert page.sheet.use.depth == 1024
    assert page.full_context == 131_072
    assert {row.estimate.use.depth for row in page.rows} == {1024}


def page_with(*changes, targets=()):
    """The page over copies of one device, each with an id and other changes."""
    profile = profiles.compatibility_profile()
    device = find("geforce-rtx-4070-12gb", profile.configurations)
    devices = tuple(replace(device, **change) for change in changes)
    changed = replace(profile, configurations=devices, targets=(*profile.targets, *targets))
    return page_of(find("llama-3.2-1b-instruct", profiles.models()), changed)


def ids(page):
    return [row.configuration.id for row in page.rows]


def test_ties_go_by_memory_then_price_then_id():
    heavy = replace(profiles.compatibility_profile().targets[0], device_class="heavy")
    heavy = replace(heavy, overhead_bytes=heavy.overhead_bytes + 1)
    page = page_with(
        {"id": "a-needs-more", "device_class": "heavy", "price_usd": 1.0},
        {"id": "b-no-price", "price_usd": None},
        {"id": "c-dear", "price_usd": 900.0},
        {"id": "e-cheap", "price_usd": 500.0},
        {"id": "d-cheap", "price_usd": 500.0},
        {"id": "z-fast", "bandwidth_bytes_s": 1e12},
        targets=(heavy,),
    )
    order = ["z-fast", "d-cheap", "e-cheap", "c-dear", "b-no-price", "a-needs-more"]
    assert ids(page) == order


def test_the_low_end_decides_and_only_priced_devices_take_part():
    per_tok_s = 504e9 / 116.67
    page = page_with(
        {"id": "free", "price_usd": None, "bandwidth_bytes_s": 1e12},
        {"id": "slow", "price_usd": 100.0, "bandwidth_bytes_s": 19 * per_tok_s},
        {"id": "fast", "price_usd": 200.0, "bandwidth_bytes_s": 41 * per_tok_s},
    )
    slow = next(row for row in page.rows if row.configuration.id == "slow")
    assert slow.speed.low_tok_s < 20 < slow.speed.high_tok_s
    found = [cheapest.row.configuration.id for cheapest in page.start.cheapest]
    assert found == ["slow", "fast", "fast"]


def test_nothing_is_the_cheapest_where_nothing_is_fast_enough():
    page = page_with({"id": "slow", "price_usd": 100.0, "bandwidth_bytes_s": 1e10})
    assert [cheapest.row for cheapest in page.start.cheapest] == [None, None, None]


def test_what_does_not_fit_has_the_smallest_that_was_tried_as_reason():
    page = page_with({"id": "tiny", "usable_bytes": 10**9})
    assert not page.rows
    assert page.start.smallest is None
    assert page.without[0].reason.code == "estimate_too_large"
    assert page.without[0].reason.params["need"] == "4 GB"


def test_an_unknown_bandwidth_is_a_reason_and_no_rate():
    page = page_with({"id": "dark", "bandwidth_bytes_s": None})
    assert [row.reason.code for row in page.without] == ["estimate_no_bandwidth"]


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, float("nan"), float("inf")])
def test_an_absurd_bandwidth_is_a_reason_and_no_rate(bandwidth):
    page = page_with({"id": "odd", "bandwidth_bytes_s": bandwidth})
    assert [row.reason.code for row in page.without] == ["bad_number"]
