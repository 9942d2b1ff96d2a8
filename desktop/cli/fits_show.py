"""`gram fits` for people: the machine, what to know first, the table, and how to read it."""

from collections.abc import Mapping, Sequence
from typing import Final

from desktop.cli import figures, fits_notes
from desktop.cli.builds_words import PLACES
from desktop.cli.figures import DASH
from desktop.cli.fits_json import rehearsed
from desktop.cli.fits_notes import NO_TIER
from desktop.cli.fitting import Column, print_fitting
from desktop.cli.output import say
from desktop.cli.prose import heading, paragraph
from desktop.cli.tables import print_facts
from desktop.errors import Reason
from desktop.estimate import reasons
from desktop.estimate.printed import GIB
from desktop.records.estimate import Speed
from desktop.records.fits import FitRow, Fits
from desktop.records.rehearsal import Rehearsal
from desktop.rules.notes import WORDS
from desktop.services.estimates import use_of


def fits(found: Fits) -> None:
    """The whole answer."""
    heading("What fits on this machine")
    print_facts(*_head(found))
    say("")
    for line in fits_notes.above(found):
        paragraph(line)
    shown: tuple[str, ...] = ()
    if found.rows:
        say("")
        shown = print_fitting(_columns(found.rows))
        say("")
    for line in fits_notes.below(found, shown):
        paragraph(line)


def rehearsal(found: Rehearsal) -> None:
    """The result of `gram fits --rehearse`."""
    low, high = figures.number(found.low_tok_s), figures.number(found.high_tok_s)
    middle = figures.number(found.middle_tok_s)
    depths = " and ".join(str(d.layers) for d in found.depths)
    engine = f"{found.engine} {found.engine_version}, {found.backend}, {found.threads} threads"
    print_facts(
        ("Rehearsed", f"{found.model}:{found.quant}, {depths} of its {found.layers} layers"),
        ("Generation", f"{low} to {high} tok/s, likeliest {middle} (tg128)"),
        ("Engine", engine),
        *(("Note", WORDS[note]) for note in found.notes),
    )
    paragraph(rehearsed(found).text())
    paragraph("The files were removed. It is no result: nothing is signed.")


def _head(found: Fits) -> tuple[tuple[str, str], ...]:
    devices = "; ".join(f"{d.name}: {d.description}" for d in found.devices) or DASH
    room = fits_notes.plural(found.request.context, "token")
    before = fits_notes.plural(use_of(found.request).depth, "other")
    return (
        ("Machine", found.kind),
        ("Computes", f"{devices}; {found.threads} threads on the processor"),
        ("Memory", _all_memory(found)),
        ("Context", f"room for {room}; rates for a token after {before}"),
        ("Measured here", _measured_here(found)),
    )


def _all_memory(found: Fits) -> str:
    whole = figures.memory(found.with_offload_bytes)
    if found.on_card_bytes is None:
        return f"{whole} for the processor"
    return f"{figures.memory(found.on_card_bytes)} on the card; {whole} with offload"


def _measured_here(found: Fits) -> str:
    """The runs are those that count; why others do not stands above the table."""
    parts = "no parts yet" if found.parts_at is None else f"parts of {found.parts_at} (UTC)"
    counts = "counts" if found.runs == 1 else "count"
    return f"{parts}, {fits_notes.plural(found.runs, 'own run')} that {counts}"


def _columns(rows: Sequence[FitRow]) -> list[Column]:
    numbers = fits_notes.numbered(rows)
    ceilings = [_ceiling(row.estimate.decode) for row in rows]
    return [
        Column("model", [row.model.id for row in rows], heading=True),
        Column("quantization", [_quant(row) for row in rows]),
        Column("quality", [row.quant.quality for row in rows], drop=8),
        Column("fits", [PLACES[row.fit] for row in rows], drop=1),
        Column(fits_notes.SPLIT, [_split(row) for row in rows], drop=4),
        Column(fits_notes.MEMORY, [_memory(row) for row in rows], drop=2, right=True),
        Column(fits_notes.ESTIMATE, [_range(row) for row in rows], right=True),
        Column("likeliest", [_middle(row) for row in rows], drop=5, right=True),
        Column(fits_notes.CEILING, ceilings, drop=7, right=True),
        Column(fits_notes.PROMPT, [_span(r.estimate.prompt) for r in rows], drop=6, right=True),
        Column(fits_notes.FIRST, [_first(row) for row in rows], drop=9, right=True),
        Column(fits_notes.MEASURED, [_measured(row) for row in rows], drop=3, right=True),
        Column(fits_notes.TIER, [tier_words(row, numbers) for row in rows]),
    ]


def _quant(row: FitRow) -> str:
    """What a model is not trained for is so in every quantization."""
    return DASH if row.is_beyond else row.quant.label


def _split(row: FitRow) -> str:
    """With offload, what to tell llama.cpp."""
    if row.experts_on_host:
        return f"--n-cpu-moe {row.experts_on_host}"
    return "" if row.gpu_layers is None else f"--n-gpu-layers {row.gpu_layers}"


def _memory(row: FitRow) -> str:
    need = row.estimate.need
    return DASH if need is None else f"{need.total_bytes / GIB:,.1f} GiB"


def _range(row: FitRow) -> str:
    if row.estimate.decode is None:
        return why_none(row.estimate.reasons)
    return _span(row.estimate.decode)


def why_none(given: Sequence[Reason]) -> str:
    """In a few words, why there is no rate."""
    if not given:
        return DASH
    template = _SHORT.get(given[0].code)
    return reasons.short(given[0]) if template is None else template.format_map(given[0].params)


def _span(speed: Speed | None) -> str:
    if speed is None:
        return ""
    return f"{figures.number(speed.low_tok_s)} to {figures.number(speed.high_tok_s)}"


def _middle(row: FitRow) -> str:
    return "" if row.middle_tok_s is None else figures.number(row.middle_tok_s)


def _ceiling(speed: Speed | None) -> str:
    return "" if speed is None else figures.number(speed.ceiling_tok_s)


def _first(row: FitRow) -> str:
    first = row.estimate.first_token_s
    return f"{figures.number(first.low)} to {figures.number(first.high)}" if first else ""


def _measured(row: FitRow) -> str:
    return "" if row.measured_tok_s is None else figures.number(row.measured_tok_s)


def tier_words(row: FitRow, numbers: Mapping[str, int]) -> str:
    """With the numbers of its reasons: `B 1 2`."""
    tier = row.estimate.tier.value if row.estimate.tier else NO_TIER
    return " ".join((tier, *(str(numbers[r.code]) for r in row.estimate.reasons)))


_SHORT: Final = {
    "estimate_no_bandwidth": "not known",
    "estimate_parts_busy": "not known",
    "estimate_parts_doubtful": "not known",
    "estimate_parts_lacking": "not known",
    "estimate_beyond_context": "trained for {trained:,} tokens",
    "architecture_unknown": "unknown architecture",
}
