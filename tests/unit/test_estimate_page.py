"""The compatibility profile: an existing estimator's page, reproduced figure by figure.

What is expected is in tests/data/page003_*.csv: the figures and names as that page prints them.
"""

import csv
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
