"""What the window says of the moment in which a rehearsal was measured."""

from dataclasses import replace

from desktop.records.run import Note
from desktop.ui import messages
from desktop.ui.fits_fields import rehearsal_words
from tests.gui import fits_demo


def test_busy_programs_and_battery_are_told_beside_the_speed(qapp):
    calm = fits_demo.rehearsed().rehearsal
    found = replace(calm, notes=(Note.ON_BATTERY, Note.OTHER_LOAD))
    said = rehearsal_words(found)
    assert said.startswith(rehearsal_words(calm))
    assert messages.note(Note.ON_BATTERY) in said
    assert messages.note(Note.OTHER_LOAD) in said
