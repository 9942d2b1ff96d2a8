"""The catalogue of sentences."""

import pkgutil
from importlib import import_module

from desktop import sentences
from desktop.errors import CATALOGUE


def test_each_code_is_in_one_place_and_all_are_in_the_catalogue():
    names = {m.name for m in pkgutil.iter_modules(sentences.__path__)} - {"sentence", "figures"}
    tables = [import_module(f"desktop.sentences.{name}").SENTENCES for name in names]
    assert len(tables) == 5
    codes = [code for table in tables for code in table]
    assert sorted(codes) == sorted(set(codes)) == sorted(CATALOGUE)
