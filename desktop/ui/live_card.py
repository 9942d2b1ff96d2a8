"""Live figures and the graph: pulled by a timer while a run goes on."""

from collections.abc import Callable, Sequence
from statistics import harmonic_mean
from typing import Final

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QWidget

from desktop.records.events import Power, RepetitionDone
from desktop.records.request import Curves
from desktop.ui import format as fmt
from desktop.ui import messages
from desktop.ui.components import Card, Figure, row
from desktop.ui.design import Colours, Space
from desktop.ui.live_graph import LiveGraph

PULL_MS: Final = 2500
"""The window may cost the measurement 1 % of the processors' time. A redraw takes 9 to 14 ms (two
cores at 2.7 GHz); once a second was 1.2 % together with all the rest, as benchmarks/window_cost.py
measured."""
_SMOOTH: Final = 8
"""Steps that a live speed is the mean of: single steps jitter too much to be read."""


class LiveCard(Card):
    """What the run does now. `pull` gives the curves; it is called on the UI thread."""

    def __init__(
        self, pull: Callable[[], Curves], colours: Colours, parent: QWidget | None = None
    ) -> None:
        super().__init__("", parent)
        self.title.setText(self.tr("Live"))
        self.setAccessibleName(self.tr("Live"))
        self._pull = pull
        self.generation = Figure(self.tr("Generation"), "tok/s")
        self.prompt = Figure(self.tr("Prompt"), "tok/s")
        self.power = Figure(self.tr("Power"), "W")
        self.graph = LiveGraph(colours)
        self.figures = QWidget()
        line = row(self.generation, self.prompt, self.power, gap=Space.XL)
        for at in range(line.count()):
            line.setStretch(at, 1)
        self.figures.setLayout(line)
        self.figures.hide()
        self.body.addWidget(self.figures)
        self.body.addWidget(self.graph, 1)
        self._below: dict[str, str] = {"pp": "", "tg": "", "w": ""}
        self._good_s = 0.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.CoarseTimer)
        self._timer.setInterval(PULL_MS)
        self._timer.timeout.connect(self.refresh)

    def begin(self) -> None:
        """A run starts: forget the last one's words and pull from now on."""
        self._below = dict.fromkeys(self._below, "")
        self.title.setText(self.tr("Live"))
        self.figures.show()
        self.graph.draw(Curves())
        for figure in (self.generation, self.prompt, self.power):
            figure.show_value(None)
        self._timer.start()

    def end(self) -> None:
        """The run is over: pull one last time; its last moment's figures are of no more use."""
        if self._timer.isActive():
            self._timer.stop()
            self.refresh()
            self.title.setText(self.tr("The run as it went"))
            self.figures.hide()

    def refresh(self) -> None:
        """Pull the curves; draw and say them when they are new."""
        curves = self._pull()
        if not self.graph.draw(curves):
            return
        self.generation.show_value(_speed(curves.generation), self._below["tg"])
        self.prompt.show_value(_speed(curves.prompt), self._below["pp"])
        self.power.show_value(_watts(curves, self._good_s), self._below["w"])

    def show_repetition(self, event: RepetitionDone) -> None:
        """Keep the words under a live figure: what the repetitions so far come to."""
        if event.rate is None:
            return
        words = fmt.repetitions(event.rate.repetitions)
        if event.rate.spread is not None:
            words = f"{fmt.spread(event.rate.spread)} · {words}"
        self._below[event.rate.test[:2]] = words

    def show_power(self, event: Power) -> None:
        """Keep the words under the watts: where they come from."""
        self._below["w"] = messages.meter(event.meter)
        self._good_s = event.good_ns / 1e9


def _watts(curves: Curves, good_s: float) -> str | None:
    """The last, while it is what is drawn now: a meter that fell silent has none."""
    if not curves.power:
        return None
    newest_s = max(p[-1][0] for p in (curves.generation, curves.prompt, curves.power) if p)
    at_s, watts_w = curves.power[-1]
    return fmt.number(watts_w) if newest_s - at_s <= good_s else None


def _speed(points: Sequence[tuple[float, float]]) -> str | None:
    rates = [y for _, y in points[-_SMOOTH:] if y > 0]
    return fmt.number(harmonic_mean(rates)) if rates else None
