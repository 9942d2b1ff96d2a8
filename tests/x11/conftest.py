"""A real X server for each test that asks for a screen."""

import os
import subprocess
from collections.abc import Iterator

import pytest

WAIT_S = 40
SCREEN = (1400, 900)


@pytest.fixture
def screen() -> Iterator[dict[str, str]]:
    """The environment of a fresh X server."""
    read, write = os.pipe()
    server = subprocess.Popen(
        [
            "Xvfb",
            "-displayfd",
            str(write),
            "-screen",
            "0",
            f"{SCREEN[0]}x{SCREEN[1]}x24",
            "-nolisten",
            "tcp",
        ],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    with os.fdopen(read) as told:
        number = told.readline().strip()
    left_out = {"WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "QT_QPA_PLATFORM"}
    env = {k: v for k, v in os.environ.items() if k not in left_out}
    yield env | {"DISPLAY": f":{number}", "QT_QPA_PLATFORM": "xcb"}
    server.terminate()
    server.wait(WAIT_S)
