"""Memory of a card that a driver and a display take: a build that leaves none is not proposed."""

import pytest

from desktop import resources
from desktop.errors import GramError
from desktop.estimate import held_back, printed
from desktop.estimate.catalogue import find
from desktop.estimate.device_page import device_page_of
from desktop.estimate.held_back import read_held_back
from desktop.estimate.sheet import sheet_of
from desktop.services import estimate_tables, profiles

GIB = 1 << 30
RULE = read_held_back(resources.text(held_back.RESOURCE))


def recommended(profile, model, device, position=1024):
    sheet = sheet_of(find(model, profiles.models()), profile, position)
    page = device_page_of(sheet, find(device, profile.configurations))
    best = page.choice.best
    return page, best, next(row for row in page.quants if row.quant == best.quant)


def test_a_build_that_leaves_25_mb_of_a_card_is_not_recommended():
    """Q6_K of Qwen3 30B A3B fits into 24 GiB by a hair: no display may be on such a card."""
    _, best, _ = recommended(profiles.own_profile(), "qwen3-30b-a3b", "geforce-rtx-3090-24gb")
    assert 24 * GIB - best.need_bytes > GIB // 2
    assert best.quant.id != "q6_k"


@pytest.mark.parametrize("configuration", profiles.own_profile().configurations, ids=lambda c: c.id)
def test_of_each_card_something_is_held_back_and_of_shared_memory_nothing(configuration):
    told = find(configuration.id, estimate_tables.configurations())
    if told.shared_memory or told.device_class.startswith("cpu-"):
        assert configuration == told
        return
    assert configuration.held_back_bytes >= max(GIB // 2, 0.0299 * told.memory_bytes)
    assert configuration.usable_bytes + configuration.held_back_bytes == told.memory_bytes
    assert configuration.usable_bytes <= told.usable_bytes


def test_what_leaves_less_than_a_twentieth_is_called_tight():
    profile = profiles.own_profile()
    tight = 0
    for name in ("qwen3-30b-a3b", "llama-3.1-8b-instruct", "gemma-3-27b-it"):
        sheet = sheet_of(find(name, profiles.models()), profile, 1024)
        for configuration in profile.configurations[::5]:
            for row in device_page_of(sheet, configuration).quants:
                if row.option is None or not row.option.fits or row.estimate.decode is None:
                    continue
                left = 1 - row.option.need_bytes / configuration.usable_bytes
                codes = [reason.code for reason in row.estimate.reasons]
                assert ("estimate_tight" in codes) == (left < 0.05)
                tight += left < 0.05
    assert tight > 3


def test_the_page_that_is_reproduced_holds_nothing_back():
    profile = profiles.compatibility_profile()
    page, _, row = recommended(profile, "llama-3.1-8b-instruct", "arc-b580-12gb")
    assert page.configuration.held_back_bytes == 0
    assert "estimate_tight" not in [reason.code for reason in row.estimate.reasons]


def test_the_arithmetic_subtracts_it():
    page, best, _ = recommended(profiles.own_profile(), "qwen3-30b-a3b", "geforce-rtx-3090-24gb")
    line = next(line for line in page.arithmetic if line.what[0].code == "written.usable")
    assert line.expression.startswith("(25,769,803,776 − 773,094,113)")  # noqa: RUF001
    assert line.unit == "GiB"
    assert line.value * GIB >= best.need_bytes


@pytest.mark.parametrize(
    "text",
    [
        "",
        "memory,least_mib,share,tight_share,source\n",
        "memory,least_mib,share,tight_share,source\nown,x,0.1,0.1,assumed\n",
        "memory,least_mib,share,tight_share,source\nown,512,1.5,0.1,assumed\n",
        "memory,least_mib,share,tight_share,source\nown,512,nan,0.1,assumed\n",
        "memory,least_mib,share,tight_share,source\nown,-1,0.1,0.1,assumed\n",
    ],
)
def test_a_damaged_rule_is_named(text):
    with pytest.raises(GramError) as caught:
        read_held_back(text)
    assert caught.value.code == "resource_damaged"


def test_a_card_smaller_than_what_is_held_back_has_nothing_left():
    assert RULE.of_memory(100) == 100


@pytest.mark.parametrize(
    ("need", "usable", "told"),
    [
        (24 * GIB + 1_000_000_000, 24 * GIB, ("24.9 GiB", "24 GiB")),
        (24 * GIB + 30_000_000, 24 * GIB, ("24.03 GiB", "24.00 GiB")),
        (24 * GIB + 1, 24 * GIB, ("24 GiB", "24 GiB")),
    ],
)
def test_what_is_needed_and_what_there_is_are_told_apart(need, usable, told):
    """It said that a build needs 24 GiB of the 24 GiB there are."""
    assert printed.apart(need, usable, GIB) == told
