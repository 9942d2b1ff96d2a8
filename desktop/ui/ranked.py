"""A row of a model's page: a device of the catalogue, or this machine above them."""

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from desktop.estimate import printed
from desktop.estimate.page import ModelPage
from desktop.estimate.page_row import PageRow
from desktop.records.estimate import Estimate
from desktop.records.fits import Fit, FitRow, Fits
from desktop.records.model import Quant
from desktop.ui import estimate_words as ew
from desktop.ui.components import Span
from desktop.ui.fits_fields import detail_lines
from desktop.ui.format import DASH
from desktop.ui.reasons_pane import reason_lines


@dataclass(frozen=True, slots=True)
class Ranked:
    """What the table shows of one device."""

    rank: int | None
    """None: this machine, which stands above the others."""
    name: str
    id: str
    """Of the configuration; of this machine empty."""
    quant: Quant
    target: str
    runner_up: str | None
    """The next quantization; None where there is none."""
    at_full: str | None
    """The choice at the model's whole context; None where nothing fits."""
    need_bytes: int
    usable_bytes: int | None
    span: Span | None
    """The range and the ceiling that is shown."""
    estimate: Estimate
    lines: tuple[str, ...]
    """What is told of it when it is selected."""

    @property
    def here(self) -> bool:
        """Whether it is this machine."""
        return self.rank is None

    @property
    def names(self) -> str:
        """What a search looks in, in small letters."""
        return f"{self.name} {self.id}".casefold()


def ranked_rows(page: ModelPage, here: Fits | None) -> tuple[Ranked, ...]:
    """This machine first, where it is known, then the page's devices in their order."""
    first = (_this_machine(here, row) for row in here.rows) if here else ()
    rest = (_of_page(rank, row, page) for rank, row in enumerate(page.rows, 1))
    return (*first, *rest)


def _of_page(rank: int, row: PageRow, page: ModelPage) -> Ranked:
    speed = row.speed
    with_cache = page.profile.ceiling_with_cache
    ceiling = speed.ceiling_tok_s if with_cache else row.weights_ceiling_tok_s
    full = row.at_full_context.best
    return Ranked(
        rank=rank,
        name=row.configuration.name,
        id=row.configuration.id,
        quant=row.best.quant,
        target=row.best.target.id,
        runner_up=row.runner_up.quant.label if row.runner_up else None,
        at_full=full.quant.label if full else None,
        need_bytes=row.best.need.total_bytes,
        usable_bytes=row.configuration.usable_bytes,
        span=Span(speed.low_tok_s, speed.high_tok_s, ceiling),
        estimate=row.estimate,
        lines=tuple(_lines(row, ceiling, page)),
    )


def _this_machine(here: Fits, row: FitRow) -> Ranked:
    speed, need = row.estimate.decode, row.estimate.need
    own = row.fit is Fit.ON_CARD
    return Ranked(
        rank=None,
        name=here.kind,
        id="",
        quant=row.quant,
        target=row.estimate.target or DASH,
        runner_up=None,
        at_full=DASH,
        need_bytes=need.total_bytes if need else row.size_bytes,
        usable_bytes=here.on_card_bytes if own else here.with_offload_bytes,
        span=Span(speed.low_tok_s, speed.high_tok_s, speed.ceiling_tok_s) if speed else None,
        estimate=row.estimate,
        lines=tuple(detail_lines(row, None)),
    )


def _lines(row: PageRow, ceiling_tok_s: float, page: ModelPage) -> Iterator[str]:
    """All that a row says, where it may have had no room, and what its reasons mean."""
    words = _tr("Estimate: {span} tok/s, ceiling {ceiling} tok/s. Under {target}.")
    yield words.format(
        span=printed.span(row.speed),
        ceiling=printed.rate(ceiling_tok_s),
        target=row.best.target.id,
    )
    yield from ew.prompt_lines(row.estimate)
    if row.runner_up is not None:
        words = _tr("The next quantization is {quant}.")
        yield words.format(quant=row.runner_up.quant.label)
    full = row.at_full_context.best
    fitting = full.quant.label if full else _tr("nothing fits")
    words = _tr("At the model's full context of {tokens} tokens: {quant}.")
    yield words.format(tokens=f"{page.full_context:,}", quant=fitting)
    if row.estimate.tier is not None:
        yield ew.tier_words(row.estimate.tier, page.profile.id)
    yield from reason_lines(row.estimate.reasons)


def _tr(text: str) -> str:
    return QCoreApplication.translate("EstimateDevices", text)
