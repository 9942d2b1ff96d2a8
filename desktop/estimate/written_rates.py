"""The arithmetic of a range by this machine's own parts and runs, written out line by line."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from desktop.estimate import printed
from desktop.estimate.bounds import bound_of
from desktop.estimate.calibration import DeviceRates, Work, token_terms
from desktop.estimate.here import Here
from desktop.estimate.page_words import Said
from desktop.estimate.residuals import COMMON_SD, COVERAGE, Span, Term
from desktop.estimate.type_rates import TypeRate, rate_for
from desktop.estimate.written_line import (
    MICROSECONDS,
    MINUS,
    OVER,
    PLUS,
    TOK_S,
    Line,
    line,
    number,
    times,
)
from desktop.estimate.written_speed import (
    MICRO,
    ceiling_expression,
    on_device,
    rate_line,
    read_expression,
)
from desktop.records.estimate import Speed

_IN_GB: Final = 1000
"""A gigabyte a second is so many bytes a microsecond."""
_NOTHING: Final = 1e-9
"""What sums of floating point differ by."""


def rate_lines(here: Here, works: Sequence[Work], span: Span, speed: Speed) -> Iterator[Line]:
    """The time of each part, their sum, what runs make of it, the range and its ceiling.

    Args:
        here: the machine, whose rates tell of all of `works`' devices.
        works: what a token asks of each.
        span: the time that is expected of it.
        speed: the range that is told.
    """
    parts = [line for work in works for line in _on(here, work, alone=len(works) == 1)]
    yield from parts
    yield (whole := _whole(parts))
    yield from _by_runs(here, whole, span)
    longest, shortest = _likely(whole, span)
    yield from (longest, shortest)
    ceiling = _ceiling(here, works)
    yield _end("low", longest, speed.low_tok_s, ceiling)
    yield _end("high", shortest, speed.high_tok_s, ceiling)
    yield ceiling


def _on(here: Here, work: Work, *, alone: bool) -> Iterator[Line]:
    found = _of_work(work, here.rates[work.device])
    yield from (found if alone else (on_device(line, work.device) for line in found))


def _of_work(work: Work, known: DeviceRates) -> Iterator[Line]:
    """What a token takes of one device."""
    found = token_terms([work], {work.device: known}) or {}
    terms = {name.removeprefix(f"{work.device} "): term for name, term in found.items()}
    reads = [_reading(kind, size, terms[kind], known) for kind, size in work.bytes_by_type.items()]
    yield from reads
    if (saved := terms.get("in caches")) is not None:
        yield _saved(reads, saved)
    if (cache := terms.get("cache")) is not None:
        yield _cache(work, cache, known)
    if (layers := terms.get("layers")) is not None:
        kind = terms.get(f"layers of {work.architecture}", layers)
        sd = math.hypot(layers.sd, kind.sd) if kind is not layers else layers.sd
        yield _fixed("layers", layers.seconds, sd, known)
        yield _fixed("token", terms["token"].seconds, terms["token"].sd, known)


def _reading(kind: str, size: float, term: Term, known: DeviceRates) -> Line:
    rate = rate_for(kind, known.types, processor=known.threads is not None)
    told = {"type": kind, "rate": _gb_s(rate), "sd": _percent(term.sd)}
    what = Said("written.here.type", told)
    if rate.near:
        what = Said("written.here.near", {**told, "near": ", ".join(rate.near)})
    slower = term.seconds / (size * rate.byte_s)
    if slower <= 1 + _NOTHING:
        return _read((what,), size, rate, term)
    beside = Said("written.here.beside", {"more": _percent(slower - 1)})
    return _read((what, beside), size, rate, term)


def _cache(work: Work, term: Term, known: DeviceRates) -> Line:
    rate = rate_for("F16", known.types)
    times_as_long = term.seconds / (work.cache_bytes * rate.byte_s)
    told = {"rate": _gb_s(rate), "times": f"{times_as_long:.3g}", "sd": _percent(term.sd)}
    return _read((Said("written.here.cache", told),), work.cache_bytes, rate, term)


def _read(what: tuple[Said, ...], size: float, rate: TypeRate, term: Term) -> Line:
    """At the rate of the parts; times what a decode step takes longer."""
    gigabytes = 1 / rate.byte_s / printed.GB
    expression = f"{number(size)}{OVER}({times(gigabytes, _IN_GB)})"
    slower = term.seconds / (size * rate.byte_s)
    if abs(slower - 1) > _NOTHING:
        expression = times(expression, slower)
    return Line(what, expression, term.seconds * MICRO, MICROSECONDS)


def _gb_s(rate: TypeRate) -> str:
    return printed.bandwidth(1 / rate.byte_s)


def _saved(reads: Sequence[Line], term: Term) -> Line:
    """A time that is to be taken away."""
    read_us = sum(line.printed_value for line in reads)
    share = -term.seconds * MICRO / read_us
    sums = PLUS.join(line.result for line in reads)
    what = Said(_SAVED, {"sd": _percent(term.sd)})
    return Line((what,), times(share, f"({sums})"), share * read_us, MICROSECONDS)


_SAVED: Final = "written.here.saved"


def _fixed(name: str, seconds: float, sd: float, known: DeviceRates) -> Line:
    """So many times what a layer takes."""
    what = Said(f"written.here.{name}", {"sd": _percent(sd)})
    layer_us = known.layer_s * MICRO
    expression = times(seconds / known.layer_s, layer_us)
    return Line((what,), expression, seconds * MICRO, MICROSECONDS)


def _whole(parts: Sequence[Line]) -> Line:
    saved = [part for part in parts if part.what[0].code == _SAVED]
    added = [part for part in parts if part.what[0].code != _SAVED]
    expression = PLUS.join(part.result for part in added)
    expression += "".join(f"{MINUS}{part.result}" for part in saved)
    value = sum(part.printed_value for part in added) - sum(part.printed_value for part in saved)
    return line("written.here.whole", expression, value, MICROSECONDS)


def _by_runs(here: Here, whole: Line, span: Span) -> Iterator[Line]:
    evidence = here.evidence
    if evidence.decode:
        told = {"runs": len(evidence.decode), "builds": evidence.builds}
        yield _times(Said("written.here.runs", told), whole, span.middle)


def _likely(whole: Line, span: Span) -> tuple[Line, Line]:
    """The longest and the shortest time that are likely."""
    told: Mapping[str, str] = {"share": _percent(COVERAGE), "common": _percent(COMMON_SD)}
    return (
        _times(Said("written.here.longest", told), whole, span.high),
        _times(Said("written.here.shortest"), whole, span.low),
    )


def _times(what: Said, whole: Line, seconds: float) -> Line:
    """The whole times a factor."""
    factor = seconds * MICRO / whole.printed_value
    return Line((what,), times(whole.result, factor), seconds * MICRO, MICROSECONDS)


def _end(end: str, time: Line, told_tok_s: float, ceiling: Line) -> Line:
    """By the time, or the ceiling where that is what was told."""
    by_time = MICRO / time.value
    if math.isclose(by_time, told_tok_s, rel_tol=1e-9):
        return rate_line(f"written.{end}", time.result, told_tok_s)
    what = Said(f"written.here.{end}", {"rate": printed.rate(by_time)})
    return Line((what,), ceiling.expression, told_tok_s, TOK_S)


def _ceiling(here: Here, works: Sequence[Work]) -> Line:
    reads = [
        (
            read_expression(sum(work.bytes_by_type.values()), work.cache_bytes),
            here.memory[work.device].bandwidth_bytes_s,
        )
        for work in works
    ]
    value = 1 / bound_of(works, here.memory).seconds
    return line("written.ceiling", ceiling_expression(reads), value, TOK_S)


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"
