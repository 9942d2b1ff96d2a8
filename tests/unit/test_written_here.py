"""The arithmetic of this machine's page is right, and leads to the range that is told."""

from dataclasses import replace

import pytest

from desktop.estimate.fitting import Room
from desktop.estimate.here import rows_here
from desktop.estimate.placed_work import Sides
from desktop.estimate.sheet import sheet_of
from desktop.estimate.written_here import written_here
from desktop.records.estimate import Tier
from desktop.records.fits import Fit
from desktop.services.profiles import own_profile
from tests.unit import test_fits
from tests.unit.test_fits import (
    GIB,
    HOST,
    SMALL,
    asked,
    evidence_with,
    here,
    rates,
    side,
)
from tests.unit.test_written import check_lines, worked_out

LARGE = "llama-3.1-8b-instruct"
MIXTURE = "qwen3-30b-a3b"
DEPTH = 1024


def page(of, machine):
    """A row, and what is written out of it."""
    sheet = sheet_of(of.model, own_profile(), DEPTH, (of.quant,))
    [row] = rows_here(machine, [of], sheet.use)
    builds = {of.quant.id: of.build} if of.build else {}
    return row, written_here(machine, sheet, [row], builds)[of.quant.id]


def by_code(lines):
    return {line.what[0].code: line for line in lines}


def check(of, machine):
    """Each line is right, and they lead to what the row tells; returns both."""
    row, written = page(of, machine)
    check_lines(written.arithmetic)
    found = by_code(written.arithmetic)
    assert found["written.need"].value == row.estimate.need.total_bytes
    assert found["written.read"].value == of.weights.active_bytes
    speed = row.estimate.decode
    ends = [line.value for line in written.arithmetic if line.unit == "tok/s"]
    assert ends == [speed.low_tok_s, speed.high_tok_s, pytest.approx(speed.ceiling_tok_s)]
    assert sum(layer.weight_bytes for layer in written.layers) == of.weights.capacity_bytes
    return row, written


def offloading(*cards, **changes):
    """A machine with cards that bear only a part."""
    names = tuple(f"CUDA{i}" for i in range(len(cards)))
    sides = {"gguf_kquant": Sides(tuple(side() for _ in cards), side())}
    room = Room(cards, 64 * GIB, overhead_bytes=300 << 20)
    return here(room=room, cards=names, rates={}, sides=sides, **changes)


def test_by_parts_each_type_is_read_at_its_measured_rate():
    row, written = check(asked(), here())
    assert row.estimate.tier is Tier.B
    lines = [line for line in written.arithmetic if line.what[0].code == "written.here.type"]
    said = {line.what[0].params["type"]: line.what[0].params["rate"] for line in lines}
    assert (said["Q4_K"], said["Q6_K"]) == ("27.2 GB/s", "27.9 GB/s")
    found = by_code(written.arithmetic)
    for code in ("layers", "token", "cache", "whole", "longest", "shortest"):
        assert found[f"written.here.{code}"].unit == "\N{MICRO SIGN}s"
    assert "written.here.runs" not in found
    assert 1e6 / found["written.here.whole"].value == pytest.approx(row.middle_tok_s, rel=1e-4)


def test_a_type_that_was_not_measured_says_where_its_rate_is_from():
    _, written = check(asked(label="Q5_1"), here())
    line = by_code(written.arithmetic)["written.here.near"]
    assert "not measured, taken from Q4_0, Q8_0" in line.text()


def test_what_caches_save_is_taken_away():
    known = {HOST: replace(rates()[HOST], last_level_cache_bytes=64 << 20)}
    _, written = check(asked("smollm2-135m-instruct", "Q4_0"), here(rates=known))
    found = by_code(written.arithmetic)
    saved, whole = found["written.here.saved"], found["written.here.whole"]
    assert f"\N{MINUS SIGN} {saved.result}" in whole.expression


