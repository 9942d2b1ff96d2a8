"""Whether a build that is not here would run here, by its own header."""

from collections.abc import Callable, Iterable

from desktop.estimate.catalogue import find
from desktop.estimate.sizes import weights_of
from desktop.estimate.token_work import Asked
from desktop.machine.metered import is_metered
from desktop.records.build import Header
from desktop.records.fits import FitRow, FitsRequest
from desktop.records.offers import OfferedBuild
from desktop.records.remote import RemoteBuild
from desktop.services.asked import asked_of, quant_of
from desktop.services.estimates import row_of
from desktop.services.fetching import Judge
from desktop.services.ground import Ground
from desktop.services.profiles import models


def fit_of(ground: Ground, header: Header, build: RemoteBuild) -> FitRow:
    """Where it fits and how fast it would run, its tensors counted to the byte.

    With the usual context, or as much of it as the model was trained for.

    Raises:
        GramError: the header does not tell what is needed; see `asked_of`.
    """
    asked = asked_of(header, build.quantization, build.files[0].sha256 or "")
    usual = FitsRequest()
    context = min(usual.context, asked.model.context_trained or usual.context)
    return row_of(ground, asked, FitsRequest(context, min(usual.depth, context - 1)))


def row_of_offer(ground: Ground, build: OfferedBuild, request: FitsRequest) -> FitRow | None:
    """The estimate of a build by its model and quantization; None where they are not known.

    Raises:
        GramError: `resource_damaged`, `bad_number`.
    """
    model, quant = find(build.model or "", models()), quant_of(build.quantization)
    if model is None or quant is None:
        return None
    return row_of(ground, Asked(model, quant, weights_of(model, quant)), request)


def rows_by(
    ground: Ground, header: Header, build: RemoteBuild, labels: Iterable[str], request: FitsRequest
) -> dict[str, FitRow]:
    """Estimates of a model's other quantizations too, from one build's header.

    Args:
        ground: what is known of the machine.
        header: of `build`, whose own tensors count to the byte.
        build: whose header it is.
        labels: of quantizations, `Q4_K_M`; those that no table has are left out.
        request: its context and depth.

    Returns:
        By label.

    Raises:
        GramError: as `fit_of`.
    """
    own = asked_of(header, build.quantization, build.files[0].sha256 or "")
    found = {}
    for label in labels:
        quant = quant_of(label)
        if label == build.quantization:
            found[label] = row_of(ground, own, request)
        elif quant is not None:
            asked = Asked(own.model, quant, weights_of(own.model, quant))
            found[label] = row_of(ground, asked, request)
    return found


def judge_here(
    ground: Callable[[], Ground], told: Callable[[FitRow], None] = lambda _: None
) -> Judge:
    """What this machine and its connection say of a build; read when it is asked.

    Args:
        ground: what is known of the machine.
        told: gets each estimate, before anything is fetched.
    """

    def fit(header: Header, build: RemoteBuild) -> FitRow:
        row = fit_of(ground(), header, build)
        told(row)
        return row

    return Judge(fit, is_metered)
