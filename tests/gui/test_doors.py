"""The bridge, the tray, one window per profile, and the icons."""

import os
import subprocess
import sys
import threading

import pytest
from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QSystemTrayIcon

from desktop.errors import GramError, Reason
from desktop.records.events import CallFailed, RunFailed
from desktop.ui import icons
from desktop.ui.single_instance import SingleInstance
from desktop.ui.tray import Tray, make_tray
from tests.gui import demo

# Qt looks for X11's trays on every platform that starts its tray code
no_xembed_offscreen = pytest.mark.qt_log_ignore("systemTrayWindowChanged", extend=True)


class Receiver(QObject):
    def __init__(self):
        super().__init__()
        self.got = []

    @Slot(object)
    def take(self, event):
        self.got.append((event, threading.get_ident()))


def test_bridge_delivers_on_the_ui_thread_and_in_order(qtbot, bridge):
    receiver = Receiver()
    bridge.received.connect(receiver.take)
    events = [demo.progress(i / 200) for i in range(200)]
    thread = threading.Thread(target=lambda: [bridge.post(e) for e in events])
    thread.start()
    qtbot.waitUntil(lambda: len(receiver.got) == len(events))
    thread.join()
    assert [event for event, _ in receiver.got] == events
    assert {ident for _, ident in receiver.got} == {threading.get_ident()}


def test_no_tray_where_there_is_none(qapp):
    assert not QSystemTrayIcon.isSystemTrayAvailable()
    assert make_tray(print, print, print) is None


@pytest.fixture
def tray(qapp):
    asked = []
    made = Tray(
        lambda: asked.append("open"), lambda: asked.append("measure"), lambda: asked.append("quit")
    )
    made.asked = asked
    yield made
    made.remove()


@no_xembed_offscreen
def test_tray_follows_a_run(tray):
    assert tray.state == icons.IDLE
    tray.handle(demo.progress(0.404))
    assert (tray.state, tray.icon.toolTip()) == (icons.WORKING, "Gram: measuring, 40 %")
    tray.handle(RunFailed(Reason("cancelled"), cancelled=True))
    assert tray.state == icons.IDLE
    tray.handle(RunFailed(demo.no_keychain()))
    assert (tray.state, tray.icon.toolTip()) == (icons.FAILED, "Gram: the last measurement failed")
    tray.handle(demo.finished())
    tray.handle(CallFailed(demo.no_keychain()))
    assert (tray.state, tray.icon.toolTip()) == (icons.IDLE, "Gram: idle")


@no_xembed_offscreen
def test_tray_follows_the_parts_to_their_end(tray):
    tray.handle(demo.progress(0.4))
    assert tray.state == icons.WORKING
    tray.handle(demo.parts_finished())
    assert tray.state == icons.IDLE


@no_xembed_offscreen
def test_tray_menu(tray):
    for action in (tray.open, tray.measure, tray.quit):
        action.trigger()
    tray.icon.activated.emit(QSystemTrayIcon.ActivationReason.Trigger)
    assert tray.asked == ["open", "measure", "quit", "open"]
    tray.set_running(True)
    assert not tray.measure.isEnabled()


@pytest.mark.parametrize("name", [icons.APP, icons.IDLE, icons.WORKING, icons.FAILED])
def test_icons_are_drawn(qapp, name):
    image = icons.pixmap(name, 24, 2.0).toImage()
    assert image.width() == 48
    assert image.pixelColor(24, 6).alpha() == 255
    assert image.pixelColor(0, 0).alpha() < 255
    assert not icons.icon(name).isNull()


def test_icons_differ(qapp):
    drawn = {
        bytes(icons.pixmap(n, 22).toImage().constBits())
        for n in (icons.IDLE, icons.WORKING, icons.FAILED)
    }
    assert len(drawn) == 3


SECOND_START = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from desktop.errors import GramError
from desktop.ui.single_instance import SingleInstance
app = QCoreApplication([])
try:
    SingleInstance(Path(sys.argv[1])).claim()
except GramError as e:
    print(e.code)
"""


def test_second_start_brings_the_first_to_the_front(qtbot, tmp_path):
    first = SingleInstance(tmp_path)
    first.claim()
    first.listen()
    with qtbot.waitSignal(first.show_asked, timeout=20_000):
        second = subprocess.Popen(
            [sys.executable, "-c", SECOND_START, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
    assert second.communicate(timeout=20)[0].strip() == "app_running"
    first.release()


def test_after_release_the_next_is_first(qapp, tmp_path):
    first = SingleInstance(tmp_path)
    first.claim()
    first.listen()
    first.release()
    second = SingleInstance(tmp_path)
    second.claim()
    second.release()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_in_the_place_of_the_lock_is_told_of(tmp_path):
    os.mkfifo(tmp_path / "window.lock")
    # in a process of its own: Qt would wait at it for ever
    start = [sys.executable, "-c", SECOND_START, str(tmp_path)]
    done = subprocess.run(start, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "folder_read_only"


def test_other_profiles_are_other_windows(qapp, tmp_path):
    held = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        held.append(SingleInstance(tmp_path / name))
        held[-1].claim()
    for instance in held:
        instance.release()


def test_folder_that_takes_no_lock(qapp, tmp_path):
    with pytest.raises(GramError) as caught:
        SingleInstance(tmp_path / "missing").claim()
    assert caught.value.code == "folder_read_only"
