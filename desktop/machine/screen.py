"""Whether a window can be shown here.

Qt ends the whole process when it cannot reach the screen that DISPLAY names, and a stale DISPLAY
is common (a shell that outlived its session, `su`, tmux); so the screen is called on first.
"""

import os
import re
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

LIMIT_S: Final = 1.0
_X_FOLDER: Final = Path("/tmp/.X11-unix")  # noqa: S108 - where X servers listen
_X_PORT: Final = 6000
_DISPLAY: Final = re.compile(r"(?P<host>.*):(?P<number>[0-9]{1,5})(\.[0-9]{1,5})?$")


def has_screen(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this session has a screen. On Linux that is an X or Wayland server that answers.

    Over ssh on Windows and macOS there is none either, though nothing in the system says so.
    """
    with screen_held(environment) as there:
        return there


@contextmanager
def screen_held(environment: Mapping[str, str] = os.environ) -> Iterator[bool]:
    """As `has_screen`, with the line kept open meanwhile.

    An X server without clients begins anew when its last one leaves (Xvfb does), and takes no
    connection while it does so: whoever opens a window after looking must hold on until it is open.
    """
    if sys.platform in {"win32", "darwin"}:
        yield "SSH_CONNECTION" not in environment
        return
    server = _wayland(environment) or x_server(environment.get("DISPLAY", ""))
    if server is None:
        yield False
        return
    with closing(server):
        yield True


def x_server(display: str) -> socket.socket | None:
    """A connection to the X server that `display` (`:0`, `host:10.0`) names, if it takes one."""
    found = _DISPLAY.match(display)
    if found is None:
        return None
    host, number = found["host"], int(found["number"])
    if host in {"", "unix"}:
        path = str(_X_FOLDER / f"X{number}")
        return _connected(path) or _connected(f"\0{path}")
    try:
        return socket.create_connection((host, _X_PORT + number), LIMIT_S)
    except (OSError, OverflowError):
        return None


def _wayland(environment: Mapping[str, str]) -> socket.socket | None:
    name = environment.get("WAYLAND_DISPLAY")
    folder = environment.get("XDG_RUNTIME_DIR", "")
    return _connected(str(Path(folder) / name)) if name else None


def _connected(path: str) -> socket.socket | None:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.settimeout(LIMIT_S)
    try:
        server.connect(path)
    except OSError:
        server.close()
        return None
    return server
