"""The whole program with a real window, the real engine, and a real keyring: as a person meets it."""

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from desktop.network.ledger import Ledger

ROOT = Path(__file__).parents[2]
SHORT = ("--tests", "pp16,tg4", "--repetitions", "1")
LONG = ("--tests", "pp16,tg4", "--repetitions", "500")
WAIT_S = 40

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(sys.platform != "linux", reason="X11"),
    pytest.mark.skipif(not shutil.which("Xvfb") or not shutil.which("xdotool"), reason="no X"),
]


def await_true(what, condition, timeout_s=WAIT_S):
    """Poll `condition` until it holds; its last value."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come")


@pytest.fixture
def environment(screen, home, reference_file):
    return screen | {
        "GRAM_HOME": str(home.data),
        "PYTHONPATH": str(ROOT),
        "GRAM_REFERENCE_FILE": str(reference_file),
        "PYTHONWARNINGS": "error",
    }


@contextmanager
def window(environment, *options, before=()):
    """The running program; killed at the end if it is still there."""
    command = [*before, sys.executable, "-m", "desktop", "window", *options]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            for child in (
                psutil.Process(process.pid).children(recursive=True)
                if process.poll() is None
                else ()
            ):
                child.kill()
            process.kill()


def shown(environment):
    """Wait for the window; its X id."""

    def look():
        found = subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--name", "^Gram$"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return found.stdout.split()

    return await_true("the window", look)[0]


def press(environment, window_id, key):
    subprocess.run(
        ["xdotool", "windowfocus", "--sync", window_id], env=environment, check=True, timeout=WAIT_S
    )
    subprocess.run(["xdotool", "key", key], env=environment, check=True, timeout=WAIT_S)


def workers_of(process):
    """The processes that measure: more than a thread, so that the engine runs."""
    found = []
    for child in psutil.Process(process.pid).children(recursive=True):
        with suppress(psutil.Error):  # it may end at any moment
            if "--worker" in child.cmdline() and child.num_threads() > 2:
                found.append(child)
    return found


def gone(process):
    """Ended; a container without an init leaves orphans as zombies, which run no more."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def quit_by_key(environment, process, window_id):
    press(environment, window_id, "ctrl+q")
    asked = time.monotonic()
    process.communicate(timeout=10)
    return time.monotonic() - asked


def fill_up(path):
    """Write until the disk is full."""
    with path.open("wb", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(b"x" * 512)


def test_first_run_ends_in_a_result_signed_by_the_keyring(environment, home, tmp_path):
    session = {
        "XDG_RUNTIME_DIR": str(tmp_path),
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }
    tmp_path.chmod(0o700)
    unlock = (
        'printf geheim | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec "$@"'
    )
    before = ("dbus-run-session", "--", "sh", "-c", unlock, "gram")
    with window(environment | session, "--measure", *SHORT, before=before) as process:
        window_id = shown(environment)
        kept = await_true("a signed result", lambda: Ledger(home.ledger).entries())
        assert not home.key_file.exists()
        quit_by_key(environment, process, window_id)
        assert process.returncode == 0
    assert len(kept) == 1
    terminal = [sys.executable, "-m", "desktop", "verify", kept[0].id[:12], "--json"]
    checked = subprocess.run(terminal, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(checked.stdout)["statement"]["id"] == kept[0].id


def test_quit_in_mid_run_leaves_nothing_running_and_nothing_kept(environment, home):
    with window(environment, "--measure", "--allow-key-file", *LONG) as process:
        window_id = shown(environment)
        (worker,) = await_true("the worker", lambda: workers_of(process))
        assert quit_by_key(environment, process, window_id) < 3
        assert process.returncode == 0
        assert gone(worker)
    assert Ledger(home.ledger).entries() == ()


def test_kill_9_takes_the_worker_along_and_the_next_start_works(environment, home):
    with window(environment, "--measure", "--allow-key-file", *LONG) as process:
        (worker,) = await_true("the worker", lambda: workers_of(process))
        process.kill()
        await_true("the worker's end", lambda: gone(worker))
    with window(environment, "--measure", "--allow-key-file", *SHORT) as process:
        window_id = shown(environment)
        await_true("a signed result", lambda: Ledger(home.ledger).entries())
        quit_by_key(environment, process, window_id)
        assert process.returncode == 0


def test_the_second_start_brings_the_first_to_the_front(environment):
    with window(environment) as first:
        shown(environment)
        with window(environment) as second:
            _, said = second.communicate(timeout=WAIT_S)
            assert second.returncode == 0
            assert "already open" in said
        assert first.poll() is None


def test_the_terminal_is_told_that_the_window_measures(environment):
    with window(environment, "--measure", "--allow-key-file", *LONG) as process:
        await_true("the worker", lambda: workers_of(process))
        terminal = [sys.executable, "-m", "desktop", "bench", "--unsigned", *SHORT]
        refused = subprocess.run(
            terminal, env=environment, capture_output=True, text=True, check=False
        )
        assert refused.returncode == 1
        assert "the window" in refused.stderr


@pytest.mark.parametrize("fault", ["crash", "garbage", "memory"])
def test_the_window_survives_its_worker(environment, home, fault):
    with window(environment, "--measure", "--allow-key-file", "--fault", fault, *SHORT) as process:
        window_id = shown(environment)

        def told():
            return home.log.exists() and "run ended" in home.log.read_text(encoding="utf-8")

        await_true("the end of the run", told)
        assert process.poll() is None
        quit_by_key(environment, process, window_id)
        assert process.returncode == 0
    assert Ledger(home.ledger).entries() == ()


def test_a_full_disk_loses_the_run_and_says_so(environment, tmp_path):
    """The result cannot be kept: nothing is called done, and earlier results stay."""
    if os.geteuid() != 0:
        pytest.skip("mounts a small file system, which needs root")
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(small)], check=False
    )
    if mounted.returncode:
        pytest.skip("may not mount here")
    try:
        env = environment | {"GRAM_HOME": str(small / "home")}
        terminal = [
            sys.executable,
            "-m",
            "desktop",
            "bench",
            "--key-file",
            str(tmp_path / "k"),
            *SHORT,
        ]
        first = subprocess.run(terminal, env=env, capture_output=True, text=True, check=False)
        assert first.returncode == 0, first.stderr
        fill_up(small / "filler")
        second = subprocess.run(terminal, env=env, capture_output=True, text=True, check=False)
        assert second.returncode == 1
        assert "gram: " in second.stderr
        assert "Traceback" not in second.stderr
        (small / "filler").unlink()
        listed = subprocess.run(
            [*terminal[:3], "results", "--json"],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        )
        assert len(json.loads(listed.stdout)) == 1
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


def test_a_stale_display_is_told_in_words(environment):
    stale = {k: v for k, v in environment.items() if k != "QT_QPA_PLATFORM"} | {"DISPLAY": ":9876"}
    with window(stale) as process:
        _, said = process.communicate(timeout=WAIT_S)
    assert process.returncode == 1
    assert "no screen" in said
