"""The arithmetic of a device's page is right: each line is worked out again as a reader would."""

import ast
import operator

import pytest

from desktop.estimate.catalogue import find
from desktop.estimate.device_page import device_page_of
from desktop.estimate.page import position_of
from desktop.estimate.page_words import Said
from desktop.estimate.profile import ProfileId
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


def check(page, sheet):
    """Each line is right, and the lines lead to what the page shows."""
    check_lines(page.arithmetic)
    row = next((row for row in page.quants if page.shown and row.quant.id == page.shown.id), None)
    if row is None or row.option is None:
        assert not page.arithmetic
        return
    assert page.arithmetic
    by_name = {line.what[0].code: line for line in page.arithmetic}
    assert by_name["written.weights"].value == row.weights.capacity_bytes
    assert by_name["written.read"].value == row.weights.active_bytes
    assert by_name["written.need"].value == row.option.need.total_bytes
    cache = by_name.get("written.cache", by_name.get("written.group"))
    assert (cache.value if cache else 0) == sheet.cache_read_bytes
    if row.estimate.decode:
        assert by_name["written.low"].value == row.estimate.decode.low_tok_s
        assert by_name["written.high"].value == row.estimate.decode.high_tok_s


def check_lines(lines):
    for line in lines:
        shown = float(line.result.replace(",", ""))
        assert abs(worked_out(line.expression) - shown) <= 0.51 * last_place(line.result), (
            line.text()
        )


def test_the_calculator_finds_a_wrong_line():
    with pytest.raises(AssertionError):
        check_lines([Line((Said("written.weights"),), "2 + 3", 7, "bytes")])


@pytest.mark.parametrize("device", ["arc-b580-12gb", "geforce-rtx-3090-24gb", "apple-m4-16gb"])
def test_lines_of_the_compatibility_profile_lead_to_the_printed_figures(device):
    profile = profiles.compatibility_profile()
    model = find("llama-3.2-1b-instruct", profiles.models())
    sheet = sheet_of(model, profile, 1024)
    page = device_page_of(sheet, find(device, profile.configurations))
    check(page, sheet)
    assert page.shown is page.choice.best.quant


@pytest.mark.parametrize("model", profiles.models(), ids=lambda model: model.id)
@pytest.mark.parametrize("profile", list(ProfileId))
def test_lines_are_right_for_every_model_of_the_catalogue(profile, model):
    """The best that fits, and one of mixed types; on one device of each sort."""
    profile = profiles.profile(profile)
    quants = tuple(find(quant, profile.quants) for quant in ("fp16", "q4_k_m"))
    sheet = sheet_of(model, profile, position_of(model, None), quants)
    for device in ("b300-sxm-288gb", "apple-m3-ultra-512gb"):
        configuration = find(device, profile.configurations)
        check(device_page_of(sheet, configuration, quants[1]), sheet)
        check(device_page_of(sheet, configuration), sheet)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (2472000000, 12, "2,472,000,000"),
        (0.58, 12, "0.58"),
        (4285.714285714, 8, "4,285.7143"),
        (8.5, 12, "8.5"),
        (0.00012345678949, 8, "0.00012345679"),
        (1e-7, 12, "0.0000001"),
        (936200000000.0, 12, "936,200,000,000"),
    ],
)
def test_numbers_are_plain(value, digits, text):
    assert number(value, digits) == text
