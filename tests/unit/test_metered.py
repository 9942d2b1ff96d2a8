"""Whether a connection is metered: a real bus with a stand-in for NetworkManager; Windows' words."""

import json
import shutil
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from desktop.machine import metered as whole
from desktop.machine.metered import metered
from desktop.machine.parse_metered import by_windows
from desktop.records.metered import Metered, MeteredState
from desktop.sources.commands import Failure, ToolFailure
from tests.unit import network_manager

WINDOWS = json.loads(
    (Path(__file__).parents[1] / "captures/metered/windows.json").read_text(encoding="utf-8")
)
CONFIGURATION = """<busconfig>
  <listen>unix:dir={folder}</listen>
  <servicedir>{folder}</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
  </policy>
</busconfig>
"""
SERVICE = """[D-BUS Service]
Name=org.freedesktop.NetworkManager
Exec=/usr/bin/touch {folder}/started
"""
SHORT_S = 0.3
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="NetworkManager")
with_bus = pytest.mark.skipif(not shutil.which("dbus-daemon"), reason="no D-Bus")


@contextmanager
def started(*command):
    """A program, and the first line that it says; it ends with the block."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            yield child.stdout.readline().strip()
        finally:
            child.kill()


@pytest.fixture
def bus(tmp_path):
    """The address of a bus on which NetworkManager would be started when it is asked."""
    configuration = tmp_path / "bus.conf"
    configuration.write_text(CONFIGURATION.format(folder=tmp_path))
    (tmp_path / "nm.service").write_text(SERVICE.format(folder=tmp_path))
    command = ("dbus-daemon", f"--config-file={configuration}", "--print-address", "--nofork")
    with started(*command) as address:
        yield address


def asked(address, limit_s=30.0):
    return metered({"DBUS_SYSTEM_BUS_ADDRESS": address}, limit_s, "linux")


def answered(bus, manner, limit_s=30.0):
    with started(sys.executable, network_manager.__file__, bus, manner) as said:
        assert said == "ready"
        return asked(bus, limit_s)


@on_linux
@with_bus
@pytest.mark.parametrize(
    ("value", "state", "asks"),
    [
        ("1", MeteredState.YES, True),
        ("2", MeteredState.NO, False),
        ("3", MeteredState.GUESS_YES, True),
        ("4", MeteredState.GUESS_NO, False),
    ],
)
def test_network_manager_tells(bus, value, state, asks):
    found = answered(bus, value)
    assert found == Metered(state, "NetworkManager")
    assert found.asks_first is asks


@on_linux
@with_bus
@pytest.mark.parametrize("manner", ["0", "5", "missing", "text", "bool", "bare", "empty"])
def test_an_answer_that_says_nothing_is_not_known(bus, manner):
    assert answered(bus, manner) == Metered()
    assert not Metered().asks_first


@on_linux
@with_bus
def test_a_network_manager_that_does_not_answer_is_left(bus):
    assert answered(bus, "silent", SHORT_S) == Metered()


@on_linux
@with_bus
def test_a_network_manager_that_does_not_run_is_not_started(bus, tmp_path):
    assert asked(bus) == Metered()
    # the bus does what it is asked in order, and this name is no service's
    command = ["dbus-send", f"--bus={bus}", "--print-reply", "--dest=org.freedesktop.DBus", "/"]
    subprocess.run([*command, "org.freedesktop.DBus.ListNames"], check=True, capture_output=True)
    assert not (tmp_path / "started").exists()


@on_linux
@pytest.mark.parametrize(
    "address",
    ["unix:path={folder}/none", "tcp:host=127.0.0.1,port=1", "nonsense", ";", "unix:path", "unix:"],
)
def test_no_bus_or_an_address_that_is_none_is_not_known(tmp_path, address):
    assert asked(address.format(folder=tmp_path)) == Metered()


WELCOME = b"OK 1234deadbeef\r\n"
NO_BUS = {
    "silent": [],
    "ends": [b""],
    "refuses": [b"REJECTED EXTERNAL\r\n"],
    "lets in, then silent": [WELCOME],
    "lets in, then nonsense": [WELCOME, b"HTTP/1.1 400 Bad Request\r\n\r\n" * 40],
    "lets in, then a message without an end": [WELCOME, b"l\2\1\1" + b"\xff" * 400],
    "lets in, then ends": [WELCOME, b""],
}


@on_linux
@pytest.mark.parametrize("said", NO_BUS.values(), ids=NO_BUS)
def test_what_listens_but_is_no_bus_is_left(tmp_path, said):
    path = str(tmp_path / "bus")
    over = threading.Event()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        thread = threading.Thread(target=serve, args=(listener, said, over))
        thread.start()
        try:
            assert asked(f"unix:path={path}", SHORT_S) == Metered()
        finally:
            over.set()
            thread.join()


def serve(listener, said, over):
    connection, _ = listener.accept()
    with connection:
        for words in said:
            connection.recv(4096)
            if not words:
                return
            connection.sendall(words)
        over.wait()


@pytest.mark.parametrize(("text", "state"), WINDOWS.values(), ids=WINDOWS)
def test_windows_words(text, state):
    assert by_windows(text) is MeteredState(state)


def test_windows_is_asked_for_no_more_than_the_limit(monkeypatch):
    limits = []

    def read(limit_s):
        limits.append(limit_s)
        return WINDOWS["fixed"][0]

    monkeypatch.setattr(whole.metered_windows, "read_cost", read)
    assert metered({}, SHORT_S, "win32") == Metered(MeteredState.YES, "Windows")
    assert limits == [SHORT_S]


def test_without_powershell_it_is_not_known(monkeypatch):
    stuck = ToolFailure("powershell.exe", Failure.STUCK)
    monkeypatch.setattr(whole.metered_windows, "read_cost", lambda _: stuck)
    assert metered({}, SHORT_S, "win32") == Metered()


def test_macos_does_not_tell():
    assert metered({}, SHORT_S, "darwin") == Metered()
