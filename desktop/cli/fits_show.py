"""`gram fits` for people: the machine, the table, and what the reasons mean."""

from collections.abc import Sequence
from typing import Final

from desktop.cli import figures
from desktop.cli.figures import DASH
from desktop.cli.fits_json import depth, rehearsed
from desktop.cli.fitting import Column, print_fitting
from desktop.cli.output import say
from desktop.cli.prose import heading, paragraph
from desktop.cli.tables import print_facts
from desktop.errors import Reason
from desktop.estimate import reasons
from desktop.estimate.fitting import HOST_SHARE
from desktop.records.estimate import Speed, Tier
from desktop.records.fits import Fit, FitRow, Fits
from desktop.records.rehearsal import Rehearsal
from desktop.rules.notes import WORDS

FITS: Final = {
    Fit.ON_CARD: "on the card",
    Fit.WITH_OFFLOAD: "with offload",
    Fit.IN_MEMORY: "in memory",
    Fit.NOWHERE: "nowhere",
}
TIERS: Final = {
    Tier.A: "A: narrowed by this machine's own runs",
    Tier.B: "B: by this machine's measured parts",
    Tier.C: "C: by the catalogue's interval for such devices",
}
_PROBE: Final = "The parts of this machine are not measured yet: `gram fits --probe` does it."


def fits(found: Fits) -> None:
    """The whole answer."""
    heading("What fits on this machine")
    print_facts(*_head(found))
    if found.rows:
        say("")
        print_fitting(_columns(found.rows))
    say("")
    paragraph(_sums(found))
    for reason in found.told:
        paragraph(f"{reason.text()} {reason.advice()}".strip())
    if found.parts_at is None:
        paragraph(_PROBE)
    _meanings(found.rows)


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
    on_card = figures.memory(found.on_card_bytes)
    whole = figures.memory(found.with_offload_bytes)
    share = round(100 * HOST_SHARE)
    taken = f"of the system's, {share} % may be taken"
    memory = f"{on_card} on the card, less what driver and display hold; {whole} with offload"
    if found.on_card_bytes is None:
        memory = f"{whole} for the processor"
    tokens, before = f"{found.request.context:,}", f"{depth(found):,}"
    return (
        ("Machine", found.kind),
        ("Computes", f"{devices}; {found.threads} threads on the processor"),
        ("Memory", f"{memory}; {taken}"),
        ("Context", f"room for {tokens} tokens; rates for a token after {before} others"),
        ("Known", _known(found)),
    )


def _known(found: Fits) -> str:
    if found.parts_at is None:
        return "nothing measured here yet"
    runs = f"{found.runs} run{'' if found.runs == 1 else 's'} of this machine"
    return f"parts of {found.parts_at} (UTC), {runs}"


def _columns(rows: Sequence[FitRow]) -> list[Column]:
    return [
        Column("model", [row.model.id for row in rows]),
        Column("quantization", [row.quant.label for row in rows]),
        Column("fits", [_fit(row) for row in rows], drop=1),
        Column("memory", [_memory(row) for row in rows], drop=3, right=True),
        Column("estimate tok/s", [_range(row) for row in rows], right=True),
        Column("likeliest", [_middle(row) for row in rows], drop=5, right=True),
        Column("ceiling", [_ceiling(row.estimate.decode) for row in rows], drop=7, right=True),
        Column("prompt tok/s", [_span(row.estimate.prompt) for row in rows], drop=6, right=True),
        Column("first token s", [_first(row) for row in rows], drop=8, right=True),
        Column("measured tok/s", [_measured(row) for row in rows], drop=4, right=True),
        Column("tier", [_tier(row) for row in rows], drop=2),
    ]


def _fit(row: FitRow) -> str:
    if row.experts_on_host:
        return f"{FITS[row.fit]}, experts of {row.experts_on_host} layers"
    if row.gpu_layers is not None:
        return f"{FITS[row.fit]}, {row.gpu_layers} layers on the card"
    return FITS[row.fit]


def _memory(row: FitRow) -> str:
    need = row.estimate.need
    return figures.size(need.total_bytes) if need else DASH


def _range(row: FitRow) -> str:
    if row.estimate.decode is None:
        return _why(row.estimate.reasons)
    return _span(row.estimate.decode)


def _why(given: Sequence[Reason]) -> str:
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


def _tier(row: FitRow) -> str:
    return row.estimate.tier.value if row.estimate.tier else ""


def _sums(found: Fits) -> str:
    said = f"{len(found.rows)} builds. Every rate is an estimate, never a measurement."
    if found.hidden:
        hidden = f"{found.hidden} models fit nowhere here or are not trained for such a context"
        said += f" {hidden}: --all shows them."
    return said


def _meanings(rows: Sequence[FitRow]) -> None:
    tiers = {row.estimate.tier for row in rows if row.estimate.tier}
    for tier in sorted(tiers):
        paragraph(TIERS[tier])
    given: dict[str, Reason] = {}
    for row in rows:
        for reason in row.estimate.reasons:
            given.setdefault(reason.code, reason)
    for code in sorted(given):
        if code in _SAID_ONCE:
            paragraph(given[code].text())


_SHORT: Final = {
    "estimate_fits_nowhere": "needs {need}",
    "estimate_no_bandwidth": "not measured",
    "estimate_beyond_context": "trained for {trained} tokens",
    "architecture_unknown": "unknown architecture",
}
_SAID_ONCE: Final = frozenset(
    ("estimate_in_caches", "estimate_offload", "estimate_parts_old", "estimate_no_parts",
     "estimate_runs", "estimate_parts")
)  # fmt: skip
"""Reasons that are the same for every row that has them; the others are in --json."""
