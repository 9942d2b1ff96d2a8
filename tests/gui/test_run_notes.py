"""What the window says of a run that was measured beside busy programs."""

from dataclasses import replace

from desktop.records.run import Note
from desktop.ui import messages
from tests.golden import full


def test_how_busy_other_programs_were_is_said(qapp):
    run = full.full_run()
    busy = replace(run, after=replace(run.after, other_load_percent=63.6))
    assert "took 64 % of the processors" in messages.run_note(Note.OTHER_LOAD, busy)
    for note in Note:
        assert "{" not in messages.run_note(note, busy)
    assert messages.run_note(Note.ON_BATTERY, busy) == messages.note(Note.ON_BATTERY)
