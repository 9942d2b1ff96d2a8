"""Where the values of a signed body stand, and what its schema says of each."""

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

Path: TypeAlias = tuple[str | int, ...]


class Place(NamedTuple):
    """One value of a body, with the part of the schema that speaks of it."""

    path: Path
    rule: dict[str, Any]
    value: Any


def places(schema: dict[str, Any], body: Any) -> Iterator[Place]:
    """Every value, the containers too."""
    return _places(schema, schema, body, ())


def _places(
    schema: dict[str, Any], part: dict[str, Any], value: Any, path: Path
) -> Iterator[Place]:
    rule = resolved(schema, part)
    yield Place(path, rule, value)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(schema, rule["properties"][key], inner, (*path, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _places(schema, rule["items"], inner, (*path, at))


def resolved(schema: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """With what it refers to in it."""
    found = dict(part)
    for told in (*found.pop("allOf", []), *([found] if "$ref" in found else [])):
        if "$ref" in told:
            name = told["$ref"].rpartition("/")[2]
            found = {**resolved(schema, schema["$defs"][name]), **found}
    found.pop("$ref", None)
    return found


def changed(body: Any, path: Path, value: Any) -> Any:
    """The body with another value there; the rest is shared."""
    if not path:
        return value
    first, *rest = path
    if isinstance(body, dict):
        return {**body, first: changed(body[first], tuple(rest), value)}
    copy = list(body)
    copy[first] = changed(body[first], tuple(rest), value)
    return copy
