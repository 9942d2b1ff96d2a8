"""Estimates for this machine: what fits where, and how fast, by the best that is known here.

Tier A where own runs count, B where the parts were measured, C by the catalogue's interval for the
device; else a reason. The same law and the same memory rule as everywhere (`speed`, `memory`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, TypeAlias

from desktop.errors import GramError, Reason
from desktop.estimate.bounds import Memory, bound_of
from desktop.estimate.calibration import (
    DeviceRates,
    Work,
    batch_read_bytes,
    prompt_terms,
    token_terms,
    unmeasured_types,
)
from desktop.estimate.evidence import Evidence
from desktop.estimate.fitting import Placed, Room, place
from desktop.estimate.placed_work import PlacedWork, Sides, placed_work
from desktop.estimate.residuals import Residuals, Span
from desktop.estimate.speed import DeviceWork, decode_speed, first_token, prompt_speed
from desktop.estimate.token_work import Asked, device_works
from desktop.estimate.work import attention_flop
from desktop.records.estimate import Estimate, Interval, Speed, Tier, Use
from desktop.records.fits import Fit, FitRow
from desktop.records.model import SizeBasis
from desktop.records.run import PP512
from desktop.rules.caches import many_caches_bytes

PROMPT: Final = PP512.n_prompt
"""Tokens of the prompt whose speed is told: from an empty cache, as llama-bench's pp512."""
_Prompts: TypeAlias = tuple[Span | None, Span | None]
"""Seconds for a token of such a prompt, and of one as long as the depth."""
_NO_PARTS: Final = Reason("estimate_no_parts", {})
_SIZES: Final = {
    SizeBasis.BITS: "estimate_size_bits",
    SizeBasis.TENSORS: "estimate_size_tensors",
    SizeBasis.EXACT: "estimate_size_exact",
}


@dataclass(frozen=True)
class Here:
    """What is known of this machine. Made once, asked for many builds."""

    name: str
    """What estimates name as their configuration: the kind of machine."""
    room: Room
    cards: tuple[str, ...]
    """The engine's names of the cards that a run would use, in its order."""
    bandwidths: Mapping[str, float]
    """Bytes a second of each device's memory, the most that parts, runs or the catalogue tell."""
    rates: Mapping[str, DeviceRates] = field(default_factory=dict)
    """By the parts; empty where they were not measured."""
    evidence: Evidence = field(default_factory=Evidence)
    sides: Mapping[str, Sides] = field(default_factory=dict)
    """The catalogue's view of the same devices, by quantizations' family; a family is missing where
    it does not know one of the devices."""
    why_no_sides: Reason | None = None
    why_catalogue: Reason = _NO_PARTS
    """Said of what rests on the catalogue: why not on parts."""
    targets: Mapping[str, str] = field(default_factory=dict)
    """Of each quantization's family the target's id, by the catalogue."""
    beside: tuple[Reason, ...] = ()
    """Said of every estimate by the parts: that they were measured with an older engine."""

    @cached_property
    def memory(self) -> Mapping[str, Memory]:
        """Of the devices that were measured, as it bounds a token."""
        return {
            name: Memory(self.bandwidths[name], many_caches_bytes(known.last_level_cache_bytes))
            for name, known in self.rates.items()
        }

    @cached_property
    def decode(self) -> Residuals:
        """What the runs say of generation."""
        return Residuals(self.evidence.decode)

    @cached_property
    def prompt(self) -> Residuals:
        """What the runs say of prompts."""
        return Residuals(self.evidence.prompt)


@dataclass(frozen=True, slots=True)
class _Case:
    """A build with its place and its work."""

    asked: Asked
    placed: Placed
    works: tuple[Work, ...] = ()


def rows_here(
    here: Here, wanted: Sequence[Asked], use: Use, *, offload: bool = True
) -> tuple[FitRow, ...]:
    """Estimate builds that are asked for together, in their order.

    Args:
        here: the machine.
        wanted: the builds.
        use: context, depth, cache types.
        offload: as `fitting.place`.

    Raises:
        GramError: `bad_number`, `cache_type` for a use that nobody can mean.
    """
    found: list[FitRow | _Case] = []
    for asked in wanted:
        try:
            placed = place(here.room, asked.model, asked.weights, use, offload=offload)
            found.append(_case(here, asked, use, placed))
        except GramError as e:
            if e.code in {"bad_number", "cache_type"}:
                raise
            found.append(_without(here, asked, use, e.reason))
    cases = [one for one in found if isinstance(one, _Case)]
    rows = iter(_estimated(here, cases, use))
    return tuple(next(rows) if isinstance(one, _Case) else one for one in found)


