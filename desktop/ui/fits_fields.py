"""The columns of what fits on this machine, and what its details say of one build."""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from PySide6.QtCore import QCoreApplication

from desktop.errors import Reason
from desktop.estimate import printed
from desktop.records.estimate import MemoryNeed, Tier
from desktop.records.fits import Fit, FitRow
from desktop.records.rehearsal import Rehearsal
from desktop.ui import estimate_words as ew
from desktop.ui import format as fmt
from desktop.ui import messages
from desktop.ui.components import Column, Field, Span
from desktop.ui.context_slider import tokens_in_words
from desktop.ui.design import wide
from desktop.ui.format import DASH
from desktop.ui.messages import QT_TRANSLATE_NOOP

MODEL, QUANT, MEMORY, GENERATION, PROMPT, TIER = range(6)
"""The columns."""
Build: TypeAlias = tuple[str, str]
"""A model's and a quantization's id."""
RANGE: Final = 30
"""Figures that a column of ranges is wide."""
_CONTEXT: Final = "Fits"
_LEAST_GIB: Final = 0.1
_TIERS: Final = {
    Tier.A: QT_TRANSLATE_NOOP("Fits", "own runs"),
    Tier.B: QT_TRANSLATE_NOOP("Fits", "own parts"),
    Tier.C: QT_TRANSLATE_NOOP("Fits", "catalogue"),
}
_PLACES: Final = {
    Fit.ON_CARD: QT_TRANSLATE_NOOP("Fits", "on the card"),
    Fit.IN_MEMORY: QT_TRANSLATE_NOOP("Fits", "in memory"),
    Fit.WITH_OFFLOAD: QT_TRANSLATE_NOOP("Fits", "{card} on card"),
    Fit.NOWHERE: QT_TRANSLATE_NOOP("Fits", "does not fit"),
    Fit.RULED_OUT: QT_TRANSLATE_NOOP("Fits", "not run here"),
}


def fit_fields() -> tuple[Field[FitRow], ...]:
    """In the order of the columns' numbers."""
    return (
        Field(Column(_tr("Model"), stretch=True), _model, lambda r: r.model.name.casefold()),
        Field(
            Column(_tr("Quantization\nquality"), width=wide(15)),
            lambda r: f"{r.quant.label}\n{ew.quality(r.quant.quality)} ({r.quant.rank})",
            lambda r: r.quant.rank,
        ),
        Field(
            Column(_tr("Needs\nwhere"), width=wide(18)),
            _memory,
            lambda r: r.estimate.need.total_bytes if r.estimate.need else None,
        ),
        Field(
            Column(_tr("Generation, tok/s\n "), width=wide(RANGE)),
            generation,
            lambda r: r.estimate.decode.high_tok_s if r.estimate.decode else None,
            span_of,
            said_generation,
        ),
        Field(
            Column(_tr("Prompt, tok/s\nfirst token"), width=wide(17), drop=1),
            _prompt,
            lambda r: r.estimate.prompt.high_tok_s if r.estimate.prompt else None,
        ),
        Field(
            Column(_tr("Tier"), width=wide(11)),
            _tier,
            lambda r: str(r.estimate.tier) if r.estimate.tier else None,
        ),
    )


def quant_fields() -> tuple[Field[FitRow], ...]:
    """Of one model's quantizations: all but the model's column."""
    first: Field[FitRow] = Field(
        Column(_tr("Quantization\nquality"), stretch=True),
        lambda r: f"{r.quant.label}\n{ew.quality(r.quant.quality)} ({r.quant.rank})",
        lambda r: r.quant.rank,
    )
    return (first, *fit_fields()[MEMORY:])


def build_of(found: FitRow) -> Build:
    """Which build a row is of."""
    return found.model.id, found.quant.id


def names_of(row: FitRow) -> str:
    """What a search looks in, in small letters."""
    model = row.model
    names = (model.id, model.name, model.family, model.publisher, *model.aliases, row.quant.label)
    return " ".join(name for name in names if name).casefold()


def span_of(row: FitRow) -> Span | None:
    """Its range and ceiling, as a bar shows them."""
    speed = row.estimate.decode
    return Span(speed.low_tok_s, speed.high_tok_s, speed.ceiling_tok_s) if speed else None


def title(row: FitRow) -> str:
    """What a build is called above its details."""
    return f"{row.model.name} \N{MIDDLE DOT} {row.quant.label}"


def detail_lines(row: FitRow, rehearsal: Rehearsal | None) -> Iterator[str]:
    """All that is known of a build here, and why its range is as wide as it is."""
    context = tokens_in_words(row.estimate.use.context)
    yield from _speed_lines(row, context)
    if row.measured_tok_s is not None:
        words = _tr("Measured here, by this machine's newest runs: {rate}.")
        yield words.format(rate=fmt.rate(row.measured_tok_s))
    if rehearsal is not None:
        yield rehearsal_words(rehearsal)
    if row.estimate.need is not None:
        yield _need(row.estimate.need, context)
    yield from _offload(row)
    if row.estimate.tier is not None:
        yield ew.tier_words(row.estimate.tier)
    yield from map(reason_line, row.estimate.reasons)


def rehearsal_words(found: Rehearsal) -> str:
    """What a rehearsal gave, that it is no result, and what spoke against the moment."""
    words = _tr(
        "Rehearsed here: {low} to {high} tok/s, on files of its shapes with random weights. A "
        "rehearsal is no result and is not signed."
    )
    said = words.format(low=fmt.number(found.low_tok_s), high=fmt.number(found.high_tok_s))
    return " ".join((said, *map(messages.note, found.notes)))


