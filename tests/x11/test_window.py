"""The window on a real X server: a real click, a tray host, and none."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

import pytest

TOOLS = ("Xvfb", "xdotool", "trayer")
PROGRAM = Path(__file__).with_name("window_program.py")
WAIT_S = 40
SCREEN = (1400, 900)

pytestmark = [
    pytest.mark.skipif(find_spec("PySide6") is None, reason="needs Qt"),
    pytest.mark.skipif(
        not all(map(shutil.which, TOOLS)), reason=f"needs {', '.join(TOOLS)} (`dev.py test`)"
    ),
]


class Program:
    """A child whose lines are awaited."""

    def __init__(self, *command: str, env: dict[str, str]) -> None:
        self.child = subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.lines: Queue[str] = Queue()
        self._errors: list[str] = []
        self._threads = [
            Thread(target=lambda: [self.lines.put(line) for line in self.child.stdout]),
            Thread(target=lambda: self._errors.extend(self.child.stderr)),
        ]
        for thread in self._threads:
            thread.start()

    def await_line(self, word: str) -> list[str]:
        """The words of the next line that begins with `word`."""
        try:
            while True:
                words = self.lines.get(timeout=WAIT_S).split()
                if words[:1] == [word]:
                    return words[1:]
        except Empty:
            pytest.fail(f"no line {word!r}; stderr: {''.join(self._errors)}")

    def hears(self, word: str, within_s: float = 1.0) -> bool:
        """Whether a line that begins with `word` comes soon."""
        try:
            return self.lines.get(timeout=within_s).split()[:1] == [word]
        except Empty:
            return False

    def end(self) -> tuple[int, str]:
        """The exit status and stderr."""
        if self.child.poll() is None:
            self.child.kill()
        status = self.child.wait(WAIT_S)
        for thread in self._threads:
            thread.join(WAIT_S)
        self.child.stdout.close()
        self.child.stderr.close()
        return status, "".join(self._errors)


@pytest.fixture
def trayer(screen: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A tray host that owns the tray's selection."""
    host = subprocess.Popen(
        ["trayer", "--edge", "bottom", "--widthtype", "pixel", "--width", "200"],
        env=screen,
        stderr=subprocess.DEVNULL,
    )
    subprocess.run(
        ["xdotool", "search", "--sync", "--onlyvisible", "--class", "trayer"],
        env=screen,
        check=True,
        timeout=WAIT_S,
        stdout=subprocess.DEVNULL,
    )
    yield host
    host.terminate()
    host.wait(WAIT_S)


def click(env: dict[str, str], x: str, y: str) -> None:
    subprocess.run(
        ["xdotool", "mousemove", "--sync", x, y, "click", "1"], env=env, check=True, timeout=WAIT_S
    )


def key(env: dict[str, str], name: str) -> None:
    subprocess.run(["xdotool", "key", name], env=env, check=True, timeout=WAIT_S)


def first_place(env: dict[str, str]) -> tuple[str, str]:
    """Where the tray puts its first icon: a square at the left end of its panel.

    Qt's own `geometry()` does not follow the icon into this tray.
    """
    told = subprocess.run(
        ["xdotool", "search", "--sync", "--name", "^panel$", "getwindowgeometry", "--shell"],
        env=env,
        capture_output=True,
        text=True,
        check=True,
        timeout=WAIT_S,
    )
    panel = {k: int(v) for k, v in (line.split("=") for line in told.stdout.split())}
    middle = panel["HEIGHT"] // 2
    return str(panel["X"] + middle), str(panel["Y"] + middle)


def test_click_measures_click_stops_key_quits(screen):
    program = Program(sys.executable, str(PROGRAM), env=screen)
    try:
        assert program.await_line("tray") == ["no"]
        place = program.await_line("ready")
        click(screen, *place)
        assert program.await_line("start") == ["reference"]
        # Stop is narrower and at the right: its button is found by key, as a person without a mouse
        key(screen, "space")
        program.await_line("stop")
        key(screen, "ctrl+q")
        program.await_line("ended")
        program.child.wait(WAIT_S)
    finally:
        status, errors = program.end()
    assert (status, errors) == (0, "")


def test_tray_icon_is_docked_and_opens_the_window(screen, trayer):
    program = Program(sys.executable, str(PROGRAM), env=screen)
    try:
        assert program.await_line("tray") == ["yes"]
        program.await_line("ready")
        place = first_place(screen)
        # the tray takes the icon in when it likes; a click before that goes to an empty panel
        for _ in range(WAIT_S):
            click(screen, *place)
            if program.hears("opened"):
                return
        pytest.fail("a click on the tray icon opened nothing")
    finally:
        program.end()
