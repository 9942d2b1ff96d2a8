"""Numbers in the sentences of reasons."""

import math

import pytest

from desktop.errors import Reason, in_sentence


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (7, "7"),
        (999, "999"),
        (4096, "4,096"),
        (40960, "40,960"),
        (-40960, "-40,960"),
        (1e6, "1,000,000"),
        (9.0, "9.0"),
        (1234.5, "1234.5"),
        (1e18, "1e+18"),
        (math.inf, "inf"),
        (math.nan, "nan"),
        ("2048", "2048"),
    ],
)
def test_whole_thousands_have_marks_and_text_is_as_it_is(value, words):
    assert in_sentence(value) == words


def test_a_reason_tells_tokens_with_marks():
    told = {"name": "Model", "trained": 40960, "found": 131_072}
    text = Reason("estimate_beyond_context", told).text()
    assert text == "Model is trained for 40,960 tokens; 131,072 are more."
