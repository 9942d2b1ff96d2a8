"""Gram's own folders: made where they can be, else the error says what is in the way."""

import sys

import pytest

from desktop.errors import GramError
from desktop.paths import Paths

links = pytest.mark.skipif(sys.platform == "win32", reason="links need a right of their own there")


def paths_in(root):
    return Paths(root, root / "cache", root / "log")


def refused(root):
    with pytest.raises(GramError) as caught:
        paths_in(root).ensure()
    return caught.value


def test_all_folders_are_made_once_and_again(tmp_path):
    paths = paths_in(tmp_path / "a" / "b")
    for _ in range(2):
        paths.ensure()
    assert all(folder.is_dir() for folder in (*paths, paths.builds))


@links
@pytest.mark.parametrize("name", ["builds", "cache", "log"])
def test_a_link_to_a_drive_that_is_not_there_is_named(tmp_path, name):
    (tmp_path / name).symlink_to(tmp_path / "unplugged" / "models")
    error = refused(tmp_path)
    assert (error.code, error.reason.params["name"]) == ("folder_gone", name)
    assert "Connect its drive" in error.reason.advice()
    assert str(tmp_path) not in str(error)


@links
def test_so_is_one_above_the_data_folder(tmp_path):
    (tmp_path / "drive").symlink_to(tmp_path / "unplugged")
    error = refused(tmp_path / "drive" / "gram")
    assert (error.code, error.reason.params["name"]) == ("folder_gone", "drive")


@links
def test_a_link_to_a_folder_is_a_folder(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "builds").symlink_to(tmp_path / "elsewhere")
    assert paths_in(tmp_path).ensure().builds.is_dir()


@pytest.mark.parametrize("inside", ["", "gram"])
def test_a_file_in_the_place_of_a_folder_is_named(tmp_path, inside):
    (tmp_path / "taken").write_bytes(b"")
    error = refused(tmp_path / "taken" / inside)
    assert error.code in {"folder_no_folder", "folder_read_only"}
    assert error.code == "folder_no_folder" or sys.platform == "win32"
