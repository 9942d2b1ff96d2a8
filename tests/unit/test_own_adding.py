"""A file or folder of the person's own is looked at before it is added."""

import json

import pytest

from desktop import cli
from desktop.builds.preferences import read_preferences
from desktop.errors import BuildError, GramError
from desktop.services.own_adding import add_own
from tests.unit.gguf_files import gguf_bytes


def kept(home):
    return read_preferences(home.settings)[0].folders


def test_a_file_that_is_a_build(home, tmp_path):
    file = tmp_path / "x.gguf"
    file.write_bytes(gguf_bytes(tmp_path, 1))
    added = add_own(home, str(file))
    assert (added.path, added.builds, added.again, added.told) == (str(file), 1, False, ())
    assert kept(home) == (str(file),)


@pytest.mark.parametrize(
    ("name", "change", "code"),
    [
        ("x.gguf", lambda _: b"some text", "not_gguf"),
        ("x.gguf", lambda content: content[:-1], "gguf_cut"),
        ("x.gguf", lambda content: content[:40], "gguf_cut_header"),
        ("x.txt", lambda content: content, "add_other_file"),
        ("x.bin", lambda content: content, "add_other_file"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error_and_not_added(home, tmp_path, name, change, code):
    file = tmp_path / name
    file.write_bytes(change(gguf_bytes(tmp_path, 1)))
    with pytest.raises(BuildError) as caught:
        add_own(home, str(file))
    assert caught.value.code == code
    assert name in str(caught.value)
    assert kept(home) == ()


@pytest.mark.parametrize("text", ["", " ", "no/such.gguf"])
def test_what_is_not_there_is_not_added(home, text):
    with pytest.raises(GramError):
        add_own(home, text)
    assert kept(home) == ()


def test_a_folder_with_how_many_builds_and_what_cannot_be_used(home, tmp_path):
    folder = tmp_path / "models"
    (folder / "deep").mkdir(parents=True)
    assert add_own(home, str(folder)).builds == 0
    for n, place in enumerate((folder, folder / "deep")):
        (place / f"{n}.gguf").write_bytes(gguf_bytes(tmp_path, n + 1))
    (folder / "cut.gguf").write_bytes(b"GGUF")
    added = add_own(home, str(folder))
    assert (added.builds, added.again) == (2, True)
    assert [reason.params["name"] for reason in added.told] == ["cut.gguf"]
    assert kept(home) == (str(folder),)


def test_the_terminal_says_what_came_of_it(home, tmp_path, capsys):
    folder = tmp_path / "models"
    folder.mkdir()
    assert cli.main(["builds", "add", str(folder)]) == 0
    assert f"Added: {folder}, 0 builds" in capsys.readouterr().out
    (folder / "x.gguf").write_bytes(gguf_bytes(tmp_path, 1))
    assert cli.main(["builds", "add", str(folder)]) == 0
    assert f"Looked through already: {folder}, 1 build\n" in capsys.readouterr().out
    assert cli.main(["builds", "add", str(folder), "--json"]) == 0
    own = json.loads(capsys.readouterr().out)["own"]
    assert (own["builds"], own["again"]) == (1, True)
    (tmp_path / "x.gguf").write_text("text")
    assert cli.main(["builds", "add", str(tmp_path / "x.gguf")]) == 1
    assert "is not a GGUF file" in capsys.readouterr().err
