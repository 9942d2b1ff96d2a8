"""Whether a build that is not here would run here, by its own header."""

from collections.abc import Callable, Iterable
from dataclasses import replace

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


def within(request: FitsRequest, trained: int | None) -> FitsRequest:
    """As `request`, but with no more context than a model was trained for.

    Args:
        request: what is asked.
        trained: tokens; None: not known.
    """
    context = min(request.context, trained or request.context)
    return replace(request, context=context, depth=min(request.depth, context - 1))


def fit_of(ground: Ground, header: Header, build: RemoteBuild) -> FitRow:
    """Where it fits and how fast it would run, its tensors counted to the byte.

    With the usual context, or as much of it as the model was trained for.

    Raises:
        GramError: the header does not tell what is needed; see `asked_of`.
    """
    asked = asked_of(header, build.quantization, build.files[0].sha256 or "")
    return row_of(ground, asked, within(FitsRequest(), asked.model.context_trained))


def row_of_offer(ground: Ground, build: OfferedBuild, request: FitsRequest) -> FitRow | None:
    """The estimate of a build by its model and quantization; None where they are not known.

    Args:
        ground: what is known of the machine.
        build: that can be had.
        request: its context and depth.

    Raises:
        GramError: `resource_damaged`, `bad_number`.
    """
    model, quant = find(build.model or "", models()), quant_of(build.quantization)
    if model is None or quant is None:
        return None
    return row_of(ground, Asked(model, quant, weights_of(model, quant)), request)


def asked_by(header: Header, build: OfferedBuild) -> Asked:
    """A build that can be had by its own header, its tensors to the byte.

    Raises:
        GramError: as `asked_of`.
    """
    return asked_of(header, build.quantization, build.sha256 or "")


def rows_by(
    ground: Ground,
    own: Asked,
    label: str | None,
    labels: Iterable[str | None],
    request: FitsRequest,
) -> dict[str | None, FitRow]:
    """Estimates of a model's other quantizations too, from one build's header.

    Args:
        ground: what is known of the machine.
        own: the build whose header is known.
        label: its quantization by its name; None: that does not tell.
        labels: of quantizations, `Q4_K_M`; those that no table has are left out, but for `label`.
        request: its context and depth.

    Returns:
        By label.

    Raises:
        GramError: `resource_damaged`, `bad_number`.
    """
    found: dict[str | None, FitRow] = {}
    for other in labels:
        quant = quant_of(other)
        if other == label:
            found[other] = row_of(ground, own, request)
        elif quant is not None:
            asked = Asked(own.model, quant, weights_of(own.model, quant))
            found[other] = row_of(ground, asked, request)
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
