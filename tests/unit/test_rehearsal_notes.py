"""What a rehearsal says of the moment in which it was measured."""

import json
import os
import queue
from dataclasses import replace

import pytest

from desktop.cli import fits_json, fits_show
from desktop.machine.load import LoadReader
from desktop.records.machine import Conditions, PowerSupply
from desktop.records.rehearsal import Rehearsal, RehearsalRequest, RehearsedDepth
from desktop.records.run import Note
from desktop.rules.notes import WORDS, notes_around
from desktop.services.attempt import Outside
from desktop.services.rehearsals import RehearsalSession
from desktop.services.slow import SlowCalls
from desktop.sources.system import CpuTimes

CALM = Conditions(PowerSupply.MAINS, None, None, None, 1.0, None)
ON_BATTERY = replace(CALM, power_supply=PowerSupply.BATTERY)
FOUND = Rehearsal(
    model="smollm2-135m-instruct",
    quant="q4_0",
    layers=30,
    active_bytes=80_000_000,
    depths=(RehearsedDepth(30, 80_000_000, (0.01,) * 6),),
    low_tok_s=90.0,
    middle_tok_s=100.0,
    high_tok_s=110.0,
    engine="llama.cpp",
    engine_version="b1",
    backend="CPU",
    threads=2,
    at="2026-12-01T00:00:00Z",
)


@pytest.mark.parametrize(
    ("before", "after", "notes"),
    [
        (CALM, CALM, ()),
        (CALM, replace(CALM, other_load_percent=40.0), (Note.OTHER_LOAD,)),
        (ON_BATTERY, CALM, (Note.ON_BATTERY,)),
        (CALM, replace(ON_BATTERY, other_load_percent=9.0), (Note.ON_BATTERY, Note.OTHER_LOAD)),
    ],
)
def test_the_machines_state_has_the_notes_of_runs(before, after, notes):
    assert notes_around(before, after) == notes


def test_the_terminal_says_them(capsys):
    fits_show.rehearsal(replace(FOUND, notes=(Note.OTHER_LOAD,)))
    said = " ".join(capsys.readouterr().out.split())
    assert WORDS[Note.OTHER_LOAD] in said
    fits_show.rehearsal(FOUND)
    assert "Note" not in capsys.readouterr().out


def test_json_has_them():
    told = fits_json.rehearsal(replace(FOUND, notes=(Note.ON_BATTERY,)))
    assert json.loads(json.dumps(told))["rehearsal"]["notes"] == ["on_battery"]


class Busy:
    """Counts up as the times of a machine would of which others take a share."""

    def __init__(self, share):
        self.share, self.looks = share, 0

    def times(self):
        self.looks += 1
        return CpuTimes(busy_s=self.share * self.looks, total_s=1.0 * self.looks)


@pytest.mark.engine
@pytest.mark.parametrize(("share", "noted"), [(0.5, True), (0.01, False)])
def test_one_beside_busy_programs_says_so(home, share, noted):
    slow = SlowCalls()
    try:
        outside = Outside(home, slow, "a test", os.environ)
        request = RehearsalRequest("smollm2-135m-instruct:Q4_0", threads=1, tokens=8)
        load = LoadReader(Busy(share).times, lambda _: 0.0)
        end = RehearsalSession(request, outside, queue.SimpleQueue().put, load).run()
    finally:
        slow.shutdown()
    assert (Note.OTHER_LOAD in end.rehearsal.notes) is noted
