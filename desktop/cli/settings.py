"""`gram settings`: list, show, set and unset what the person sets."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final

import click
from rich.padding import Padding
from rich.table import Table

from desktop.cli.figures import DASH
from desktop.cli.output import say_json, say_reason
from desktop.cli.plain import Plain, to_plain
from desktop.cli.tables import cell, print_table, room
from desktop.errors import GramError
from desktop.paths import Paths
from desktop.rules.places import places_meant
from desktop.settings import KEYS, Loaded, Settings, change_setting, key_of, read_settings

_NAMES: Final = 20
_VALUES: Final = 12
"""Letters, so that one setting stands where it stands in the list."""
_NARROW: Final = 60
_INDENT: Final = 2


def run(
    paths: Paths, key: str | None, values: Sequence[str], *, unset: bool, as_json: bool
) -> None:
    """List all settings, show one, or set or unset it and show what it is then.

    Raises:
        GramError: `setting_unknown`, `setting_near`, `setting_bad`, `place_meant`,
            `folder_missing`, `settings_write`, `settings_busy`, `folder_read_only`.
    """
    if key is not None:
        key_of(key)
    loaded = _changed(paths, key, values, unset=unset)
    for reason in loaded.told:
        say_reason(reason)
    names = tuple(KEYS) if key is None else (key,)
    found = {name: _value(loaded.settings, name) for name in names}
    if as_json:
        say_json(found)
        return
    _print(found)


def _print(found: Mapping[str, Plain]) -> None:
    """What each is, and what it is of; where there is no room beside it, on lines of its own.

    Of a list how many there are, and each on a line of its own.
    """
    if room() < _NARROW:
        for name, now in found.items():
            print_table(cell(f"{name:<{_NAMES}}{_words(now)}"))
            _print_below([KEYS[name].what, *_list(now)])
        return
    table = Table(box=None, pad_edge=False, padding=0, show_header=False)
    for width in (_NAMES, _VALUES, None):
        table.add_column(overflow="fold", min_width=width)
    for name, now in found.items():
        table.add_row(cell(name), cell(f"{_words(now)} "), cell(KEYS[name].what))
    print_table(table)
    _print_below(one for now in found.values() for one in _list(now))


def _print_below(lines: Iterable[str]) -> None:
    for line in lines:
        print_table(Padding(cell(line), (0, 0, 0, _INDENT)))


def _list(value: Plain) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def _changed(paths: Paths, key: str | None, values: Sequence[str], *, unset: bool) -> Loaded:
    if unset and (key is None or values):
        raise click.UsageError("--unset takes the name of one setting and no value.")
    if key is None or not (unset or values):
        return read_settings(paths.settings)
    is_list = KEYS[key].most > 1
    if len(values) > 1 and not is_list:
        raise click.UsageError(f"{key} takes one value; put one with blanks into quotes.")
    value = None if unset else values if is_list else values[0]
    try:
        return change_setting(paths.ensure().settings, key, value)
    except GramError as e:
        raise _with_places_meant(e) from e


def _with_places_meant(error: GramError) -> GramError:
    """For a place that is named in words, an error that says its code; else the same error."""
    if error.code != "setting_bad" or error.reason.params["name"] != "place":
        return error
    from desktop.services.costs import carbon_tables  # noqa: PLC0415 - only for a wrong place

    found = error.reason.params["found"]
    meant = places_meant(str(found), carbon_tables())
    if not meant:
        return error
    names = " or ".join(f"{place.code} ({place.name})" for place in meant)
    return GramError("place_meant", found=found, meant=names, place=meant[0].code)


def _value(settings: Settings, name: str) -> Plain:
    return to_plain(settings.value(name))


def _words(value: Plain) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return str(len(value)) if value else DASH
    if value is None:
        return DASH
    return _figures(value) if isinstance(value, float) else str(value)


def _figures(value: float) -> str:
    """As one would type it: every figure, no power of ten, no point without need."""
    text = f"{Decimal(repr(value)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
