"""The arithmetic of this machine's estimates, for the window's page and the terminal's alike."""

from collections.abc import Sequence

from desktop.estimate.sheet import sheet_of
from desktop.estimate.written_here import WrittenHere, written_here
from desktop.records.fits import FitRow
from desktop.records.model import Model
from desktop.services.ground import Ground
from desktop.services.profiles import own_profile
from desktop.services.proposal import proposed


def written_rows(
    ground: Ground, model: Model, rows: Sequence[FitRow], position: int
) -> dict[str, WrittenHere]:
    """Bytes by layer group and arithmetic of each row, by its quantization's id.

    Args:
        ground: what the rows were estimated by.
        model: of the catalogue.
        rows: of that model, each with a quantization of its own.
        position: tokens in the cache while one is generated, as in the rows.

    Raises:
        GramError: `bad_number`, `estimate_beyond_context`; the model's cache cannot be counted.
    """
    if not rows:
        return {}
    sheet = sheet_of(model, own_profile(), position, tuple(row.quant for row in rows))
    found = ((quant, kept[0]) for (of, quant), kept in ground.measured.items() if of == model.id)
    return written_here(ground.here, sheet, rows, dict(found))


def row_to_write_out(rows: Sequence[FitRow], at_least_tok_s: float) -> FitRow | None:
    """The one that is proposed; else the one that needs least, so that it is seen why none runs."""
    needy = [row for row in rows if row.estimate.need is not None]
    least = min(needy, key=lambda row: row.size_bytes, default=None)
    return proposed(rows, at_least_tok_s) or least
