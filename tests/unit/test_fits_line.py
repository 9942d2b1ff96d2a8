"""cli: the line that moves while `gram fits` works."""

import pytest

from desktop.cli.fits_line import FitsLine
from desktop.records.fits import FitsRequest
from desktop.services.estimates import FitsWork
from tests.unit.test_fits import SMALL, ground_with, here


def drawn(capsys, *, quiet=False):
    work = FitsWork(ground_with(here()), (FitsRequest(words=(SMALL,)),))
    with FitsLine(quiet=quiet) as line:
        line.reading()
        line.finish(work)
    assert work.fraction == 1
    assert work.answers()[0].rows
    return capsys.readouterr()


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_a_terminal_is_shown_how_far_it_is(capsys, terminal):
    said = drawn(capsys)
    assert not said.out
    assert "Working out what fits" in said.err
    assert "100 %" in said.err
    # the cursor goes back and what was drawn is erased
    assert said.err.rstrip().endswith("\x1b[2K")


def test_nothing_of_it_in_a_pipe(capsys):
    said = drawn(capsys)
    assert (said.out, said.err) == ("", "")


def test_nothing_of_it_beside_an_object_for_programs(capsys, terminal):
    said = drawn(capsys, quiet=True)
    assert (said.out, said.err) == ("", "")
