"""cli: options that click has no type for."""

import pytest

from desktop.cli import main


@pytest.mark.parametrize("tests", ["pp16,pp16", "tg4,pp16,tg4"])
def test_a_test_that_is_named_twice_is_refused_before_it_is_measured(tests, capsys):
    assert main(["bench", "--tests", tests]) == 2
    assert "each test once" in capsys.readouterr().err