def reason_line(reason: Reason) -> str:
    """A reason by its label, where it has one, and what it means."""
    label, meaning = ew.label(reason), ew.explained(reason)
    return meaning if meaning.startswith(label) else f"{label}: {meaning}"


def range_words(low: float, high: float) -> str:
    """`12.3–15.1`."""  # noqa: RUF002 - the dash that is meant
    return f"{fmt.number(low)}\N{EN DASH}{fmt.number(high)}"


def _model(row: FitRow) -> str:
    parts = (printed.parameters(row.model.parameters), row.model.publisher, row.model.released)
    below = " \N{MIDDLE DOT} ".join(part for part in parts if part)
    return f"{row.model.name}\n{below}"


def _memory(row: FitRow) -> str:
    need = row.estimate.need
    held = DASH if need is None else _gib(need.total_bytes)
    return f"{held}\n{where(row)}"


def bar_words() -> str:
    """How a bar of the table is read."""
    return _tr(
        "A bar goes from the low to the high end of an estimate; the upright mark is the "
        "ceiling that the memory's speed allows. All bars stand on one logarithmic scale."
    )


def where(row: FitRow, form: Callable[[int], str] | None = None) -> str:
    """Where a build fits, in a few words; `form` writes the card's bytes, else in GiB."""
    card = DASH if row.card_bytes is None else (form or _gib)(row.card_bytes)
    return _tr(_PLACES[row.fit]).format(card=card)


def generation(row: FitRow) -> str:
    """The range, and for how many tokens it is; why there is none, in a few words."""
    speed = row.estimate.decode
    if speed is not None:
        found = range_words(speed.low_tok_s, speed.high_tok_s)
        return f"{found}\n{ew.estimate_at(row.estimate.use.context)}"
    return ew.short(row.estimate.reasons[0]) if row.estimate.reasons else DASH


def said_generation(row: FitRow) -> str:
    """The same as it is said."""
    speed = row.estimate.decode
    if speed is None:
        return generation(row)
    words = _tr("{low} to {high} tokens a second, ceiling {ceiling}, estimate for {context}")
    return words.format(
        low=fmt.number(speed.low_tok_s),
        high=fmt.number(speed.high_tok_s),
        ceiling=fmt.number(speed.ceiling_tok_s),
        context=tokens_in_words(row.estimate.use.context),
    )


def _prompt(row: FitRow) -> str:
    prompt, first = row.estimate.prompt, row.estimate.first_token_s
    said = DASH if prompt is None else range_words(prompt.low_tok_s, prompt.high_tok_s)
    return said if first is None else f"{said}\n{range_words(first.low, first.high)} s"


def _tier(row: FitRow) -> str:
    tier = row.estimate.tier
    return DASH if tier is None else f"{tier}\n{_tr(_TIERS[tier])}"


def _speed_lines(row: FitRow, context: str) -> Iterator[str]:
    estimate = row.estimate
    if estimate.decode is None:
        return
    words = _tr("Estimate for {context}: {span} tok/s, ceiling {ceiling} tok/s.")
    speed = estimate.decode
    said = words.format(
        context=context,
        span=range_words(speed.low_tok_s, speed.high_tok_s),
        ceiling=fmt.number(speed.ceiling_tok_s),
    )
    if row.middle_tok_s is not None:
        said += " " + _tr("Likeliest: {rate}.").format(rate=fmt.rate(row.middle_tok_s))
    yield said
    if estimate.prompt is not None:
        prompt = estimate.prompt
        yield ew.prompt_words(range_words(prompt.low_tok_s, prompt.high_tok_s))
    if estimate.first_token_s is not None:
        words = _tr("First token after {span} s, of a prompt that fills the context.")
        first = estimate.first_token_s
        yield words.format(span=range_words(first.low, first.high))


def _need(need: MemoryNeed, context: str) -> str:
    parts = (
        (need.weights_bytes, _tr("weights {size}")),
        (need.cache_bytes, _tr("cache of {context} {size}")),
        (need.compute_bytes, _tr("scratch {size}")),
        (need.output_bytes, _tr("output {size}")),
        (need.extra_bytes, _tr("projector and draft {size}")),
    )
    told = [words.format(size=_gib(size), context=context) for size, words in parts if size]
    words = _tr("Needs {need}: {parts}.")
    return words.format(need=_gib(need.total_bytes), parts=", ".join(told))


def _offload(row: FitRow) -> Iterator[str]:
    if row.fit is not Fit.WITH_OFFLOAD:
        return
    card, host = _gib(row.card_bytes or 0), _gib(row.host_bytes)
    yield _tr("{card} on the card, {host} in the system's memory.").format(card=card, host=host)
    if row.experts_on_host is not None:
        words = _tr("The experts of {count} layers stay in the system's memory.")
        yield words.format(count=row.experts_on_host)
    elif row.gpu_layers is not None:
        yield _tr("{count} layers lie on the card.").format(count=row.gpu_layers)


def _gib(size: int) -> str:
    if size < _LEAST_GIB * printed.GIB:
        return fmt.with_unit(size / 2**20, "MiB")
    return printed.memory(size, printed.GIB)


def _tr(text: str) -> str:
    return QCoreApplication.translate(_CONTEXT, text)
