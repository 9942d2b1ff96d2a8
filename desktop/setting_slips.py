"""Names that are no setting's: which one may be meant, and what to say of those in a file."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from desktop.errors import GramError, Param, Reason
from desktop.setting_keys import KEYS, TABLES, Key

_SHOWN: Final = 60
"""Characters of a wrong value or name."""
_CLOSE: Final = 0.75
"""Of difflib's ratio: one wrong letter in four."""
_MOST_NAMED: Final = 5
"""Of the names that are like no setting's."""
_MOST_COMPARED: Final = 100
"""Names of a file, and of each section in it: comparing thousands would take seconds."""
_LEAST_WORD: Final = 3
"""Letters of a word that a setting may be called by."""
_OWN: Final[Mapping[str, str]] = {name.rpartition(".")[2]: name for name in KEYS}
"""Keys by what stands in the file, without their table."""
_WORDS: Final = [word for own in _OWN for word in own.split("_") if len(word) >= _LEAST_WORD]
_CALLED: Final[Mapping[str, str]] = {
    **{
        word: name
        for own, name in _OWN.items()
        for word in own.split("_")
        if _WORDS.count(word) == 1
    },
    **_OWN,
    **{name: name for name in KEYS},
}
"""What a setting may be called by: its name, and each word of it that no other has."""


def key_of(name: str) -> Key:
    """The key of that name.

    Raises:
        GramError: `setting_unknown`; `setting_near` where another is called nearly so.
    """
    if name in KEYS:
        return KEYS[name]
    said: dict[str, Param] = {"name": _cut(name), "allowed": ", ".join(KEYS)}
    near = _nearest(name)
    if near is None:
        raise GramError("setting_unknown", **said)
    raise GramError("setting_near", near=near, **said)


def not_read(values: Mapping[str, Any], file: str) -> Iterator[Reason]:
    """What stands in a file called `file` and is not used as it stands there."""
    yield from _outside(values, file)
    for table in sorted(TABLES & values.keys()):
        inner = values[table]
        if isinstance(inner, Mapping):
            yield from _inside(table, inner, file)
        else:
            yield Reason("setting_no_table", {"file": file, "name": table})


def shown(value: object) -> str:
    """As it stands in the file, a long one cut."""
    return _cut(str(value).lower() if isinstance(value, bool) else str(value))


def _outside(values: Mapping[str, Any], file: str) -> Iterator[Reason]:
    """What stands in the file and is no setting: what each setting may be meant by, then the rest.

    However long the file, it is a sentence for each setting and place, and one for the rest.
    """
    slips: dict[tuple[str, bool], Reason] = {}
    rest: list[str] = []
    known = {name for name in KEYS if "." not in name} | TABLES
    unknown = ((name, value) for name, value in values.items() if name not in known)
    for name, value in islice(unknown, _MOST_COMPARED):
        inside = list(islice(value, _MOST_COMPARED)) if isinstance(value, dict) else []
        found = [slip for inner in inside if (slip := _slip(file, inner, name))]
        if not found and (slip := _slip(file, name)):
            found = [slip]
        for near, reason in found:
            slips.setdefault((near, bool(inside)), reason)
        if not found:
            rest.append(f"[{_cut(name)}]" if inside else _cut(name))
    yield from slips.values()
    yield from _rest(file, rest, KEYS)


def _inside(table: str, values: Mapping[str, Any], file: str) -> Iterator[Reason]:
    """The same for a table that holds settings."""
    slips: dict[str, Reason] = {}
    rest: list[str] = []
    own = [name for name in KEYS if name.startswith(f"{table}.")]
    unknown = (name for name in values if f"{table}.{name}" not in own)
    for name in islice(unknown, _MOST_COMPARED):
        near = _nearest(name)
        if near is None:
            rest.append(f"{table}.{_cut(name)}")
        elif near in own:
            said: dict[str, Param] = {"file": file, "name": f"{table}.{_cut(name)}", "near": near}
            slips.setdefault(near, Reason("setting_near_in_file", said))
        else:
            slips.setdefault(near, _in_section(file, name, near, table))
    yield from slips.values()
    yield from _rest(file, rest, own)


def _rest(file: str, names: Sequence[str], allowed: Iterable[str]) -> Iterator[Reason]:
    if names:
        first = ", ".join(names[:_MOST_NAMED]) + ", …" * (len(names) > _MOST_NAMED)
        said = {"file": file, "names": first, "allowed": ", ".join(allowed)}
        yield Reason("settings_not_read", said)


def _slip(file: str, name: str, section: str | None = None) -> tuple[str, Reason] | None:
    """The setting that may be meant, and what to say; None where the name is like none of them."""
    near = _nearest(name)
    if near is None:
        return None
    if section is None:
        # with a dot of its own it stands in quotes
        written = f'"{name}"' if name == near else _cut(name)
        return near, Reason("setting_near_in_file", {"file": file, "name": written, "near": near})
    return near, _in_section(file, name, near, section)


def _in_section(file: str, name: str, near: str, section: str) -> Reason:
    """What is a setting, but not below this section."""
    table, _, own = near.rpartition(".")
    said: dict[str, Param] = {"file": file, "name": _cut(name), "section": _cut(section)}
    if table:
        return Reason("setting_in_other_section", {**said, "near": own, "right": table})
    return Reason("setting_in_section", {**said, "near": near})


def _nearest(name: str) -> str | None:
    """The setting that is called so but for capitals, dashes, a missing word or a slip."""
    written = _cut(name).strip().lower().replace("-", "_").replace(" ", "_")
    close = difflib.get_close_matches(written, _CALLED, 1, _CLOSE)
    return _CALLED[close[0]] if close else None


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
