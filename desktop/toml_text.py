"""One key of a TOML text changed, without losing a comment or a line of its owner's."""

import contextlib
import re
import tomllib
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from tomlkit.items import Array

Value: TypeAlias = str | bool | float | list[Any]
_BRACKET: Final = re.compile(r"^[ \t]*\[", re.MULTILINE)
_MOST_TRIED: Final = 20
"""Lines that begin with a bracket: only the first tables' are looked at."""


def edited(
    text: str, values: Mapping[str, Any], name: str, value: Value | None, table: str
) -> tuple[dict[str, Any], str]:
    """What the text says then, and the text.

    Args:
        text: before.
        values: what it says before.
        name: of the key.
        value: for it; None removes it.
        table: the key stands below `[table]`; empty: above all of them.

    Raises:
        ValueError: it cannot be changed without changing something else.
    """
    # 0.06 s that only a change needs
    import tomlkit  # noqa: PLC0415
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415

    try:
        # a new key above all tables is put before what is said of the first of them
        is_new = not table and name not in values
        head = _head_chars(text) if is_new else len(text)
        document = tomlkit.parse(text[:head])
        if is_new and value is not None and head < len(text):
            _append(document, document.body, name, value)
        else:
            _edit(document, name, value, table)
        changed = tomlkit.dumps(document) + text[head:]
        found = tomllib.loads(changed)
    except (TOMLKitError, TypeError, RecursionError) as e:
        raise ValueError from e
    if _as_text(found) != _as_text(_wanted(values, name, value, table)):
        raise ValueError("another key would change")
    return found, changed


def _as_text(value: object) -> object:
    """For comparing, whatever the order: a NaN of the person's is no other NaN."""
    if isinstance(value, Mapping):
        return {key: _as_text(inner) for key, inner in value.items()}
    return repr(value)


def _wanted(
    values: Mapping[str, Any], name: str, value: Value | None, table: str
) -> dict[str, Any]:
    """What the file is to say."""
    if not table:
        others = {key: kept for key, kept in values.items() if key != name}
        return others if value is None else {**others, name: value}
    if value is None and table not in values:
        return dict(values)
    return {**values, table: _wanted(values.get(table, {}), name, value, "")}


def _edit(document: "TOMLDocument", name: str, value: Value | None, table: str) -> None:
    """Change the text's tree. Raises what tomlkit raises."""
    import tomlkit  # noqa: PLC0415

    if table and table not in document:
        if value is None:
            return
        document[table] = tomlkit.table()
    inside: Any = document[table] if table else document
    if value is None:
        inside.pop(name, None)
    elif isinstance(value, list) and isinstance(old := inside.get(name), tomlkit.items.Array):
        _edit_list(old, value)
    elif name in inside or not table:
        inside.update({name: value})
    else:
        _append(inside, getattr(getattr(inside, "value", None), "body", []), name, value)


def _edit_list(old: "Array", wanted: list[Any]) -> None:
    """By single items: comments between them stay."""
    for at in reversed(range(len(old))):
        if old[at] not in wanted:
            del old[at]
    for value in wanted:
        if value not in old:
            old.append(value)


def _append(inside: Any, body: list[Any], name: str, value: Value) -> None:
    """Behind the last key of `body`: comments that follow it belong to what comes next."""
    behind: list[Any] = []
    while body and body[-1][0] is None and len(body) > 1:
        behind.insert(0, body.pop())
    inside.update({name: value})
    body.extend(behind)


def _head_chars(text: str) -> int:
    """Where the first table begins; the text's end where there is none, or it is not found."""
    for line in islice(_BRACKET.finditer(text), _MOST_TRIED):
        # within a list or a text of several lines what is before it is no TOML
        with contextlib.suppress(tomllib.TOMLDecodeError):
            tomllib.loads(text[: line.start()])
            return line.start()
    return len(text)
