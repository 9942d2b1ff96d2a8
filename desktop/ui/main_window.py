"""The window: painted at once, filled when the services are there.

Importing pages, records and services takes longer than a bare window needs to come up, so the
first paint shows the frame only; nothing that it does not need is imported here at the top.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QMainWindow, QWidget

from desktop.ui.design import Size
from desktop.ui.theme import Theme

if TYPE_CHECKING:
    from PySide6.QtGui import QCloseEvent, QPaintEvent

    from desktop.errors import Reason
    from desktop.ui.bridge import Bridge
    from desktop.ui.content import Content
    from desktop.ui.contracts import Services


class MainWindow(QMainWindow):
    """Show it, wait for `painted`, then `fill` it.

    Closing it stops a run and ends the program. `painted` fires once, after the first paint.
    """

    painted = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._was_painted = False
        self._services: Services | None = None
        self._content: Content | None = None
        self.setWindowTitle(self.tr("Gram"))
        self.setMinimumSize(*Size.WINDOW_MIN)
        self._fit_screen()
        self.setCentralWidget(self._frame())

    @property
    def content(self) -> "Content":
        """What the window holds.

        Raises:
            RuntimeError: it is not filled yet.
        """
        if self._content is None:
            raise RuntimeError("the window is not filled yet")
        return self._content

    def fill(self, services: "Services", bridge: "Bridge") -> None:
        """Build the pages, show what comes through `bridge`, ask for machine and results."""
        from desktop.ui import icons  # noqa: PLC0415 - after the first paint
        from desktop.ui.content import Content  # noqa: PLC0415 - after the first paint

        self._services = services
        self._theme.complete()
        self._content = Content(services, self._theme)
        self.setWindowIcon(icons.icon(icons.APP))
        self.setCentralWidget(self._content)
        self.addActions(self._content.actions())
        self._content.quit_asked.connect(self.close)
        bridge.received.connect(self._content.handle)
        self._content.begin()

    def show_fault(self, reason: "Reason") -> None:
        """Say why there is nothing to fill the window with."""
        from desktop.ui import messages  # noqa: PLC0415 - after the first paint

        parts = (messages.sentence(reason), messages.advice(reason))
        from PySide6.QtWidgets import QLabel  # noqa: PLC0415 - not before the first paint

        words = QLabel("\n\n".join(part for part in parts if part))
        words.setWordWrap(True)
        words.setMargin(Size.RAIL)
        self.setCentralWidget(words)

    def come_to_front(self) -> None:
        """Show the window above others, also when it was minimized."""
        from PySide6.QtCore import Qt  # noqa: PLC0415 - not before the first paint

        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def paintEvent(self, event: "QPaintEvent") -> None:  # noqa: N802 - Qt's name
        """Notice the first paint: what is slow starts after it."""
        super().paintEvent(event)
        if not self._was_painted:
            self._was_painted = True
            # after this paint has reached the screen
            QTimer.singleShot(0, self.painted.emit)

    def closeEvent(self, event: "QCloseEvent") -> None:  # noqa: N802 - Qt's name
        """Stop a run; the program ends with its last window."""
        if self._services is not None and self._services.running:
            self._services.stop()
        if self._content is not None:
            self._content.end()
        super().closeEvent(event)

    def _frame(self) -> QWidget:
        """The rail's place until the window is filled; words would load fonts, 8 ms."""
        content, rail = QWidget(), QFrame()
        content.setObjectName("content")
        rail.setObjectName("rail")
        rail.setFixedWidth(Size.RAIL)
        line = QHBoxLayout(content)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(rail)
        line.addStretch(1)
        return content

    def _fit_screen(self) -> None:
        """The usual size, or what the screen has."""
        wanted_w, wanted_h = Size.WINDOW
        room = QApplication.primaryScreen().availableSize()
        self.resize(min(wanted_w, room.width()), min(wanted_h, room.height()))