def _case(here: Here, asked: Asked, use: Use, placed: Placed) -> _Case:
    if placed.reason is not None:
        return _Case(asked, placed)
    return _Case(asked, placed, device_works(here.cards, asked, use, placed.placement))


def _estimated(here: Here, cases: Sequence[_Case], use: Use) -> list[FitRow]:
    terms = [token_terms(case.works, here.rates) if case.works else None for case in cases]
    known = [i for i, one in enumerate(terms) if one is not None]
    asked = [(cases[i].asked.build, terms[i] or {}) for i in known]
    spans = dict(zip(known, here.decode.spans(asked), strict=True))
    prompts = _prompts(here, cases, known, use)
    rows = []
    for i, case in enumerate(cases):
        if i in spans:
            rows.append(_measured_here(here, case, use, spans[i], prompts[i]))
        else:
            rows.append(_by_catalogue(here, case, use))
    return rows


def _prompts(
    here: Here, cases: Sequence[_Case], known: Sequence[int], use: Use
) -> dict[int, _Prompts]:
    """Only of builds that lie on one device; both lengths are asked together, which is faster."""
    lengths = (PROMPT, use.prompt_tokens)
    terms = {
        (i, tokens): prompt_terms(_at_length(cases[i], tokens), here.rates, tokens)
        for i in known
        for tokens in lengths
        if len(cases[i].works) == 1
    }
    told = {key: one for key, one in terms.items() if one is not None}
    spans = here.prompt.spans([(cases[i].asked.build, one) for (i, _), one in told.items()])
    found = dict(zip(told, spans, strict=True))
    usual, whole = lengths
    return {i: (found.get((i, usual)), found.get((i, whole))) for i in known}


def _at_length(case: _Case, tokens: int) -> tuple[Work, ...]:
    """The work of a prompt of so many tokens: on average half of them are attended to."""
    attended = attention_flop(case.asked.model, tokens / 2)
    return tuple(replace(work, attention_flop=attended) for work in case.works)


def _measured_here(here: Here, case: _Case, use: Use, span: Span, prompts: _Prompts) -> FitRow:
    """Tier A or B."""
    speed, of_speed = _speed(here, case, span)
    tier = Tier.A if here.evidence.decode else Tier.B
    row = _row(here, case, use)
    usual, whole = prompts
    prompt, of_prompt = _prompt_speed(here, case, usual) if usual else (None, ())
    doubt = of_speed or of_prompt
    estimate = replace(
        row.estimate,
        decode=speed,
        prompt=prompt,
        first_token_s=_first(here, case, whole, use.prompt_tokens, speed),
        tier=tier,
        reasons=(*_reasons(here, case, tier), *doubt, *here.beside, *row.estimate.reasons),
    )
    middle = min(1 / span.middle, speed.high_tok_s)
    return replace(row, estimate=estimate, middle_tok_s=middle)


def _speed(here: Here, case: _Case, span: Span) -> tuple[Speed, tuple[Reason, ...]]:
    bound = bound_of(case.works, here.memory)
    return _below(1 / bound.seconds, span, holds=bound.holds)


def _prompt_speed(here: Here, case: _Case, prompt: Span) -> tuple[Speed, tuple[Reason, ...]]:
    ceiling = PROMPT / _prompt_read_s(here, case, PROMPT)
    return _below(ceiling, prompt, holds=bound_of(case.works, here.memory).holds)


def _below(ceiling: float, span: Span, *, holds: bool) -> tuple[Speed, tuple[Reason, ...]]:
    """The range, never above the ceiling where the caches cannot help; and a doubt of the two.

    Where what was measured expects more than the ceiling, one of them is wrong. Nobody knows which,
    so the range reaches over both: to end it at the ceiling would leave next to nothing of it.
    """
    low, high = 1 / span.high, 1 / span.low
    if not holds:
        return Speed(low, high, ceiling), ()
    if 1 / span.middle > ceiling:
        return Speed(min(low, ceiling), high, ceiling), (Reason("estimate_ceiling_doubtful", {}),)
    return Speed(low, min(high, ceiling), ceiling), ()


def _first(
    here: Here, case: _Case, prompt: Span | None, tokens: int, decode: Speed
) -> Interval | None:
    """Never sooner than the memory gives the weights, where the caches cannot help."""
    if prompt is None:
        return None
    holds = bound_of(case.works, here.memory).holds
    least_s = _prompt_read_s(here, case, tokens) if holds else 0.0
    low, high = (max(least_s, tokens * seconds) for seconds in (prompt.low, prompt.high))
    return Interval(low + 1 / decode.high_tok_s, high + 1 / decode.low_tok_s)


