"""`gram builds`: what is here; and `rm`, `verify`, `pin`, `unpin`."""

import sys
import threading
from collections.abc import Callable, Sequence

import click

from desktop.cli import EXIT_ERROR, EXIT_STOPPED, figures
from desktop.cli.begin import begin_log
from desktop.cli.builds_words import state_words
from desktop.cli.fetch_line import FetchLine
from desktop.cli.figures import DASH
from desktop.cli.fitting import Column, print_fitting
from desktop.cli.following import Stopping
from desktop.cli.output import say, say_error, say_json, say_reason
from desktop.cli.plain import to_plain
from desktop.cli.prose import paragraph
from desktop.errors import BuildError, Reason
from desktop.paths import default_paths
from desktop.records.library import LibraryEntry
from desktop.records.offers import FetchState, FetchStep, HeldBuild, Shelf
from desktop.services import shelf
from desktop.services.offers import forget_added

_DATE = len("2026-12-01")
_DIGITS = 12
"""Of a sha256."""


class _StoppedError(Exception):
    """Ctrl+C, while a file is read."""


def show(*, as_json: bool) -> None:
    """Everything that is on this machine."""
    paths = default_paths()
    begin_log(paths)
    found = shelf.shelf_of(paths)
    if as_json:
        say_json(to_plain(found))
    else:
        listed(found)


def listed(found: Shelf) -> None:
    """The builds here, and what Gram's own take of the disk."""
    for reason in found.told:
        say_reason(reason)
    if found.held:
        print_fitting(_columns(found.held))
        say("")
    else:
        say("No builds here yet. `gram builds search WORDS` shows what can be had.")
    paragraph(_budget(found))


def remove(name: str, *, yes: bool, as_json: bool) -> int:
    """Remove a build of Gram's own, or a repository that was added; returns the exit status.

    Raises:
        GramError: see `shelf.delete`.
    """
    paths = default_paths()
    begin_log(paths)
    try:
        entry = shelf.own_build(paths, name)
    except BuildError as e:
        if e.code == "library_unknown" and forget_added(paths, name):
            say(f"{name} is not looked through any more. Nothing of it was removed.")
            return 0
        raise
    if not entry.ours:
        raise BuildError("library_not_ours", name=entry.name)
    if not yes and not _is_sure(entry):
        return EXIT_ERROR
    gone = shelf.delete(paths, entry)
    if as_json:
        say_json(to_plain(gone))
    else:
        say(f"Removed: {gone.name}, {figures.size(gone.freed_bytes)} freed")
    return 0


def verify(name: str | None, *, as_json: bool) -> int:
    """Read one again, or all; returns the exit status: an error where one is damaged.

    Raises:
        GramError: there is no such build; see `shelf.verify`.
    """
    paths = default_paths()
    begin_log(paths)
    entries = [shelf.own_build(paths, name)] if name else shelf.whole_ones(paths)
    stopped = threading.Event()
    checked = []
    try:
        with Stopping(stopped.set), FetchLine(quiet=as_json) as line:
            for entry in entries:
                one = shelf.verify(paths, entry, _progress(entry, line, stopped))
                checked.append(one)
                if one.checked.told is None and not as_json:
                    line.say(f"Every byte is right: {entry.name}")
    except _StoppedError:
        say_error(Reason("verify_stopped"), as_json=as_json)
        return EXIT_STOPPED
    if as_json:
        say_json([to_plain(one) for one in checked])
    elif not entries:
        say("Gram has no builds of its own here.")
    for one in checked:
        if one.checked.told is not None and not as_json:
            say_reason(one.checked.told)
    return EXIT_ERROR if any(one.checked.told for one in checked) else 0


def pin(name: str, *, pinned: bool) -> None:
    """Keep one whatever the budget says, or no more.

    Raises:
        GramError: there is no such build, or it is not Gram's.
    """
    paths = default_paths()
    begin_log(paths)
    entry = shelf.own_build(paths, name)
    shelf.pin(paths, entry, pinned=pinned)
    say(f"{'Pinned' if pinned else 'Not pinned any more'}: {entry.name}")


def _columns(held: Sequence[HeldBuild]) -> list[Column]:
    return [
        Column("build", [h.name for h in held], heading=True),
        Column("quantization", [h.quantization or DASH for h in held], drop=3),
        Column("size", [figures.size(h.size_bytes) for h in held], right=True),
        Column("kept by", [", ".join(h.keepers) for h in held]),
        Column("last used", [(h.used_at or DASH)[:_DATE] for h in held], drop=2),
        Column("sha256", [(h.sha256 or DASH)[:_DIGITS] for h in held], drop=1),
        Column("", [state_words(h) for h in held]),
    ]


def _budget(found: Shelf) -> str:
    taken = f"Gram's own take {figures.size(found.kept_bytes)}"
    if found.budget_bytes is None:
        return f"{taken}."
    return (
        f"{taken} of {figures.size(found.budget_bytes)}; {figures.size(found.free_bytes)} are free "
        "on their drive. What other programs keep is used in place and never changed."
    )


def _is_sure(entry: LibraryEntry) -> bool:
    """Ask, where somebody can answer.

    Raises:
        BuildError: `remove_unasked`.
    """
    if not sys.stdin or not sys.stdin.isatty():
        raise BuildError("remove_unasked", name=entry.name)
    return click.confirm(f"Remove {entry.name}, {figures.size(entry.freed_bytes)}?", err=True)


def _progress(
    entry: LibraryEntry, line: FetchLine, stopped: threading.Event
) -> Callable[[int, int], None]:
    def tell(done: int, total: int) -> None:
        if stopped.is_set():
            raise _StoppedError
        line.step(FetchStep(entry.name, FetchState.CHECKING, done, total))

    return tell
