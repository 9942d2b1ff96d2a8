"""Options of `gram fits` that would change nothing are told, and so are builds that there are not."""

import json

import pytest

from desktop import cli

pytestmark = pytest.mark.usefixtures("home")
BUILD = ("--rehearse", "smollm2-135m-instruct:Q4_0")


@pytest.mark.parametrize("value", ["", " "])
def test_a_rehearsal_of_an_empty_name_is_told(value, capsys):
    assert cli.main(["fits", "--rehearse", value]) == 2
    said = capsys.readouterr()
    assert "Invalid value for '--rehearse': it is empty" in said.err
    assert not said.out


@pytest.mark.parametrize(
    ("build", "code", "advice"),
    [
        ("llama-3.2-1b-instruct", "rehearsal_no_quant", "llama-3.2-1b-instruct:Q4_K_M"),
        ("llama-3.2-1b-instruct:Q9", "quant_unknown", "Q4_K_M"),
        ("llama-3.2-1b-instrukt:Q4_0", "rehearsal_name", "llama-3.2-1b-instruct"),
        ("llama-3.2-1b-instruct:MXFP4", "estimate_mixtures_only", ""),
    ],
)
def test_a_rehearsal_of_a_build_that_there_is_not_is_a_slip(build, code, advice, capsys):
    assert cli.main(["fits", "--rehearse", build, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == code
    assert advice in error["advice"]


@pytest.mark.parametrize(
    "option",
    [("--context", "4096"), ("--depth", "0"), ("--at-least", "5"), ("--all",), ("--probe",),
     ("--unsigned",), ("--key-file", "key"), ("--allow-key-file",)],
)  # fmt: skip
def test_what_would_change_nothing_of_a_rehearsal_is_told(option, capsys):
    assert cli.main(["fits", *BUILD, *option]) == 2
    said = capsys.readouterr().err
    assert option[0] in said
    assert "--rehearse stands alone" in said


@pytest.mark.parametrize(
    "option", [("--unsigned",), ("--key-file", "key"), ("--allow-key-file",), ("--wait",)]
)
def test_what_is_for_measuring_needs_something_to_measure(option, capsys):
    assert cli.main(["fits", "smollm2", *option]) == 2
    said = capsys.readouterr().err
    assert option[0] in said
    assert "--probe" in said
