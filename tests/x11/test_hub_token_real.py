"""The token of Hugging Face in the real GNOME Keyring; the signing key beside it is untouched."""

from pathlib import Path

import pytest

from tests.x11 import test_keyring_real as real
from tests.x11.test_keyring_real import LOCK, UNLOCK, session

pytestmark = real.pytestmark

TOKENS = """
import os, sys
from desktop.errors import GramError
from desktop.identity import hub_token
at = "https://huggingface.co:443"
for word in sys.argv[1:]:
    try:
        if word == "keep":
            hub_token.keep_token(at, "hf_" + "geheim", os.environ)
            print("kept")
        elif word == "replace":
            hub_token.keep_token(at, "hf_" + "neues", os.environ)
            print("kept")
        elif word == "forget":
            print("forgot", hub_token.forget_token(at, os.environ))
        elif word == "elsewhere":
            print("read", hub_token.kept_token("https://mirror.example:443", os.environ))
        else:
            print("read", hub_token.kept_token(at, os.environ))
    except GramError as e:
        print("error", e.code)
"""
TOKEN = '"$PYTHON" -W error -c "$TOKENS" '


@pytest.fixture
def home(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path


def run(home: Path, script: str, **more: str) -> list[list[str]]:
    return session(home, script, TOKENS=TOKENS, **more)


def test_it_is_kept_replaced_and_forgotten_and_the_key_stays(home):
    words = "read keep read elsewhere replace read forget read forget\n"
    lines = run(home, UNLOCK + real.GRAM + TOKEN + words + real.GRAM)
    keys = [line for line in lines if line[0] == "key"]
    assert len(keys) == 2
    assert keys[0] == keys[1]
    told = [line for line in lines if line[0] not in {"key", "status"}]
    assert told == [
        ["read", "None"],
        ["kept"],
        ["read", "hf_geheim"],
        ["read", "None"],
        ["kept"],
        ["read", "hf_neues"],
        ["forgot", "True"],
        ["read", "None"],
        ["forgot", "False"],
    ]


def test_it_outlives_the_session_and_is_not_in_clear_on_the_disk(home):
    run(home, UNLOCK + TOKEN + "keep\n")
    assert run(home, UNLOCK + TOKEN + "read\n") == [["read", "hf_geheim"]]
    stored = b"".join(p.read_bytes() for p in (home / "data" / "keyrings").iterdir())
    assert stored
    assert b"hf_geheim" not in stored


@pytest.mark.parametrize("screen", [{}, {"DISPLAY": ":77"}])
def test_a_locked_keyring_is_not_asked_to_unlock_for_reading(home, screen):
    run(home, UNLOCK + TOKEN + "keep\n")
    assert run(home, UNLOCK + LOCK + TOKEN + "read\n", **screen) == [
        ["error", "token_keychain_locked"]
    ]


@pytest.mark.parametrize("screen", [{}, {"DISPLAY": ":77"}])
def test_reading_makes_no_keyring(home, screen):
    assert run(home, TOKEN + "read\n", **screen) == [["read", "None"]]
    assert not list(home.rglob("*.keyring"))


def test_without_a_screen_a_locked_keyring_keeps_nothing_and_says_so(home):
    assert run(home, TOKEN + "keep\n") == [["error", "token_no_keychain"]]
    run(home, UNLOCK + TOKEN + "keep\n")
    locked = run(home, UNLOCK + LOCK + TOKEN + "replace forget\n")
    assert locked == [["error", "token_keychain_locked"]] * 2
