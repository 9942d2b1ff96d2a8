"""The real GNOME Keyring, on a session bus and in a home of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="GNOME Keyring is Linux's"),
    pytest.mark.skipif(
        not shutil.which("gnome-keyring-daemon") or not shutil.which("dbus-run-session"),
        reason="gnome-keyring or dbus is not installed",
    ),
]

USE = """
import sys
from pathlib import Path
from desktop.errors import KeyUnavailableError
from desktop.identity import keychain
told = keychain.status()
print("status", told.backend, told.usable, told.reason.code if told.reason else None)
try:
    print("key", keychain.load_or_create(Path(sys.argv[1])).key_id)
except KeyUnavailableError as e:
    print("error", e.code)
"""
UNLOCK = "printf geheim | gnome-keyring-daemon --unlock --components=secrets > /dev/null\n"
LOCK = """
"$PYTHON" -c 'import secretstorage as s
from contextlib import closing
with closing(s.dbus_init()) as bus: s.get_default_collection(bus).lock()'
"""
GRAM = '"$PYTHON" -W error -c "$USE" "$LOCK_FILE"\n'


def session(home: Path, script: str, **environment: str) -> list[list[str]]:
    """Run a shell script on a fresh bus; the words of each line that it prints."""
    base = {k: v for k, v in os.environ.items() if k not in {"WAYLAND_DISPLAY", "DISPLAY"}}
    base |= {"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "PYTHON": sys.executable, "USE": USE}
    base |= {"XDG_DATA_HOME": str(home / "data"), "XDG_CACHE_HOME": str(home / "cache")}
    base |= {"LOCK_FILE": str(home / "key.lock"), **environment}
    command = ["dbus-run-session", "--", "sh", "-c", script]
    done = subprocess.run(
        command, env=base, capture_output=True, text=True, timeout=60, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return [line.split() for line in done.stdout.splitlines()]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path


def test_a_key_is_made_once_and_outlives_the_session(home):
    first = session(home, UNLOCK + GRAM + GRAM)
    again = session(home, UNLOCK + GRAM)
    keys = [line[1] for line in first + again if line[0] == "key"]
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert len(keys[0]) == 64
    assert first[0] == ["status", "SecretService", "Keyring", "True", "None"]
    stored = b"".join(p.read_bytes() for p in (home / "data" / "keyrings").iterdir())
    assert stored
    assert b"gram_key" not in stored


def test_two_grams_at_once_make_one_key(home):
    lines = session(home, UNLOCK + "\n".join([GRAM.strip() + " &"] * 3) + "\nwait\n")
    keys = {line[1] for line in lines if line[0] == "key"}
    assert len(keys) == 1, lines


def test_a_locked_keyring_without_a_screen_says_so_at_once(home):
    session(home, UNLOCK + GRAM)
    lines = session(home, UNLOCK + LOCK + GRAM)
    assert lines[0][-2:] == ["False", "keychain_locked"]
    assert lines[1] == ["error", "keychain_locked"]


def test_a_server_where_nobody_made_a_keyring_has_no_keychain(home):
    lines = session(home, GRAM)
    assert lines[0][-2:] == ["False", "no_keychain"]
    assert lines[1] == ["error", "no_keychain"]
    assert not list(home.rglob("*.keyring"))
