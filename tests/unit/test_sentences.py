"""The catalogue of sentences."""

import pkgutil
import re
from importlib import import_module

from desktop import sentences
from desktop.errors import CATALOGUE


def test_each_code_is_in_one_place_and_all_are_in_the_catalogue():
    names = {m.name for m in pkgutil.iter_modules(sentences.__path__)} - {"sentence", "figures"}
    tables = [import_module(f"desktop.sentences.{name}").SENTENCES for name in names]
    assert len(tables) == 5
    codes = [code for table in tables for code in table]
    assert sorted(codes) == sorted(set(codes)) == sorted(CATALOGUE)


def test_no_name_that_anybody_may_give_stands_in_a_command_as_it_is():
    written = [
        (code, parameter)
        for code, sentence in CATALOGUE.items()
        for command in re.findall("`([^`]*)`", f"{sentence.text} {sentence.advice}")
        for parameter in re.findall("{([^}]*)}", command)
    ]
    # whole commands come quoted; the others are of a few letters that need no quotes
    ours = {"command", "words", "place", "id"}
    plain = {("setting_bad_in_file", "name"), ("listing_large", "name")}
    assert [(c, p) for c, p in written if p not in ours and (c, p) not in plain] == []