@pytest.mark.parametrize("build", ["b3", ""])
def test_by_runs_the_likeliest_time_is_theirs(build):
    seen = tuple(
        test_fits.TestTiers.seen(asked("smollm2-1.7b-instruct"), f"b{i}", 1.2) for i in range(8)
    )
    row, written = check(asked(build=build), here(evidence=evidence_with(seen)))
    assert row.estimate.tier is Tier.A
    line = by_code(written.arithmetic)["written.here.runs"]
    assert "8 own runs of 8 builds" in line.text()
    assert 1e6 / line.value == pytest.approx(row.middle_tok_s)


def test_a_range_that_the_ceiling_ends_says_so():
    row, written = check(asked(label="Q8_0"), here(bandwidths={HOST: 29.3e9}))
    assert row.estimate.decode.high_tok_s == row.estimate.decode.ceiling_tok_s
    found = by_code(written.arithmetic)
    assert "the ceiling" in found["written.here.high"].text()
    by_times = 1e6 / found["written.here.shortest"].value
    assert found["written.here.high"].what[0].params["rate"] == f"{by_times:,.1f}"


def test_by_the_catalogue_as_on_a_devices_page():
    machine = here(rates={}, sides={"gguf_kquant": Sides((), side())})
    row, written = check(asked(), machine)
    assert row.estimate.tier is Tier.C
    assert by_code(written.arithmetic)["written.time.read"]


@pytest.mark.parametrize(
    ("of", "cards", "fit"),
    [
        (asked(LARGE), (3 * GIB,), Fit.WITH_OFFLOAD),
        (asked(MIXTURE), (8 * GIB,), Fit.WITH_OFFLOAD),
        (asked(LARGE), (4 * GIB, 3 * GIB), Fit.ON_CARD),
        (asked(LARGE), (12 * GIB,), Fit.ON_CARD),
        (asked(MIXTURE), (6 * GIB, 6 * GIB), Fit.WITH_OFFLOAD),
    ],
)
def test_of_several_devices_each_has_its_lines(of, cards, fit):
    machine = offloading(*cards)
    row, written = check(of, machine)
    assert row.fit is fit
    names = {
        said.params["device"]
        for line in written.arithmetic
        for said in line.what
        if said.code == "written.on"
    }
    several = fit is Fit.WITH_OFFLOAD or len(cards) > 1
    host = {HOST} if fit is Fit.WITH_OFFLOAD else set()
    assert names == ({*machine.cards} | host if several else set())
    found = by_code(written.arithmetic)
    there = found["written.here.cards.own"]
    assert there.value * GIB == pytest.approx(row.card_bytes)
    assert worked_out(there.expression) <= worked_out(found["written.here.room"].expression)


def test_offload_by_parts_names_the_devices():
    known = {**rates(), "CUDA0": rates()[HOST]}
    machine = here(
        room=Room((3 * GIB,), 16 * GIB), cards=("CUDA0",), rates=known,
        bandwidths={HOST: 32.5e9, "CUDA0": 300e9},
    )  # fmt: skip
    row, written = check(asked(LARGE), machine)
    assert (row.fit, row.estimate.tier) == (Fit.WITH_OFFLOAD, Tier.B)
    said = "\n".join(line.text() for line in written.arithmetic)
    assert "on CUDA0:" in said
    assert "on CPU:" in said


def test_what_does_not_fit_has_its_memory_written_out_and_no_rate():
    row, written = page(asked("llama-3.1-70b-instruct"), here())
    assert row.fit is Fit.NOWHERE
    check_lines(written.arithmetic)
    found = by_code(written.arithmetic)
    assert found["written.need.told"].value > found["written.here.system"].value
    assert not [line for line in written.arithmetic if line.unit == "tok/s"]


def test_several_rows_are_written_out_as_each_alone():
    of, other = asked(SMALL), asked(SMALL, "Q8_0")
    sheet = sheet_of(of.model, own_profile(), DEPTH, (of.quant, other.quant))
    found = written_here(here(), sheet, rows_here(here(), [of, other], sheet.use), {})
    assert found["q4_k_m"] == page(of, here())[1]
    assert found["q8_0"] == page(other, here())[1]
