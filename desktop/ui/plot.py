"""The plot itself, drawn by pyqtgraph.

The only module that imports pyqtgraph, which costs half a second: so `live_graph` imports it after
the window's first paint.
"""

import pyqtgraph as pg
import PySide6.QtOpenGL  # noqa: F401 - pyqtgraph asks for it by name; frozen builds must see it
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop.records.request import Curves
from desktop.ui.decimate import ceiling, decimate
from desktop.ui.design import Colours, Type, font

MAX_POINTS = 600
"""Drawn per curve: the graph is seldom wider in pixels, and drawing costs CPU while measuring."""
_AXIS_WIDTH = 56
_FIRST_S = 10.0
_HEADROOM = 1.05


class Plot(pg.GraphicsLayoutWidget):  # type: ignore[misc] # pyqtgraph has no types
    """Speeds above, watts below, one axis of seconds.

    Generation is a line with its scale at the left, prompt batches are dots with theirs at the
    right (they are often ten times faster), power is a dashed line: style tells them apart too.
    """

    def __init__(self, words: tuple[str, str, str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._reach: dict[str, float] = {}
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # its own wish is a large scene; the card gives it what is left
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.ci.layout.setSpacing(4)
        self.ci.layout.setContentsMargins(0, 4, 0, 0)
        self._speed = self._panel(0)
        self._watts = self._panel(1)
        self._watts.setXLink(self._speed)
        self.ci.layout.setRowStretchFactor(0, 5)
        self.ci.layout.setRowStretchFactor(1, 3)
        self._second = self._second_scale()
        self._lines = (
            pg.PlotCurveItem(antialias=True),
            pg.ScatterPlotItem(pxMode=True),
            pg.PlotCurveItem(antialias=True),
        )
        self._speed.addItem(self._lines[0])
        self._second.addItem(self._lines[1])
        self._watts.addItem(self._lines[2])
        self.draw(Curves())

    def draw(self, curves: Curves) -> None:
        """Show the curves; call it on new data only."""
        generation, prompt, power = (
            decimate(points, MAX_POINTS)
            for points in (curves.generation, curves.prompt, curves.power)
        )
        for line, points in zip(self._lines, (generation, prompt, power), strict=True):
            line.setData([x for x, _ in points], [y for _, y in points])
        self._fit("x", [x for points in (generation, prompt, power) for x, _ in points[-1:]])
        self._fit("generation", [y for _, y in generation])
        self._fit("prompt", [y for _, y in prompt])
        self._fit("power", [y for _, y in power])

    def set_colours(self, colours: Colours) -> None:
        """Follow the theme."""
        self.setBackground(colours.card)
        solid, dashed = Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine
        self._lines[0].setPen(pg.mkPen(colours.generation, width=1, style=solid))
        self._lines[1].setPen(None)
        self._lines[1].setBrush(pg.mkBrush(colours.prompt))
        self._lines[1].setSize(6)
        self._lines[2].setPen(pg.mkPen(colours.power, width=1, style=dashed))
        self._label(self._speed, "left", self._words[0], colours.generation, colours)
        self._label(self._speed, "right", self._words[1], colours.prompt, colours)
        self._label(self._watts, "left", self._words[2], colours.power, colours)
        self._label(self._watts, "bottom", self._words[3], colours.muted, colours)
        self._label(self._watts, "right", "", colours.muted, colours)
        self._label(self._speed, "bottom", "", colours.muted, colours)

    def _panel(self, row: int) -> pg.PlotItem:
        panel = self.addPlot(row=row, col=0)
        panel.hideButtons()
        panel.setMenuEnabled(False)
        panel.setMouseEnabled(x=False, y=False)
        panel.showGrid(x=False, y=True, alpha=0.12)
        panel.getViewBox().setDefaultPadding(0.0)
        for side in ("left", "right"):
            panel.showAxis(side)
            panel.getAxis(side).setWidth(_AXIS_WIDTH)
        panel.getAxis("right").setStyle(showValues=row == 0)
        panel.getAxis("bottom").setStyle(showValues=row == 1)
        return panel

    def _second_scale(self) -> pg.ViewBox:
        view = pg.ViewBox(enableMenu=False, defaultPadding=0.0)
        view.setMouseEnabled(x=False, y=False)
        self._speed.scene().addItem(view)
        axis = self._speed.getAxis("right")
        axis.linkToView(view)
        axis.setGrid(False)
        view.setXLink(self._speed)
        main = self._speed.getViewBox()
        main.sigResized.connect(lambda: view.setGeometry(main.sceneBoundingRect()))
        return view

    def _fit(self, name: str, values: list[float]) -> None:
        """Widen a range in steps: new ticks cost more than new points, so they must be rare."""
        reach = ceiling(_HEADROOM * max(values, default=0.0), _FIRST_S if name == "x" else 1.0)
        if reach <= self._reach.get(name, 0.0) and values:
            return
        self._reach[name] = reach
        if name == "x":
            self._speed.setXRange(0, reach)
        else:
            self._scale(name).setYRange(0, reach)

    def _scale(self, name: str) -> pg.ViewBox:
        views = {"generation": self._speed, "prompt": self._second, "power": self._watts}
        return views[name]

    def _label(self, panel: pg.PlotItem, side: str, words: str, tone: str, c: Colours) -> None:
        axis = panel.getAxis(side)
        axis.setPen(pg.mkPen(c.border))
        axis.setTextPen(pg.mkPen(c.muted))
        axis.setTickFont(font(Type.SMALL))
        axis.setStyle(tickLength=0)
        if words:
            axis.setLabel(words, color=tone, **{"font-size": f"{font(Type.SMALL).pixelSize()}px"})
