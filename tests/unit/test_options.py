"""cli: options that click has no type for."""

import pytest

from desktop.cli import main


@pytest.mark.parametrize("tests", ["pp16,pp16", "tg4,pp16,tg4"])
def test_a_test_that_is_named_twice_is_refused_before_it_is_measured(tests, capsys):
    assert main(["bench", "--tests", tests]) == 2
    assert "each test once" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "misspelt", "hidden"),
    [
        ("bench", "--fualt", "--fault"),
        ("bench", "--test", "--tests"),
        ("parts", "--second", "--seconds"),
        ("parts", "--faults", "--fault"),
        ("fits", "--token", "--tokens"),
    ],
)
def test_a_misspelt_option_leads_nobody_to_those_for_tests(command, misspelt, hidden, capsys):
    assert main([command, misspelt, "x"]) == 2
    said = capsys.readouterr().err
    assert f"No such option '{misspelt}'" in said
    assert hidden not in said.replace(misspelt, "")


def test_a_misspelt_option_gets_the_near_one_that_the_help_shows(capsys):
    assert main(["bench", "--key-fil", "x"]) == 2
    assert "--key-file" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["bench", "parts"])
def test_a_fault_that_there_is_not_is_a_usage_error(command, capsys):
    assert main([command, "--unsigned", "--fault", "rain"]) == 2
    assert "crash, hang" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("bench", "--threads", "abc"), "'abc' is not a valid whole number"),
        (("bench", "--gpu-layers", "1.5"), "'1.5' is not a valid whole number"),
        (("fits", "--context", "many"), "'many' is not a valid whole number"),
        (("estimate", "--context", "many"), "'many' is not a valid whole number"),
        (("power", "--seconds", "abc"), "'abc' is not a valid number"),
        (("bench", "--threads", "0"), "0 is not in the range 1<=x<=512"),
    ],
)
def test_what_is_no_number_is_called_so(arguments, words, capsys):
    assert main(list(arguments)) == 2
    assert words in capsys.readouterr().err
