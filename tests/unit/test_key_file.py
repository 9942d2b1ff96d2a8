"""Key files: private, whole, one for all, and never overwritten; and which key is opened when."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from desktop.errors import KeyUnavailableError
from desktop.identity.key_file import load_or_create
from desktop.identity.keys import open_signer
from desktop.identity.signer import Signer
from desktop.paths import Paths
from desktop.records.request import Signing

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no mode bits")
not_root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere"
)


def refused(code, call, *args, **named):
    with pytest.raises(KeyUnavailableError) as caught:
        call(*args, **named)
    assert caught.value.code == code
    return str(caught.value)


def test_the_second_start_finds_the_first_key(tmp_path):
    path = tmp_path / "schlüssel mit leerzeichen"
    first = load_or_create(path)
    assert load_or_create(path) == first
    assert first.key_id != load_or_create(tmp_path / "other").key_id
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["other", path.name])


@posix
def test_only_the_owner_may_read_it_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        load_or_create(tmp_path / "key")
    finally:
        os.umask(before)
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o610, 0o601])
def test_a_key_that_others_may_touch_is_refused(tmp_path, mode):
    path = tmp_path / "key"
    load_or_create(path)
    path.chmod(mode)
    message = refused("key_file_open", load_or_create, path)
    assert f"{mode:04o}" in message
    path.chmod(0o400)
    load_or_create(path)


def test_the_format_of_version_one_never_changes(tmp_path):
    seed = bytes(range(32))
    key_id = Signer.from_seed(seed).key_id
    path = tmp_path / "key"
    path.write_text(f'{{"gram_key": 1, "key_id": "{key_id}", "seed": "{seed.hex()}"}}\n')
    path.chmod(0o600)
    assert load_or_create(path).key_id == key_id
    load_or_create(tmp_path / "new")
    lines = (tmp_path / "new").read_text().splitlines()
    assert len(lines) == 1
    assert list(json.loads(lines[0])) == ["gram_key", "key_id", "seed"]


def damaged(text):
    """Ways in which a good file goes bad."""
    body = json.loads(text)
    digit = "1" if body["seed"][0] == "0" else "0"
    yield ""
    yield text[: len(text) // 2]
    yield "\0" * len(text)
    yield "[]"
    yield json.dumps({**body, "gram_key": 2})
    yield json.dumps({**body, "seed": digit + body["seed"][1:]})
    yield json.dumps({**body, "seed": body["seed"][:-2]})
    yield json.dumps({**body, "seed": None})
    yield json.dumps({"gram_key": 1, "seed": body["seed"]})


def test_a_damaged_key_is_an_error_and_stays_as_it_is(tmp_path):
    path = tmp_path / "key"
    load_or_create(path)
    good = path.read_text()
    secret = json.loads(good)["seed"]
    for text in damaged(good):
        path.write_text(text)
        message = refused("key_file_bad", load_or_create, path)
        assert secret not in message
        assert path.read_text() == text
    path.write_bytes(b"\xff\xfe" + good.encode("utf-16-le"))
    refused("key_file_bad", load_or_create, path)


def test_no_secret_is_in_the_chain_of_causes(tmp_path):
    path = tmp_path / "key"
    load_or_create(path)
    secret = json.loads(path.read_text())["seed"]
    path.write_text(path.read_text().replace("}", ""))
    with pytest.raises(KeyUnavailableError) as caught:
        load_or_create(path)
    error: BaseException | None = caught.value
    while error is not None:
        assert secret not in f"{error!r} {getattr(error, 'doc', '')}"
        error = error.__cause__ or error.__context__


def test_what_is_no_file_is_refused(tmp_path):
    refused("key_file_bad", load_or_create, tmp_path)
    if os.name == "posix":
        os.mkfifo(tmp_path / "pipe", 0o600)
        assert "not a file" in refused("key_file_bad", load_or_create, tmp_path / "pipe")
        assert "not a file" in refused("key_file_bad", load_or_create, Path("/dev/null"))


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    path = tmp_path / "missing" / "key"
    message = refused("key_file_write", load_or_create, path)
    assert str(path) in message
    assert "no such file" in message


@not_root
def test_a_folder_without_permission_is_named(tmp_path):
    tmp_path.chmod(0o500)
    refused("key_file_write", load_or_create, tmp_path / "key")


@posix
def test_a_symbolic_link_is_followed_even_to_nothing(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "key").symlink_to(elsewhere / "real")
    made = load_or_create(tmp_path / "key")
    assert load_or_create(elsewhere / "real") == made
    assert (tmp_path / "key").is_symlink()


def test_many_processes_at_once_end_with_one_key(tmp_path):
    path = tmp_path / "key"
    program = (
        "import sys; from pathlib import Path; from desktop.identity.key_file import load_or_create;"
        "sys.stdin.readline(); print(load_or_create(Path(sys.argv[1])).key_id)"
    )
    command = [sys.executable, "-c", program, str(path)]
    pipe = subprocess.PIPE
    waiting = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(6)]
    for process in waiting:
        process.stdin.write("go\n")
        process.stdin.flush()
    found = {process.communicate(timeout=60)[0].strip() for process in waiting}
    assert found == {load_or_create(path).key_id}
    assert [p.name for p in tmp_path.iterdir()] == ["key"]


@pytest.fixture
def paths(tmp_path):
    return Paths(tmp_path, tmp_path, tmp_path)


def keychain_with(signer):
    return lambda lock, environment, create: signer


def keychain_saying(code, **params):
    def ask(lock, environment, create):
        raise KeyUnavailableError(code, **params)

    return ask


def test_unsigned_opens_nothing(paths):
    missing = paths._replace(data=paths.data / "never")
    assert open_signer(Signing.UNSIGNED, None, missing, {}) == (None, None)
    assert not missing.data.exists()


def test_a_keychain_is_used_and_no_file_made(paths):
    signer = Signer.from_seed(bytes(32))
    for signing in (Signing.KEYCHAIN, Signing.KEYCHAIN_OR_FILE):
        got = open_signer(signing, None, paths, {}, from_keychain=keychain_with(signer))
        assert got == (signer, None)
    assert not paths.key_file.exists()


def test_without_a_keychain_the_default_file_is_used_and_said(paths):
    ask = keychain_saying("no_keychain", detail="none")
    signer, reason = open_signer(Signing.KEYCHAIN_OR_FILE, None, paths, {}, from_keychain=ask)
    assert signer == load_or_create(paths.key_file)
    assert reason.code == "using_key_file"
    assert str(paths.key_file) in reason.text()
    assert "\n" not in reason.text()


def test_without_a_keychain_the_file_that_is_there_is_this_machines_key(paths):
    ask = keychain_saying("no_keychain", detail="none")
    refused("no_keychain", open_signer, Signing.KEYCHAIN, None, paths, {}, from_keychain=ask)
    key = load_or_create(paths.key_file)
    signer, reason = open_signer(Signing.KEYCHAIN, None, paths, {}, from_keychain=ask)
    assert signer == key
    assert reason.code == "using_key_file"


def test_where_a_key_file_is_no_second_key_is_made_in_the_keychain(paths):
    asked = []

    def empty_keychain(lock, environment, create):
        asked.append(create)

    key = load_or_create(paths.key_file)
    for signing in (Signing.KEYCHAIN, Signing.KEYCHAIN_OR_FILE):
        assert open_signer(signing, None, paths, {}, from_keychain=empty_keychain)[0] == key
    assert asked == [False, False]


def test_a_key_that_the_keychain_holds_goes_before_a_file(paths):
    load_or_create(paths.key_file)
    held = Signer.from_seed(bytes(32))
    got = open_signer(Signing.KEYCHAIN, None, paths, {}, from_keychain=keychain_with(held))
    assert got == (held, None)


@pytest.mark.parametrize("code", ["keychain_locked", "keychain_refused"])
def test_a_keychain_that_says_no_makes_no_second_key(paths, code):
    ask = keychain_saying(code, detail="no")
    refused(code, open_signer, Signing.KEYCHAIN_OR_FILE, None, paths, {}, from_keychain=ask)
    assert not paths.key_file.exists()


def test_a_named_file_goes_before_the_variable_and_the_default(paths, tmp_path):
    named, variable = tmp_path / "named", tmp_path / "variable"
    environment = {"GRAM_KEY_FILE": str(variable)}
    never = keychain_saying("keychain_refused", detail="must not be asked")
    for signing in (Signing.KEY_FILE, Signing.KEYCHAIN_OR_FILE):
        got = open_signer(signing, named, paths, environment, from_keychain=never)
        assert got == (load_or_create(named), None)
        got = open_signer(signing, None, paths, environment, from_keychain=never)
        assert got == (load_or_create(variable), None)
    assert not paths.key_file.exists()
    got = open_signer(Signing.KEY_FILE, None, paths, {}, from_keychain=never)
    assert got == (load_or_create(paths.key_file), None)
