"""How to run a build as it was found to fit here."""

from desktop.records.fits import Fit, FitRow
from desktop.records.use import UseSettings


def settings_of(
    row: FitRow, context: int, threads: int, devices: tuple[str, ...] = ()
) -> UseSettings | None:
    """The settings that the row's estimate is of; None where the build does not run here.

    Args:
        row: where the build fits.
        context: tokens that the cache has room for, as the row was asked for.
        threads: on the processor.
        devices: the cards that were chosen, by the engine's names; empty: all.
    """
    if not row.runs:
        return None
    # as engines count them: those that predict further tokens are layers too
    layers = row.model.layers + row.model.predict_layers
    if row.fit is Fit.IN_MEMORY:
        return UseSettings(context, threads, gpu_layers=0, layers=layers, cards=False)
    return UseSettings(
        context,
        threads,
        gpu_layers=row.gpu_layers,
        layers=layers,
        experts_on_host=row.experts_on_host,
        devices=devices,
    )
