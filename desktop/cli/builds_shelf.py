"""`gram builds`: what is here; and `rm`, `verify`, `pin`, `unpin`."""

import threading
from collections.abc import Callable, Sequence

import click

from desktop.cli import EXIT_ERROR, EXIT_STOPPED, figures
from desktop.cli.asking import can_ask
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
from desktop.paths import Paths, default_paths
from desktop.records.build_events import BuildChecked
from desktop.records.library import Checked, Kept, LibraryEntry, Listed
from desktop.records.offers import FetchState, FetchStep, HeldBuild, Shelf
from desktop.records.on_disk import FoundBuild
from desktop.services import shelf
from desktop.services.check_others import check_others
from desktop.services.offers import forget_added

_NOT_OWN = frozenset({"library_unknown", "library_others"})
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
    """Remove a build of Gram's own, or forget what the person added; returns the exit status.

    Raises:
        GramError: see `shelf.delete`.
    """
    paths = default_paths()
    begin_log(paths)
    try:
        entry = shelf.own_build(paths, name)
    except BuildError as e:
        if e.code in _NOT_OWN and forget_added(paths, name):
            _say_forgotten(name, as_json=as_json)
            return 0
        raise
    if not entry.ours:
        raise BuildError("library_not_ours", name=entry.name)
    if not yes and not _is_sure(entry):
        say_error(Reason("remove_declined", {"name": entry.name}), as_json=as_json)
        return EXIT_ERROR
    gone = shelf.delete(paths, entry)
    if as_json:
        say_json(to_plain(gone))
    else:
        say(f"Removed: {gone.name}, {figures.size(gone.freed_bytes)} freed")
    return 0


def verify(name: str | None, *, as_json: bool) -> int:
    """Read one again, or all of Gram's own; returns the exit status: an error where one is wrong.

    Raises:
        GramError: there is no such build; see `shelf.verify`, `check_others`.
    """
    paths = default_paths()
    begin_log(paths)
    listed = Listed() if name else shelf.to_check(paths)
    builds = (shelf.meant_build(paths, name),) if name else listed.entries
    stopped = threading.Event()
    checked: list[BuildChecked] = []
    try:
        with Stopping(stopped.set), FetchLine(quiet=as_json) as line:
            for build in builds:
                checked.append(_checked(paths, build, _progress(build.name, line, stopped)))
                if checked[-1].checked.told is None and not as_json:
                    line.say(f"Every byte is right: {build.name}")
    except _StoppedError:
        # what was found by then stays found
        _tell(checked, as_json=as_json)
        say_reason(Reason("verify_stopped"))
        return EXIT_STOPPED
    if not builds and not listed.told and not as_json:
        say("Gram has no builds of its own here.")
    _tell(checked, as_json=as_json)
    for reason in listed.told:
        say_reason(reason)
    return EXIT_ERROR if listed.told or any(one.checked.told for one in checked) else 0


def _tell(checked: Sequence[BuildChecked], *, as_json: bool) -> None:
    if as_json:
        say_json([to_plain(one) for one in checked])
        return
    for one in checked:
        if one.checked.told is not None:
            say_reason(one.checked.told)


def _checked(
    paths: Paths, build: LibraryEntry | FoundBuild, progress: Callable[[int, int], None]
) -> BuildChecked:
    own = build if isinstance(build, LibraryEntry) else None
    try:
        if isinstance(build, LibraryEntry):
            return shelf.verify(paths, build, progress)
        return check_others(paths, build, progress)
    except BuildError as e:
        # one that cannot be read hides nothing of the others
        return BuildChecked(build.name, Checked(own, e.reason))


def pin(name: str, *, pinned: bool, as_json: bool) -> None:
    """Keep one whatever the budget says, or no more.

    Raises:
        GramError: there is no such build, or it is not Gram's.
    """
    paths = default_paths()
    begin_log(paths)
    entry = shelf.own_build(paths, name)
    shelf.pin(paths, entry, pinned=pinned)
    if as_json:
        say_json({"name": entry.name, "sha256": entry.sha256, "pinned": pinned})
    else:
        say(f"{'Pinned' if pinned else 'Not pinned any more'}: {entry.name}")


def _say_forgotten(name: str, *, as_json: bool) -> None:
    if as_json:
        say_json({"forgotten": name})
    else:
        say(f"{name} is not looked through any more. Nothing of it was removed.")


def _columns(held: Sequence[HeldBuild]) -> list[Column]:
    return [
        Column("build", [h.name for h in held], heading=True),
        Column("quantization", [h.quantization or DASH for h in held], drop=3),
        Column("size", [_size(h) for h in held], right=True),
        Column("kept by", [", ".join(h.keepers) for h in held]),
        Column("last used", [(h.used_at or DASH)[:_DATE] for h in held], drop=2),
        Column("sha256", [(h.sha256 or DASH)[:_DIGITS] for h in held], drop=1),
        Column("also called", [", ".join(h.also) for h in held], drop=4),
        Column("", [state_words(h) for h in held]),
    ]


def _size(held: HeldBuild) -> str:
    """Of what is unfinished, of how much."""
    there = figures.size(held.size_bytes)
    if held.kept is not Kept.PART or held.whole_bytes is None:
        return there
    return f"{there} of {figures.size(held.whole_bytes)}"


def _budget(found: Shelf) -> str:
    taken = f"Gram's own take {figures.size(found.kept_bytes)}"
    if found.budget_bytes is None:
        return f"{taken}."
    over = found.kept_bytes - found.budget_bytes
    rest = f"{figures.size(found.free_bytes)} are free on their drive"
    if over > 0:
        return (
            f"{taken}: {figures.size(over)} more than the disk budget of "
            f"{figures.size(found.budget_bytes)}; {rest}. Nothing is removed by itself. To fetch "
            "more, remove some with `gram builds rm`, or raise the budget with "
            "`gram settings builds.budget_gb N`."
        )
    return (
        f"{taken} of {figures.size(found.budget_bytes)}; {rest}. What other programs keep is used "
        "in place and never changed."
    )


def _is_sure(entry: LibraryEntry) -> bool:
    """Ask, where somebody can answer.

    Raises:
        BuildError: `remove_unasked`, `remove_unasked_pinned`.
    """
    if not can_ask():
        code = "remove_unasked_pinned" if entry.pinned else "remove_unasked"
        raise BuildError(code, name=entry.name)
    pinned = f"{entry.name} is pinned, so that it stays. " if entry.pinned else ""
    size = figures.size(entry.freed_bytes)
    return click.confirm(f"{pinned}Remove {entry.name}, {size}?", err=True)


def _progress(name: str, line: FetchLine, stopped: threading.Event) -> Callable[[int, int], None]:
    def tell(done: int, total: int) -> None:
        if stopped.is_set():
            raise _StoppedError
        line.step(FetchStep(name, FetchState.CHECKING, done, total))

    return tell