def _prompt_read_s(here: Here, case: _Case, tokens: int) -> float:
    """Seconds to read the weights of a prompt's micro-batches on the one device that has them."""
    work = case.works[0]
    return batch_read_bytes(work, tokens) / here.memory[work.device].bandwidth_bytes_s


def _reasons(here: Here, case: _Case, tier: Tier) -> tuple[Reason, ...]:
    evidence = here.evidence
    found = [Reason("estimate_parts", {})]
    if tier is Tier.A:
        told = {"runs": len(evidence.decode), "builds": evidence.builds}
        found = [Reason("estimate_runs", told)]
    near = unmeasured_types(case.works, here.rates)
    if near:
        found.append(Reason("estimate_types_near", {"types": ", ".join(near)}))
    if any("in caches" in name for name in token_terms(case.works, here.rates) or ()):
        found.append(Reason("estimate_in_caches", {}))
    if len(case.works) > 1:
        found.append(Reason("estimate_offload", {}))
    return tuple(found)


def _by_catalogue(here: Here, case: _Case, use: Use) -> FitRow:
    """Tier C, or the reason why there is none."""
    row = _row(here, case, use)
    if case.placed.reason is not None:
        return row
    sides = here.sides.get(case.asked.quant.family)
    if sides is None:
        told = here.why_no_sides or Reason("estimate_no_bandwidth", {"device": here.name})
        return replace(row, estimate=replace(row.estimate, reasons=(told,)))
    asked = case.asked
    if case.placed.fit is Fit.WITH_OFFLOAD and sides.host is None:
        told = Reason("estimate_no_bandwidth", {"device": "the system's memory"})
        return replace(row, estimate=replace(row.estimate, reasons=(told,)))
    try:
        placed = placed_work(asked.model, asked.weights, use, case.placed.placement, sides)
        tokens = use.prompt_tokens
        usual, whole = (_prompt_works(case, placed, sides, use, n) for n in (PROMPT, tokens))
        estimate = replace(
            row.estimate,
            decode=decode_speed(placed.decode),
            prompt=prompt_speed(usual, PROMPT),
            first_token_s=first_token(whole, placed.decode, tokens),
            tier=Tier.C,
            reasons=(here.why_catalogue, *row.estimate.reasons),
        )
    except GramError as e:
        estimate = replace(row.estimate, reasons=(e.reason,))
    return replace(row, estimate=estimate)


def _prompt_works(
    case: _Case, placed: PlacedWork, sides: Sides, use: Use, tokens: int
) -> tuple[DeviceWork, ...]:
    """The work of a prompt of so many tokens, from that of one as long as `use.depth`."""
    if tokens == use.depth:
        return placed.prompt
    asked = case.asked
    if len(placed.prompt) == 1:
        attended = attention_flop(asked.model, tokens / 2)
        return (replace(placed.prompt[0], attention_flop=attended),)
    other = replace(use, context=max(use.context, tokens), depth=tokens)
    placement = case.placed.placement
    return placed_work(asked.model, asked.weights, other, placement, sides).prompt


def _row(here: Here, case: _Case, use: Use) -> FitRow:
    asked, placed = case.asked, case.placed
    size = Reason(_SIZES[asked.weights.basis], {"quant": asked.quant.label})
    tight = placed.tight(here.room, asked.quant.label)
    given = (size, tight) if placed.reason is None else (placed.reason,)
    reasons = tuple(reason for reason in given if reason is not None)
    estimate = Estimate(
        model=asked.model.id,
        quant=asked.quant.id,
        configuration=here.name,
        target=here.targets.get(asked.quant.family),
        use=use,
        need=placed.need,
        reasons=reasons,
    )
    return FitRow(
        model=asked.model,
        quant=asked.quant,
        fit=placed.fit,
        estimate=estimate,
        size_bytes=asked.weights.capacity_bytes,
        card_bytes=placed.card_bytes,
        host_bytes=placed.host_bytes,
        gpu_layers=placed.placement.gpu_layers,
        experts_on_host=placed.placement.experts_on_host or None,
    )


def _without(here: Here, asked: Asked, use: Use, reason: Reason) -> FitRow:
    """What cannot be counted has no need and no speed: where it would fit, nobody knows."""
    estimate = Estimate(asked.model.id, asked.quant.id, here.name, None, use, reasons=(reason,))
    return FitRow(asked.model, asked.quant, Fit.RULED_OUT, estimate, asked.weights.capacity_bytes)
