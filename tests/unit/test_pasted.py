"""Commands that are shown to be pasted: a hostile name is one word of them, and no more."""

import shlex

import pytest

from desktop import cli
from desktop.builds.library import Library
from desktop.builds.library_care import Care
from desktop.builds.store import locate
from desktop.cli import builds_get
from desktop.errors import BuildError
from desktop.rules.shell_words import gram_command
from tests.unit.gguf_files import gguf_bytes
from tests.unit.hub_routes import Repo, hub_server
from tests.unit.test_fits import ground_with, here

FILE = "m$(touch pwned;id) 'x.gguf"
NAME = f"hf.co/o/r:{FILE}"


def test_one_name_is_one_word_for_each_shell():
    assert shlex.split(gram_command("bench", NAME, system="linux")) == ["gram", "bench", NAME]
    assert gram_command("bench", "hf.co/o/r:Q4_K_M") == "gram bench hf.co/o/r:Q4_K_M"
    written = gram_command("builds get", "o/r:$(x)`y'.gguf", system="win32")
    assert written == "gram builds get 'o/r:$(x)`y''.gguf'"


def test_no_name_becomes_an_option():
    assert gram_command("bench", "-x.gguf", system="linux") == "gram bench -- -x.gguf"


def command(text):
    return shlex.split(text.partition("`")[2].rpartition("`")[0].split("`")[0])


def test_what_is_not_here_is_got_by_its_whole_name(home):
    with pytest.raises(BuildError) as caught:
        locate(NAME, home)
    assert caught.value.code == "build_not_here"
    assert command(caught.value.reason.advice()) == ["gram", "builds", "get", NAME]


@pytest.mark.parametrize("ending", ["partial", "damaged"])
def test_so_is_what_is_not_whole(home, ending):
    (path,) = Library(home).expect(NAME, {FILE: "ab" * 32}, None)
    path.parent.mkdir()
    name = f".{path.name}.partial" if ending == "partial" else f"{path.name}.damaged"
    (path.parent / name).write_bytes(b"GGUF")
    for call in (lambda: locate(NAME, home), lambda: Care(Library(home), home).check("ab" * 32)):
        try:
            reason = call().told
        except BuildError as e:
            reason = e.reason
        assert reason.code in {"build_unfinished", "build_damaged"}
        assert command(reason.advice()) == ["gram", "builds", "get", NAME]


def test_what_was_fetched_is_measured_by_what_is_shown(home, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(builds_get, "read_ground", lambda _: ground_with(here()))
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    with hub_server(o__r=Repo({FILE: gguf_bytes(tmp_path, 1)})) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        assert cli.main(["builds", "get", "o/r", "--anyway"]) == 0
    said = capsys.readouterr().out.splitlines()
    shown = [shlex.split(line.partition(":")[2]) for line in said if " gram " in line]
    assert shown == [["gram", "bench", NAME], ["gram", "builds", "use", NAME]]
