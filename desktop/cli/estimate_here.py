"""`gram estimate MODEL --device this`: this machine, as `gram fits` answers."""

from desktop.cli import device_show, estimate_json, fits_json, fits_show
from desktop.cli.output import say_json
from desktop.estimate.sheet import use_at
from desktop.paths import default_paths
from desktop.records.fits import FitsRequest
from desktop.records.model import Model, Quant
from desktop.services.estimates import fits_of
from desktop.services.ground import read_ground
from desktop.services.written_rows import row_to_write_out, written_rows


def show(model: Model, quant: Quant | None, position: int, *, as_json: bool) -> None:
    """By this machine's parts and runs: every quantization, or `quant`; one is written out.

    Raises:
        GramError: `bad_number`, `estimate_beyond_context`; tables or ledger cannot be read.
    """
    use = use_at(model, position)
    labels = () if quant is None else (quant.label,)
    request = FitsRequest(use.context, use.depth, words=labels, model=model.id, all_builds=True)
    ground = read_ground(default_paths())
    found = fits_of(ground, request)
    row = row_to_write_out(found.rows, request.at_least_tok_s)
    shown, rows = (row.quant, (row,)) if row else (None, ())
    written = next(iter(written_rows(ground, model, rows, position).values()), None)
    if as_json:
        say_json({**fits_json.fits(found), **estimate_json.written(shown, written)})
        return
    fits_show.fits(found)
    if shown is not None and written is not None:
        device_show.written(shown, written.layers, written.arithmetic)
