"""The window's tests: offscreen, every Qt warning is a failure, nothing may be left running."""

import os
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["LC_ALL"] = "C.UTF-8"
collect_ignore_glob = [] if find_spec("PySide6") and find_spec("pytestqt") else ["test_*.py"]

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from desktop.ui.bridge import Bridge
    from desktop.ui.main_window import MainWindow
    from desktop.ui.theme import Theme
    from tests.gui.demo import FakeServices


@pytest.fixture(autouse=True)
def no_qt_warnings(qtlog) -> Iterator[None]:
    yield
    loud = [r.message for r in qtlog.records if r.type_name != "QtDebugMsg" and not r.ignored]
    assert not loud, f"Qt warned: {loud}"


@pytest.fixture(autouse=True)
def nothing_left(qapp: "QApplication") -> Iterator[None]:
    """No Python thread, QThread or timer of a closed window may outlive a test."""
    from PySide6.QtCore import QCoreApplication, QEvent, QObject, QThread, QTimer

    threads = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - threads:
        thread.join(10)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    left = [t.name for t in set(threading.enumerate()) - threads]
    objects = [o for w in qapp.topLevelWidgets() for o in (w, *w.findChildren(QObject))]
    left += [repr(o) for o in objects if isinstance(o, QThread) and o.isRunning()]
    left += [repr(o) for o in objects if isinstance(o, QTimer) and o.isActive()]
    assert not left, f"left running: {left}"


@pytest.fixture
def theme(qapp: "QApplication") -> "Iterator[Theme]":
    from desktop.ui.theme import Theme

    made = Theme(qapp)
    yield made
    made.setParent(None)
    made.deleteLater()


@pytest.fixture
def bridge(qapp: "QApplication") -> "Bridge":
    from desktop.ui.bridge import Bridge

    return Bridge()


@pytest.fixture
def services(bridge: "Bridge") -> "FakeServices":
    from tests.gui.demo import FakeServices

    return FakeServices(bridge)


@pytest.fixture
def window(
    qtbot: "QtBot", services: "FakeServices", bridge: "Bridge", theme: "Theme"
) -> "Iterator[MainWindow]":
    """The window, painted and with its graph loaded."""
    from desktop.ui.main_window import MainWindow

    made = MainWindow(theme)
    with qtbot.waitSignal(made.painted, timeout=20_000):
        made.show()
    made.fill(services, bridge)
    graph = made.content.measure.live.graph
    qtbot.waitUntil(lambda: graph.plot is not None, timeout=20_000)
    yield made
    made.close()
    made.deleteLater()
