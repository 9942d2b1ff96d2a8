"""The live graph's place in the window: words first, the plot once it is loaded."""

from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QStackedLayout, QWidget

from desktop.records.request import Curves
from desktop.ui import format as fmt
from desktop.ui.components import Muted
from desktop.ui.design import Colours, Size

if TYPE_CHECKING:
    from desktop.ui.plot import Plot


class _Loader(QObject):
    """Imports numpy on a thread that ends with the import; pyqtgraph then costs half as much.

    Nothing of Qt is imported there: two threads in PySide6's imports at once crash the process
    (seen once in forty starts: QtNetwork on the UI thread, pyqtgraph's Qt modules here).
    """

    loaded = Signal()

    def begin(self) -> None:
        self._thread = Thread(target=self._import, name="gram-import-numpy")
        self._thread.start()

    def join(self) -> None:
        self._thread.join()

    def _import(self) -> None:
        # where it is missing, the import of the plot says so
        with suppress(ImportError):
            import numpy  # noqa: F401, ICN001, PLC0415 - after the first paint
        self.loaded.emit()


class LiveGraph(QWidget):
    """Generation, prompt batches and watts over the seconds of a run."""

    ready = Signal()

    def __init__(self, colours: Colours, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colours = colours
        self._curves = Curves()
        self._plot: Plot | None = None
        self._loader: _Loader | None = None
        self._words = Muted(self.tr("Speed and power will be drawn here while it measures."))
        self._words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._words)
        self.setMinimumHeight(Size.GRAPH_MIN)
        self.setAccessibleName(self.tr("Live graph"))
        self._describe()

    @property
    def plot(self) -> "Plot | None":
        """The plot, once it is loaded."""
        return self._plot

    def load(self) -> None:
        """Begin to import the plot; call it once the window has been painted."""
        if self._loader is None:
            self._loader = _Loader(self)
            self._loader.loaded.connect(self._loaded, Qt.ConnectionType.QueuedConnection)
            self._loader.begin()

    def wait(self) -> None:
        """Wait for the import, if it goes on: a window must not end under its thread."""
        if self._loader is not None:
            self._loader.join()

    def draw(self, curves: Curves) -> bool:
        """Show `curves` when they are new; says whether they were."""
        if _extent(curves) == _extent(self._curves):
            return False
        self._curves = curves
        if self._plot is not None:
            self._plot.draw(curves)
            self._stack.setCurrentWidget(self._plot)
        self._describe()
        return True

    def set_colours(self, colours: Colours) -> None:
        """Follow the theme."""
        self._colours = colours
        if self._plot is not None:
            self._plot.set_colours(colours)

    def _loaded(self) -> None:
        self.wait()
        try:
            from desktop.ui.plot import Plot  # noqa: PLC0415 - after the first paint
        except ImportError as e:
            self._words.setText(self.tr("The graph cannot be shown: {fault}").format(fault=e))
            return
        self._plot = Plot(self._axis_words(), self)
        self._plot.set_colours(self._colours)
        self._stack.addWidget(self._plot)
        if self._curves != Curves():
            self._plot.draw(self._curves)
            self._stack.setCurrentWidget(self._plot)
        self.ready.emit()

    def _axis_words(self) -> tuple[str, str, str, str]:
        return (
            self.tr("Generation tok/s"),
            self.tr("Prompt tok/s"),
            self.tr("Power W"),
            self.tr("Seconds"),
        )

    def _describe(self) -> None:
        """The text alternative: the last value of each curve."""
        generation, prompt, power = (
            fmt.or_dash(points[-1][1] if points else None, form)
            for points, form in (
                (self._curves.generation, fmt.rate),
                (self._curves.prompt, fmt.rate),
                (self._curves.power, fmt.watts),
            )
        )
        words = self.tr("Last values: generation {generation}, prompt {prompt}, power {power}.")
        self.setAccessibleDescription(
            words.format(generation=generation, prompt=prompt, power=power)
        )


def _extent(curves: Curves) -> tuple[object, ...]:
    """Cheap to compare: curves only grow within a run, and begin anew with the next."""
    return tuple(
        (len(points), points[-1:]) for points in (curves.generation, curves.prompt, curves.power)
    )
