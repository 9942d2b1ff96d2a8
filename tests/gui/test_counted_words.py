"""One is not told as many, and numbers in the window's sentences have marks."""

from desktop.errors import Reason
from desktop.estimate.page_words import position_said, room_said
from desktop.ui import estimate_words as ew
from desktop.ui import messages
from desktop.ui.context_slider import tokens_in_words


def test_one_token_is_not_told_as_many(qapp):
    assert tokens_in_words(1) == "1 token"
    assert tokens_in_words(4096).endswith("96 tokens")
    assert ew.said(room_said(1)) == "Memory is counted with room for one token."
    assert "after one other, batch 1" in ew.said(position_said(1))
    assert "after 0 others, batch 1" in ew.said(position_said(0))


def test_the_windows_sentences_have_thousands_marks(qapp):
    told = {"name": "Model", "trained": 40960, "found": 131_072}
    text = messages.sentence(Reason("estimate_beyond_context", told))
    assert text == "Model is trained for 40,960 tokens; 131,072 are more."
