"""`gram settings`: list, show, set and unset what the person sets."""

import json

import click

from desktop.cli.figures import DASH
from desktop.cli.plain import Plain, to_plain
from desktop.errors import Reason
from desktop.paths import Paths
from desktop.settings import KEYS, Loaded, Settings, change_setting, key_of, read_settings


def run(paths: Paths, key: str | None, value: str | None, *, unset: bool, as_json: bool) -> None:
    """List all settings, show one, or set or unset it and show what it is then.

    Raises:
        GramError: `setting_unknown`, `setting_bad`, `settings_write`, `folder_read_only`.
    """
    if key is not None:
        key_of(key)
    loaded = _changed(paths, key, value, unset=unset)
    for reason in loaded.told:
        _tell(reason)
    names = tuple(KEYS) if key is None else (key,)
    found = {name: _value(loaded.settings, name) for name in names}
    if as_json:
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    for name, now in found.items():
        click.echo(f"{name:<20}{_words(now):<12}{KEYS[name].what}")


def _changed(paths: Paths, key: str | None, value: str | None, *, unset: bool) -> Loaded:
    if unset and (key is None or value is not None):
        raise click.UsageError("--unset takes the name of one setting and no value.")
    if key is None or not (unset or value is not None):
        return read_settings(paths.settings)
    return change_setting(paths.ensure().settings, key, value)


def _value(settings: Settings, name: str) -> Plain:
    return to_plain(getattr(settings, name))


def _words(value: Plain) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return DASH
    return f"{value:g}" if isinstance(value, float) else str(value)


def _tell(reason: Reason) -> None:
    click.echo(f"gram: {reason.text()}", err=True)
    click.echo(f"      {reason.advice()}", err=True)
