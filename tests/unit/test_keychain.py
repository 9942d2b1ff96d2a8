"""The keychain, with fakes that behave as keychains do; tests/x11 has the real one."""

import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from typing import ClassVar

import pytest
from filelock import FileLock
from jeepney import DBusErrorResponse, HeaderFields, MessageType
from jeepney.low_level import Header, Message
from keyring import errors as ke

from desktop.errors import GramError, KeyUnavailableError
from desktop.identity.key_text import new_key_text, read_key_text
from desktop.identity.keychain import load_or_create, status, usable_backend

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="D-Bus is Linux's")


@dataclass
class Memory:
    """A keychain that keeps what it is given."""

    kept: dict[tuple[str, str], str] = field(default_factory=dict)
    priority: ClassVar[float] = 5

    def get_password(self, service, username):
        return self.kept.get((service, username))

    def set_password(self, service, username, password):
        self.kept[service, username] = password


class Forgetful(Memory):
    def set_password(self, service, username, password):
        """Take it, and keep nothing."""


class Cutting(Memory):
    def set_password(self, service, username, password):
        self.kept[service, username] = password[:100]


@dataclass
class Failing(Memory):
    error: Exception = field(default_factory=lambda: ke.KeyringError("?"))
    on_set: bool = False

    def get_password(self, service, username):
        if not self.on_set:
            raise self.error

    def set_password(self, service, username, password):
        raise self.error


class Overtaken(Memory):
    """Another program without our lock stores its key right after ours."""

    def set_password(self, service, username, password):
        self.kept[service, username] = new_key_text()


def refused(code, call, *args, **named):
    with pytest.raises(KeyUnavailableError) as caught:
        call(*args, **named)
    assert caught.value.code == code, caught.value
    return caught.value


def test_the_first_need_makes_a_key_and_the_second_finds_it(tmp_path):
    vault = Memory()
    first = load_or_create(tmp_path / "key.lock", vault=vault)
    assert list(vault.kept) == [("gram", "signing-key")]
    assert load_or_create(tmp_path / "key.lock", vault=vault) == first
    assert read_key_text(vault.kept["gram", "signing-key"]) == first


def test_what_was_stored_is_what_signs(tmp_path):
    vault = Overtaken()
    used = load_or_create(tmp_path / "key.lock", vault=vault)
    assert used == read_key_text(vault.kept["gram", "signing-key"])


@pytest.mark.parametrize("vault", [Forgetful(), Cutting()])
def test_a_keychain_that_loses_the_key_is_refused(tmp_path, vault):
    refused("keychain_refused", load_or_create, tmp_path / "key.lock", vault=vault)


@pytest.mark.parametrize("text", ["", "hunter2", '{"gram_key": 2}'])
def test_something_else_under_our_name_is_never_overwritten(tmp_path, text):
    vault = Memory({("gram", "signing-key"): text})
    error = refused("keychain_refused", load_or_create, tmp_path / "key.lock", vault=vault)
    assert "hunter2" not in str(error)
    assert vault.kept["gram", "signing-key"] == text


class SecretServiceNotAvailableException(Exception):  # noqa: N818 - its own name
    """As secretstorage names it."""


class LockedException(Exception):  # noqa: N818 - its own name
    """As secretstorage names it."""


class PromptDismissedException(Exception):  # noqa: N818 - its own name
    """As secretstorage names it."""


def dismissed():
    error = ke.InitError("Failed to create the collection: Prompt dismissed..")
    error.__cause__ = PromptDismissedException("Prompt dismissed.")
    return error


def dbus_error():
    header = Header(
        0,
        MessageType.error,
        0,
        1,
        0,
        1,
        {HeaderFields.error_name: "org.freedesktop.DBus.Error.Failed"},
    )
    return DBusErrorResponse(Message(header, ("broken",)))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ke.KeyringLocked("Failed to unlock the collection!"), "keychain_locked"),
        (LockedException("locked"), "keychain_locked"),
        (ke.NoKeyringError("No recommended backend"), "no_keychain"),
        (ke.InitError("Failed to create the collection"), "no_keychain"),
        (dismissed(), "keychain_refused"),
        (SecretServiceNotAvailableException("gone"), "no_keychain"),
        (dbus_error(), "no_keychain"),
        (ConnectionRefusedError(111, "Connection refused"), "no_keychain"),
        (ke.PasswordSetError("Can't store password on keychain"), "keychain_refused"),
        (ke.PasswordDeleteError("no"), "keychain_refused"),
        (ke.KeyringError("-128 user cancelled"), "keychain_refused"),
        (RuntimeError(""), "keychain_refused"),
    ],
)
@pytest.mark.parametrize("on_set", [False, True])
def test_each_failure_has_its_sentence(tmp_path, error, code, on_set):
    vault = Failing(error=error, on_set=on_set)
    caught = refused(code, load_or_create, tmp_path / "key.lock", vault=vault)
    assert caught.__cause__ is error
    assert caught.reason.advice()


