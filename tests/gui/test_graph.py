"""The live graph: fewer points, redrawn on new data only, slow enough to cost nothing."""

import pytest

from desktop.records.request import Curves
from desktop.ui import format as fmt
from desktop.ui import live_card
from desktop.ui.decimate import ceiling, decimate
from desktop.ui.plot import MAX_POINTS
from tests.gui import demo


def test_decimation_keeps_the_extremes():
    points = [(float(x), 10.0) for x in range(5000)]
    points[1234] = (1234.0, 99.0)
    points[4321] = (4321.0, 0.5)
    kept = decimate(points, MAX_POINTS)
    assert len(kept) <= MAX_POINTS
    assert (1234.0, 99.0) in kept
    assert (4321.0, 0.5) in kept
    assert [x for x, _ in kept] == sorted(x for x, _ in kept)


def test_few_points_are_left_alone():
    points = [(0.0, 1.0), (1.0, 2.0)]
    assert decimate(points, MAX_POINTS) is points


@pytest.mark.parametrize(("value", "end"), [(0, 1), (53, 60), (60, 60), (1234, 1250), (7e-9, 1)])
def test_axes_end_at_round_numbers(value, end):
    assert ceiling(value, 1) == pytest.approx(end)


def test_draws_new_data_only(window):
    graph = window.content.measure.live.graph
    assert graph.draw(demo.curves())
    assert not graph.draw(demo.curves())
    assert graph.draw(demo.curves(60))


def test_the_plot_holds_what_was_pulled(window):
    graph = window.content.measure.live.graph
    curves = Curves(((1.0, 48.0), (2.0, 49.0)), ((0.5, 312.0),), ((1.0, 27.0),))
    graph.draw(curves)
    generation, prompt, power = graph.plot._lines
    assert list(generation.yData) == [48.0, 49.0]
    assert list(prompt.getData()[1]) == [312.0]
    assert list(power.xData) == [1.0]


def test_a_new_run_starts_with_its_own_scale(window, services):
    graph = window.content.measure.live.graph
    graph.draw(demo.curves(300))
    assert graph.plot._reach["x"] >= 300
    window.content.measure.measure()
    services.shown = Curves(((1.0, 48.0),))
    window.content.measure.live.refresh()
    assert graph.plot._reach["x"] == 10
    services.post(demo.finished())


def test_curves_are_pulled_only_during_a_run(qtbot, window, services):
    assert services.pulled == 0
    window.content.measure.measure()
    qtbot.waitUntil(lambda: services.pulled > 0, timeout=5 * live_card.PULL_MS)
    services.post(demo.finished())
    assert not window.content.measure.live._timer.isActive()


def test_description_has_the_last_values_or_the_dash(window):
    graph = window.content.measure.live.graph
    graph.draw(Curves(((1.0, 48.0),)))
    said = graph.accessibleDescription().replace("\N{NO-BREAK SPACE}", " ")
    assert said == f"Last values: generation 48.0 tok/s, prompt {fmt.DASH}, power {fmt.DASH}."


def test_words_until_there_is_data(window):
    graph = window.content.measure.live.graph
    assert graph._stack.currentWidget() is graph._words
    graph.draw(demo.curves())
    assert graph._stack.currentWidget() is graph.plot
