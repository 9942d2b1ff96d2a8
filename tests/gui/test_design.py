"""The design system: contrast, completeness, and following the system's light and dark."""

import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette

from desktop.ui import design
from desktop.ui.design import COLOURS, TEXT_PAIRS, Colours, Scheme, Type


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_knows_black_on_white():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("scheme", Scheme)
@pytest.mark.parametrize(("text", "ground"), TEXT_PAIRS)
def test_text_is_readable(scheme, text, ground):
    colours = COLOURS[scheme]
    assert contrast(getattr(colours, text), getattr(colours, ground)) >= 4.5


@pytest.mark.parametrize("scheme", Scheme)
@pytest.mark.parametrize("ground", ["window", "rail", "card"])
def test_focus_ring_is_visible(scheme, ground):
    colours = COLOURS[scheme]
    assert contrast(colours.accent, getattr(colours, ground)) >= 3


@pytest.mark.parametrize("scheme", Scheme)
def test_style_rules_use_the_schemes_colours_only(qapp, scheme):
    used = set(re.findall(r"#[0-9a-f]{6}\b", design.stylesheet(scheme)))
    assert used <= {getattr(COLOURS[scheme], name) for name in Colours._fields}


def test_palette_is_the_schemes(qapp):
    made = design.palette(Scheme.DARK)
    assert made.color(QPalette.ColorRole.Window) == QColor(COLOURS[Scheme.DARK].window)
    disabled = made.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text)
    assert disabled == QColor(COLOURS[Scheme.DARK].disabled)


def test_fonts_have_figures_of_equal_width_and_a_least_size(qapp):
    font = design.font(Type.BODY)
    assert font.pixelSize() >= 14
    assert font.featureValue(font.Tag("tnum")) == 1
    assert design.font(Type.FIGURE).pixelSize() > 2 * font.pixelSize()


def test_unknown_scheme_is_light(theme):
    assert theme.scheme is Scheme.LIGHT


def test_follows_the_system_live(qtbot, qapp, theme, window):
    theme.use(Scheme.LIGHT)
    with qtbot.waitSignal(theme.changed):
        qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    dark = COLOURS[Scheme.DARK]
    assert window.palette().color(QPalette.ColorRole.Window) == QColor(dark.window)
    plot = window.content.measure.live.graph.plot
    assert plot.backgroundBrush().color() == QColor(dark.card)
    assert dark.window in qapp.styleSheet()


def test_same_scheme_again_changes_nothing(qtbot, theme):
    with qtbot.assertNotEmitted(theme.changed):
        theme.use(theme.scheme)
