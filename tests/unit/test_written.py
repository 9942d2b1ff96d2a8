"""The arithmetic of a device's page is right: each line is worked out again as a reader would."""

import ast
import operator

import pytest

from desktop.estimate.catalogue import find
from desktop.estimate.device_page import device_page_of
from desktop.estimate.page_words import Said
from desktop.estimate.sheet import sheet_of
from desktop.estimate.written_line import Line, number
from desktop.services import profiles

SIGNS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}  # fmt: skip
ASCII = str.maketrans(
    {"\N{MULTIPLICATION SIGN}": "*", "\N{DIVISION SIGN}": "/", "\N{MINUS SIGN}": "-", ",": None}
)


def worked_out(expression):
    """A calculator that knows nothing but numbers, four signs and brackets."""
    return _node(ast.parse(expression.translate(ASCII), mode="eval").body)


def _node(node):
    if isinstance(node, ast.Constant):
        return node.value
    return SIGNS[type(node.op)](_node(node.left), _node(node.right))


def last_place(text):
    """What one in the last printed place is worth."""
    _, _, fraction = text.partition(".")
    return 10 ** -len(fraction)


def check(lines):
    assert lines
    for line in lines:
        shown = float(line.result.replace(",", ""))
        assert abs(worked_out(line.expression) - shown) <= 0.51 * last_place(line.result), (
            line.text()
        )


def test_the_calculator_finds_a_wrong_line():
    with pytest.raises(AssertionError):
        check([Line((Said("written.weights"),), "2 + 3", 7, "bytes")])


@pytest.mark.parametrize("device", ["arc-b580-12gb", "geforce-rtx-3090-24gb", "apple-m4-16gb"])
def test_lines_of_the_compatibility_profile_lead_to_the_printed_figures(device):
    profile = profiles.compatibility_profile()
    model = find("llama-3.2-1b-instruct", profiles.models())
    sheet = sheet_of(model, profile, 1024)
    page = device_page_of(sheet, find(device, profile.configurations))
    check(page.arithmetic)
    best = next(row for row in page.quants if row.quant.id == page.shown.id)
    by_name = {line.what[0].code: line for line in page.arithmetic}
    assert by_name["written.low"].value == best.estimate.decode.low_tok_s
    assert by_name["written.high"].value == best.estimate.decode.high_tok_s
    assert by_name["written.need"].value == best.option.need.total_bytes
    assert by_name["written.read"].value == best.option.weights.active_bytes


@pytest.mark.parametrize("model", profiles.models(), ids=lambda model: model.id)
def test_lines_are_right_for_every_model_of_the_catalogue(model):
    profile = profiles.compatibility_profile()
    sheet = sheet_of(model, profile, min(1024, model.context_trained))
    check(device_page_of(sheet, find("b300-sxm-288gb", profile.configurations), profile.quants[0]).arithmetic)  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"),
    [(2472000000, "2,472,000,000"), (0.58, "0.58"), (4285.714285714, "4,285.71429"), (8.5, "8.5"),
     (0.00012345678949, "0.000123456789"), (1e-7, "0.0000001"), (936200000000.0, "936,200,000,000")],
)  # fmt: skip
def test_numbers_are_plain(value, text):
    assert number(value) == text