def test_two_grams_at_once_make_one_key(tmp_path):
    vault = Memory()
    found = []
    start = threading.Barrier(4)

    def first_need():
        start.wait()
        found.append(load_or_create(tmp_path / "key.lock", vault=vault).key_id)

    threads = [threading.Thread(target=first_need) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(found) == 4


def test_a_gram_that_waits_too_long_says_for_what(tmp_path):
    lock = tmp_path / "key.lock"
    with FileLock(lock):
        error = refused("keychain_refused", load_or_create, lock, timeout_s=0.05, vault=Memory())
    assert "another Gram" in str(error)


def test_a_data_folder_that_cannot_be_written_is_not_blamed_on_the_keychain(tmp_path):
    vault = Memory()
    (tmp_path / "file").write_text("in the way of a folder")
    with pytest.raises(GramError) as caught:
        load_or_create(tmp_path / "file" / "key.lock", vault=vault)
    assert caught.value.code == "folder_read_only"
    assert not vault.kept


def of_module(module, priority=5.0, **more):
    return type("Keyring", (Memory,), {"__module__": module, "priority": priority, **more})()


@pytest.mark.parametrize(
    "backend",
    [
        of_module("keyring.backends.null", -1),
        of_module("keyring.backends.fail", 0),
        of_module("keyrings.alt.file", 0.5),
        of_module("keyrings.alt.Windows", 2),
        of_module("somebody.else", 0),
        of_module("somebody.else", -3),
        of_module("keyring.backends.chainer", 10, backends=[]),
        of_module("keyring.backends.chainer", 10, backends=[of_module("keyrings.alt.file", 0.5)]),
    ],
)
def test_backends_that_keep_no_secret_are_refused(backend):
    refused("no_keychain", usable_backend, backend)


def test_of_a_chain_the_first_safe_one_is_used():
    safe = of_module("keyring.backends.SecretService")
    chain = of_module(
        "keyring.backends.chainer", 10, backends=[of_module("keyrings.alt.file", 0.5), safe]
    )
    assert usable_backend(chain) is safe
    assert usable_backend(safe) is safe


PROGRAM = """
import sys, time
from pathlib import Path
from desktop.errors import KeyUnavailableError
from desktop.identity import keychain
assert "keyring" not in sys.modules
begun = time.perf_counter()
try:
    keychain.load_or_create(Path(sys.argv[1]))
except KeyUnavailableError as e:
    print(e.code)
told = keychain.status()
print(told.usable, told.reason.code, f"{time.perf_counter() - begun:.2f}")
"""


def headless(tmp_path, **environment):
    """In a process of its own, as on a server: no bus, no screen."""
    gone = {"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "PYTHON_KEYRING_BACKEND"}
    base = {k: v for k, v in os.environ.items() if k not in gone}
    base |= {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), **environment}
    command = [sys.executable, "-W", "error", "-c", PROGRAM, str(tmp_path / "key.lock")]
    done = subprocess.run(command, env=base, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    return done.stdout.split()


@on_linux
@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"DISPLAY": ":77"},
        {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"},
        {"DBUS_SESSION_BUS_ADDRESS": "rubbish"},
        {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"},
        {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"},
        {"PYTHON_KEYRING_BACKEND": "keyring.backends.chainer.ChainerBackend"},
    ],
)
def test_a_server_without_a_keychain_says_so_at_once(tmp_path, environment):
    code, usable, reason, seconds = headless(tmp_path, **environment)
    assert (code, usable, reason) == ("no_keychain", "False", "no_keychain")
    assert float(seconds) < 2


@on_linux
def test_a_configured_backend_that_does_not_exist_is_an_error(tmp_path):
    found = headless(tmp_path, PYTHON_KEYRING_BACKEND="no.such.Keyring")
    assert found[:3] == ["keychain_refused", "False", "keychain_refused"]


@on_linux
def test_the_doctor_asks_nothing_and_makes_nothing():
    told = status({})
    assert not told.usable
    assert "D-Bus" in told.reason.text()
