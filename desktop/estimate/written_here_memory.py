"""The arithmetic of what a build takes of this machine's memory, written out."""

from collections.abc import Iterator

from desktop.estimate import printed
from desktop.estimate.fitting import HOST_SHARE, Room
from desktop.estimate.memory import PROCESS_BYTES
from desktop.estimate.page_words import Said
from desktop.estimate.sheet import Sheet
from desktop.estimate.written_line import MINUS, OVER, PLUS, Line, line, number, times
from desktop.estimate.written_memory import need_parts, placed_lines, sum_lines
from desktop.records.fits import FitRow
from desktop.records.model import Weights


def here_need_lines(sheet: Sheet, room: Room, row: FitRow, weights: Weights) -> Iterator[Line]:
    """What it takes of cards and system together, of the cards, and what there is of either."""
    need, unit = row.estimate.need, sheet.profile.memory_unit_bytes
    if need is None:
        return
    yield from placed_lines(sheet, weights, need, "written.there.unread")
    yield from sum_lines(need_parts(sheet, need), unit)
    if row.card_bytes is not None:
        yield _on_cards(row, need.total_bytes, row.card_bytes, unit)
        yield _of_cards(room, unit)
    if row.host_bytes and room.host_bytes is not None:
        yield _of_system(room, room.host_bytes, unit)


def _on_cards(row: FitRow, needed: int, there: int, unit: int) -> Line:
    """Without what stays in the system's memory, with what the back end holds for itself."""
    own = there - (needed - row.host_bytes)
    added = f"{PLUS}{number(own)}" if own else ""
    expression = f"({number(needed)}{MINUS}{number(row.host_bytes)}{added}){OVER}{number(unit)}"
    code = "written.here.cards.own" if own else "written.here.cards"
    return line(code, expression, there / unit, printed.unit_name(unit))


def _of_cards(room: Room, unit: int) -> Line:
    sizes = PLUS.join(map(number, room.cards))
    expression = f"({sizes})" if len(room.cards) > 1 else sizes
    expression += f"{OVER}{number(unit)}"
    return line("written.here.room", expression, sum(room.cards) / unit, printed.unit_name(unit))


def _of_system(room: Room, size: int, unit: int) -> Line:
    """What a build may take, less what the engine's process takes besides it."""
    share = times(HOST_SHARE, size)
    expression = f"({share}{MINUS}{number(PROCESS_BYTES)}){OVER}{number(unit)}"
    left = (room.host_usable_bytes or 0) - PROCESS_BYTES
    what = Said("written.here.system", {"share": f"{100 * HOST_SHARE:.0f}"})
    return Line((what,), expression, left / unit, printed.unit_name(unit))
