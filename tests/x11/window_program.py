"""The real window on a real X server, with fake services; says on stdout what happens.

Run by test_window.py as a program of its own: pytest's process is offscreen.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PySide6.QtWidgets import QApplication, QWidget

from desktop.errors import Reason
from desktop.records.events import RunFailed
from desktop.ui.bridge import Bridge
from desktop.ui.main_window import MainWindow
from desktop.ui.theme import Theme
from desktop.ui.tray import make_tray
from tests.gui import demo


class SayingServices(demo.FakeServices):
    def start(self, request):
        super().start(request)
        say("start", request.build)

    def stop(self):
        super().stop()
        say("stop")
        self.post(RunFailed(Reason("cancelled"), cancelled=True))


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def centre(widget: QWidget) -> tuple[int, int]:
    at = widget.mapToGlobal(widget.rect().center())
    return at.x(), at.y()


def fill(window: MainWindow, services: SayingServices, bridge: Bridge) -> None:
    window.fill(services, bridge)
    content = window.content
    tray = make_tray(lambda: say("opened"), content.measure_now, window.close, window)
    say("tray", "no" if tray is None else "yes")
    if tray is not None:
        bridge.received.connect(tray.handle)
    button = content.measure.run.button
    content.measure.live.graph.ready.connect(lambda: say("ready", *centre(button)))


def main() -> int:
    app = QApplication(sys.argv)
    bridge = Bridge()
    services = SayingServices(bridge)
    window = MainWindow(Theme(app))
    window.painted.connect(lambda: fill(window, services, bridge))
    window.move(0, 40)
    window.show()
    code = app.exec()
    say("ended")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
