"""`gram settings` in a narrow terminal."""

import pytest

from desktop.cli import main
from desktop.settings import KEYS


@pytest.mark.parametrize("columns", [30, 40, 60, 80])
def test_no_line_is_wider_than_there_is_room_and_no_word_is_lost(
    home, capsys, monkeypatch, columns
):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["settings"]) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= columns
    for name, key in KEYS.items():
        assert name in said
        assert all(word in said for word in key.what.split())
