"""JSON as signed statements may hold it: one object, no duplicate keys, finite numbers, bounded.

Python's own reader takes NaN, lets the last of two equal keys win, and guesses UTF-16; two readers
of one signed text could then see two different statements.
"""

import json
import math

MAX_DEPTH = 32
MAX_DIGITS = 400
"""Of a whole number; far more than any field takes, and below the limit of Python's own reader."""


def parse_object(text: str) -> dict[str, object]:
    """The object that `text` holds.

    Raises:
        ValueError: not JSON, not an object, a key twice, NaN or infinity, a whole number of more
            than `MAX_DIGITS` digits, a lone surrogate, or nested deeper than `MAX_DEPTH`. The
            message is English and fit for people.
    """
    try:
        value: object = json.loads(
            text,
            object_pairs_hook=_without_duplicates,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_short,
        )
    except RecursionError as e:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH}") from e
    except json.JSONDecodeError as e:
        raise ValueError(f"it is not JSON ({e.msg} at character {e.pos})") from e
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")  # noqa: TRY004 - one kind of error for callers
    _check_depth(value)
    _check_text(value)
    return value


def dump_canonical(value: object) -> str:
    """Compact JSON with sorted keys, not escaped to ASCII.

    Raises:
        ValueError: a number is NaN or infinite.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("it has the same key twice in one object")
    return found


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a number that JSON knows")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:24]} is too large")
    return value


def _short(text: str) -> int:
    if len(text.lstrip("-")) > MAX_DIGITS:
        raise ValueError(f"a whole number in it has more than {MAX_DIGITS} digits")
    return int(text)


def _check_depth(value: object) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return
    raise ValueError(f"it is nested deeper than {MAX_DEPTH}")


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return list(value) if isinstance(value, list) else []


def _check_text(value: object) -> None:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str) and any("\ud800" <= c <= "\udfff" for c in item):
            raise ValueError("it has half of a surrogate pair in its text")
        waiting.extend(_children(item))
