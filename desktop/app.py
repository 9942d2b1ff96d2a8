"""The window's door: builds every object once and connects them. Nothing else does.

The order serves the first paint: Qt and the bare window first; services, pages and everything
heavy when it is on the screen.
"""

import argparse
import os
import signal
import sys
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from desktop.errors import GramError
from desktop.paths import Paths, default_paths
from desktop.ui.bridge import Bridge
from desktop.ui.main_window import MainWindow
from desktop.ui.single_instance import SingleInstance
from desktop.ui.theme import Theme

if TYPE_CHECKING:
    from desktop.services.app_services import AppServices
    from desktop.ui.tray import Tray

NAME = "Gram"


class App(QObject):
    """The running program with a window. `filled` fires when the pages are there."""

    filled = Signal()

    def __init__(
        self, qt: QApplication, paths: Paths, options: argparse.Namespace | None = None
    ) -> None:
        super().__init__(qt)
        self._qt = qt
        self._paths = paths
        self._options = options or _options([])
        self.instance = SingleInstance(paths.data, self)
        self.bridge = Bridge(self)
        self.theme = Theme(qt)
        self.window = MainWindow(self.theme)
        self.services: AppServices | None = None
        self.tray: Tray | None = None
        self.window.painted.connect(self._fill)
        self.instance.show_asked.connect(self.window.come_to_front)
        qt.aboutToQuit.connect(self.close)

    def show(self) -> None:
        """Show the window; the rest follows after its first paint."""
        self.window.show()

    def close(self) -> None:
        """Stop everything and wait for it; harmless when called again."""
        if self.tray is not None:
            self.tray.remove()
            self.tray = None
        if self.services is not None:
            self.services.shutdown()
            self.services = None
        self.instance.release()

    def _fill(self) -> None:
        self.services = self._make_services()
        self.window.fill(self.services, self.bridge)
        self.instance.listen()
        self._add_tray()
        self._do_as_asked()
        self.filled.emit()

    def _make_services(self) -> "AppServices":
        from desktop.services.app_services import AppServices  # noqa: PLC0415 - after first paint
        from desktop.services.log import log_to  # noqa: PLC0415
        from desktop.services.session import Outside  # noqa: PLC0415
        from desktop.services.slow import SlowCalls  # noqa: PLC0415

        log_to(self._paths)
        outside = Outside(self._paths, SlowCalls(), "the window", os.environ, self._options.fault)
        return AppServices(outside, self.bridge.post)

    def _add_tray(self) -> None:
        from desktop.ui.tray import make_tray  # noqa: PLC0415 - after first paint

        content = self.window.content
        self.tray = make_tray(
            self.window.come_to_front, content.measure_now, self.window.close, self
        )
        if self.tray is not None:
            self.bridge.received.connect(self.tray.handle)
            content.measure.running_changed.connect(self.tray.set_running)

    def _do_as_asked(self) -> None:
        content = self.window.content
        if self._options.allow_key_file:
            content.measure.allow_key_file()
        if self._options.measure:
            content.measure_now()
        if self._options.quit_after_paint:
            self.window.close()


def main(arguments: list[str]) -> int:
    """Open the window; returns the exit status."""
    options = _options(arguments)
    try:
        paths = default_paths().ensure()
        _check_screen()
        qt = QApplication([sys.argv[0]])
        qt.setApplicationName(NAME)
        qt.setDesktopFileName("gram")
        app = App(qt, paths, options)
        app.instance.claim()
    except GramError as e:
        return _say(e)
    app.show()
    # Ctrl+C in a terminal ends the window too; the worker ends when its stdin closes
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return qt.exec()


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="gram window")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--allow-key-file", action="store_true")
    parser.add_argument("--quit-after-paint", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--fault", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _check_screen() -> None:
    """Qt ends the whole process where it finds no screen, so it is looked for first.

    Raises:
        GramError: `no_display`.
    """
    from desktop.machine.screen import has_screen  # noqa: PLC0415 - Qt's own platforms need none

    if not has_screen() and "QT_QPA_PLATFORM" not in os.environ:
        raise GramError("no_display", detail="neither DISPLAY nor WAYLAND_DISPLAY is set")


def _say(error: GramError) -> int:
    """Tell on stderr, where there is one: a windowed program of Windows has none."""
    if sys.stderr is not None:
        sys.stderr.write(f"gram: {error}\n")
    return 0 if error.code == "app_running" else 1
