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
    from desktop.records.request import RunRequest
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
        try:
            self.services = self._make_services()
        except GramError as e:
            self.window.show_fault(e.reason)
            return
        self.window.fill(self.services, self.bridge)
        self.instance.listen()
        self._add_tray()
        self._do_as_asked()
        self.filled.emit()

    def _make_services(self) -> "AppServices":
        from desktop.services.app_services import AppServices  # noqa: PLC0415 - after first paint
        from desktop.services.attempt import Outside  # noqa: PLC0415
        from desktop.services.log import log_to  # noqa: PLC0415
        from desktop.services.slow import SlowCalls  # noqa: PLC0415

        log_to(self._paths)
        outside = Outside(self._paths, SlowCalls(), "the window", os.environ, self._options.fault)
        return AppServices(outside, self.bridge.post, self.bridge.post)

    def _add_tray(self) -> None:
        from desktop.ui.tray import make_tray  # noqa: PLC0415 - after first paint

        content = self.window.content
        self.tray = make_tray(
            self.window.come_to_front, content.measure_now, self.window.close, self
        )
        if self.tray is not None:
            self.bridge.received.connect(self.tray.handle)
            content.measure.running_changed.connect(self.tray.set_running)
            content.machine.measuring_changed.connect(self.tray.set_running)
            content.fits.measuring_changed.connect(self.tray.set_running)

    def _do_as_asked(self) -> None:
        content = self.window.content
        content.measure.use(_request(self._options))
        if self._options.measure:
            content.measure_now()
        if self._options.quit_after_paint:
            self.window.close()


def main(arguments: list[str]) -> int:
    """Open the window; returns the exit status."""
    options = _options(arguments)
    try:
        paths = default_paths().ensure()
        qt = _qt()
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
    parser.add_argument("--measure", action="store_true", help="begin to measure at once")
    parser.add_argument(
        "--allow-key-file",
        action="store_true",
        help="without a keychain, keep the key in a file and say so",
    )
    parser.add_argument("--quit-after-paint", action="store_true", help=argparse.SUPPRESS)
    # for tests: a shorter measurement, a faulty worker
    parser.add_argument("--fault", help=argparse.SUPPRESS)
    parser.add_argument("--tests", help=argparse.SUPPRESS)
    parser.add_argument("--repetitions", type=int, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _request(options: argparse.Namespace) -> "RunRequest":
    """How the window measures."""
    from dataclasses import replace  # noqa: PLC0415 - after first paint

    from desktop.records.request import RunRequest, Signing  # noqa: PLC0415 - after first paint
    from desktop.records.run import SpeedTest  # noqa: PLC0415

    signing = Signing.KEYCHAIN_OR_FILE if options.allow_key_file else Signing.KEYCHAIN
    request = RunRequest(signing=signing, repetitions=options.repetitions)
    if options.tests is None:
        return request
    return replace(request, tests=tuple(map(SpeedTest.named, options.tests.split(","))))


def _qt() -> QApplication:
    """Qt's application object. Qt ends the process where there is no screen: looked for first.

    Raises:
        GramError: `no_display`.
    """
    from desktop.machine.screen import screen_held  # noqa: PLC0415 - a door may, Qt cannot tell

    with screen_held() as there:
        # offscreen and the like need no screen
        if not there and os.environ.get("QT_QPA_PLATFORM", "xcb") in {"xcb", "wayland"}:
            raise GramError("no_display", detail="no X or Wayland server answers")
        # as an argument: `setStyle` hands back the style, and wrapping it costs Python 7 ms
        qt = QApplication([sys.argv[0], "-style", "fusion"])
    qt.setApplicationName(NAME)
    qt.setDesktopFileName("gram")
    return qt


def _say(error: GramError) -> int:
    """Tell on stderr, where there is one: a windowed program of Windows has none."""
    if sys.stderr is not None:
        sys.stderr.write(f"gram: {error}\n")
    return 0 if error.code == "app_running" else 1
