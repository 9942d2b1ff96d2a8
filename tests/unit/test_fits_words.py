"""The words of a question about what fits."""

import json

import pytest

from desktop import cli
from desktop.errors import GramError
from desktop.services.fits_words import labels_and_names, refuse_unknown


@pytest.mark.parametrize("name", ["q4_k_m", "Q4_K_M", "llama-3.2-1b-instruct:Q4_K_M"])
def test_a_label_is_told_from_names(name):
    labels, names = labels_and_names((name,))
    assert labels == {"q4_k_m"}
    assert names == (() if ":" not in name else ("llama-3.2-1b-instruct",))


@pytest.mark.parametrize(
    ("word", "found"),
    [("F16", "fp16"), ("fp16", "fp16"), ("awq", "awq_4bit"), ("MXFP4_MOE", "mxfp4")],
)
def test_a_quantization_has_the_names_that_people_use(word, found):
    assert labels_and_names((word,)) == (frozenset({found}), ())


@pytest.mark.parametrize("words", [(), ("qwen", "7b", "q4_k_m"), ("bf16",), ("Llama 3.2",), ("",)])
def test_what_there_is_passes(words):
    assert refuse_unknown(words) is None


@pytest.mark.parametrize(
    ("words", "code", "near"),
    [
        (("q4_k_n",), "quant_near", "Q4_K_M"),
        (("llama", "Q4KM"), "quant_near", "Q4_K_M"),
        (("iq5_xxs",), "quant_near", "IQ"),
        (("lamma",), "word_near", "llama"),
        (("gemna", "q8_0"), "word_near", "gemma"),
        (("qwn3-8b",), "word_near", "qwen3-8b"),
    ],
)
def test_a_slip_gets_what_was_meant(words, code, near):
    with pytest.raises(GramError) as e:
        refuse_unknown(words)
    assert e.value.code == code
    assert near in e.value.reason.advice()


def test_a_word_like_nothing_is_unknown():
    with pytest.raises(GramError) as e:
        refuse_unknown(("zzzzzzzzzz",))
    assert e.value.code == "model_unknown"


def test_words_of_different_models_are_told_apart():
    with pytest.raises(GramError) as e:
        refuse_unknown(("llama", "qwen", "gemma"))
    assert e.value.code == "words_apart"


def test_the_terminal_ends_with_misuse_before_it_looks_at_the_machine(home, capsys):
    assert cli.main(["fits", "q4_k_n", "--json"]) == 2
    said = capsys.readouterr()
    assert json.loads(said.out)["error"]["code"] == "quant_near"
    assert "Q4_K_M" in said.err


def test_a_depth_beyond_the_context_is_refused(home, capsys):
    assert cli.main(["fits", "--context", "512", "--depth", "512"]) == 2
    assert "--context 513" in capsys.readouterr().err
