"""machine.screen: a screen counts when it answers, not when a variable names it."""

import socket
import sys

import pytest

from desktop.machine import screen

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="X and Wayland sockets")


@pytest.fixture
def listening(tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(tmp_path / "wayland-7"))
        server.listen()
        yield {"WAYLAND_DISPLAY": "wayland-7", "XDG_RUNTIME_DIR": str(tmp_path)}


def test_wayland_answers(listening):
    assert screen.has_screen(listening)


def test_a_socket_that_nobody_serves_is_no_screen(tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(tmp_path / "wayland-0"))
    assert not screen.has_screen({"WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": str(tmp_path)})


@pytest.mark.parametrize(
    "display", ["", ":", "nonsense", ":98765", "unix:98765.0", "host:99999999.0"]
)
def test_displays_that_are_not_there(display):
    assert not screen.has_screen({"DISPLAY": display})


def test_a_display_over_the_network_is_called_on():
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = server.getsockname()[1] - 6000
        assert screen.has_screen({"DISPLAY": f"127.0.0.1:{number}.0"})
    assert not screen.has_screen({"DISPLAY": f"127.0.0.1:{number}.0"})


def test_a_screen_is_held_until_the_end_of_the_block(listening, tmp_path):
    with screen.screen_held(listening) as there:
        assert there
    with screen.screen_held({}) as there:
        assert not there
