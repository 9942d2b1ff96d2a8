"""`gram estimate MODEL --device this`: this machine, as `gram fits` answers."""

from dataclasses import replace

from desktop.cli import fits_json, fits_show
from desktop.cli.output import say_json
from desktop.estimate.sheet import use_at
from desktop.paths import default_paths
from desktop.records.fits import FitsRequest
from desktop.records.model import Model, Quant
from desktop.services.estimates import fits_of
from desktop.services.ground import read_ground


def show(model: Model, quant: Quant | None, position: int, *, as_json: bool) -> None:
    """By this machine's parts and runs: every quantization, or `quant`.

    Raises:
        GramError: `bad_number`, `estimate_beyond_context`; tables or ledger cannot be read.
    """
    use = use_at(model, position)
    labels = () if quant is None else (quant.label,)
    request = FitsRequest(use.context, use.depth, (model.id, *labels), all_builds=True)
    found = fits_of(read_ground(default_paths()), request)
    # the words of a request find other models too that have this one's name in theirs
    found = replace(found, rows=tuple(row for row in found.rows if row.model == model))
    if as_json:
        say_json(fits_json.fits(found))
    else:
        fits_show.fits(found)
