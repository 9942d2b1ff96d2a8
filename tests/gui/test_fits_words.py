"""What the window says of builds that are proposed, of those that are not offered, and of prompts."""

import pytest

from desktop.records.fits import Fit
from desktop.ui.fits_fields import detail_lines
from desktop.ui.fits_list import FITTING, FitsList
from desktop.ui.here_page import HerePage
from tests.gui import fits_demo


@pytest.fixture
def listed(qtbot):
    made = FitsList()
    qtbot.addWidget(made)
    made.show_fits(fits_demo.fits(), {})
    return made


def rows(model):
    return [model.record(at) for at in range(model.rowCount())]


def test_the_rule_by_which_a_quantization_is_listed_is_told(listed):
    assert "whose whole range is above 10" in " ".join(listed._notes())


def test_a_model_beyond_its_training_is_not_called_too_large(listed):
    ruled_out = [row for row in rows(listed.model) if row.fit is Fit.RULED_OUT]
    assert ruled_out
    at = rows(listed.model).index(ruled_out[0])
    assert listed.model.row(at)[2].endswith("\nnot run here")
    listed.show_only.choose(FITTING)
    assert all(row.runs for row in rows(listed.model))


def test_the_prompts_rate_is_told_with_its_length():
    row = next(row for row in fits_demo.fits().rows if row.estimate.prompt)
    told = [line for line in detail_lines(row, None) if line.startswith("Prompt:")]
    assert len(told) == 1
    assert "512 tokens from an empty cache (pp512)" in told[0]


def test_quantizations_without_a_row_have_their_reason(qtbot):
    page = HerePage()
    qtbot.addWidget(page)
    known = fits_demo.here_page()
    page.show_page(known.fits, {}, known.written)
    said = " ".join(page._left_out)
    assert "MXFP4 is made for mixtures of experts" in said
    assert "AWQ" in said
