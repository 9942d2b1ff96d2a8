"""The arithmetic of the range and its ceiling, written out: the law of `speed`, line by line."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from desktop.estimate.page_words import Said
from desktop.estimate.speed import DeviceWork
from desktop.estimate.written_line import (
    MICROSECONDS,
    OVER,
    PLUS,
    TOK_S,
    Line,
    line,
    number,
    times,
)
from desktop.records.estimate import Interval, Speed

MICRO: Final = 1_000_000


def speed_lines(
    works: Sequence[DeviceWork],
    speed: Speed,
    *,
    ceiling_with_cache: bool,
    names: Sequence[str] = (),
) -> Iterator[Line]:
    """The low end, the high end, and the ceiling that is shown.

    Args:
        works: of the devices that hold the model, which work one after another.
        speed: what `speed.decode_speed` says of them.
        ceiling_with_cache: whether the ceiling counts the cache besides the weights.
        names: of the devices, where there are several.
    """
    for low in (True, False):
        end = "low" if low else "high"
        value = speed.low_tok_s if low else speed.high_tok_s
        if len(works) == 1 and _reads_only(works[0]):
            yield line(f"written.{end}", _read_rate(works[0], low=low), value, TOK_S)
            continue
        terms = tuple(_all_terms(works, names, low=low))
        yield from terms
        yield rate_line(f"written.{end}", PLUS.join(term.result for term in terms), value)
    yield _ceiling(works, with_cache=ceiling_with_cache)


def rate_line(code: str, microseconds: str, value: float) -> Line:
    """Tokens a second, of a token that takes so many microseconds: a number, or a sum of some."""
    divisor = f"({microseconds})" if PLUS in microseconds else microseconds
    return line(code, f"{number(MICRO)}{OVER}{divisor}", value, TOK_S)


def on_device(found: Line, name: str) -> Line:
    """The same line, said of one of several devices."""
    return replace(found, what=(*found.what, Said("written.on", {"device": name})))


def ceiling_expression(reads: Sequence[tuple[str, float]]) -> str:
    """Of what each device reads, as an expression, at so many bytes a second; one after another."""
    pairs = [(read, number(bandwidth)) for read, bandwidth in reads]
    if len(pairs) == 1:
        return f"{pairs[0][1]}{OVER}{pairs[0][0]}"
    return f"1{OVER}({PLUS.join(f'{read}{OVER}{bandwidth}' for read, bandwidth in pairs)})"


def read_expression(weight_bytes: float, cache_bytes: float) -> str:
    """What a token reads, in brackets."""
    return f"({number(weight_bytes)}{PLUS}{number(cache_bytes)})"


def _all_terms(works: Sequence[DeviceWork], names: Sequence[str], *, low: bool) -> Iterator[Line]:
    """The times of one token on each device."""
    if len(works) == 1:
        yield from _terms(works[0], low=low)
        return
    for work, name in zip(works, names, strict=True):
        yield from (on_device(term, name) for term in _terms(work, low=low))


def _reads_only(work: DeviceWork) -> bool:
    """Neither fixed costs nor work for the shaders."""
    efficiency = work.efficiency
    costs = (efficiency.layer_s, efficiency.token_s, *dict(efficiency.extra_layer_s).values())
    shaders = (efficiency.weight_flop, efficiency.attention_share)
    return not any(cost.high for cost in costs) and shaders == (None, None)


def _read_rate(work: DeviceWork, *, low: bool) -> str:
    share = _end(work.efficiency.bandwidth_share, low=low)
    return f"{times(share, _bandwidth(work))}{OVER}{_read(work)}"


def _read(work: DeviceWork) -> str:
    return read_expression(work.weight_bytes, work.cache_bytes)


def _terms(work: DeviceWork, *, low: bool) -> Iterator[Line]:
    """The times of one token, in microseconds, at one end of the range."""
    yield _reading(work, _end(work.efficiency.bandwidth_share, low=low))
    flop, attention = work.efficiency.weight_flop, work.efficiency.attention_share
    if flop is not None and work.weights:
        yield _unpacking(work, work.weights, _end(flop, low=not low))
    if attention is not None and work.token_flop:
        yield _attending(work, _end(attention, low=low))
    yield _fixed(work, low=low)


def _reading(work: DeviceWork, share: float) -> Line:
    bandwidth = _bandwidth(work)
    expression = f"{_read(work)}{OVER}{times(f'({times(share, bandwidth)})', MICRO)}"
    seconds = (work.weight_bytes + work.cache_bytes) / (share * bandwidth)
    return line("written.time.read", expression, seconds * MICRO, MICROSECONDS)


def _unpacking(work: DeviceWork, weights: float, flop: float) -> Line:
    rate, written = _rate(work)
    expression = f"{times(weights, flop)}{OVER}{times(written, MICRO)}"
    return line("written.time.unpack", expression, weights * flop / rate * MICRO, MICROSECONDS)


def _attending(work: DeviceWork, share: float) -> Line:
    rate, written = _rate(work)
    reached = f"({times(share, written)})"
    expression = f"{number(work.token_flop)}{OVER}{times(reached, MICRO)}"
    seconds = work.token_flop / (share * rate)
    return line("written.time.attention", expression, seconds * MICRO, MICROSECONDS)


def _fixed(work: DeviceWork, *, low: bool) -> Line:
    """Of layers, of the kinds of layers that cost more, and of the token."""
    efficiency = work.efficiency
    extra = dict(efficiency.extra_layer_s)
    counted = [(work.layers, efficiency.layer_s)]
    counted += [(count, extra[kind]) for kind, count in work.extra_layers if kind in extra]
    costs = [(count, _end(cost, low=not low) * MICRO) for count, cost in counted if count]
    token_us = _end(efficiency.token_s, low=not low) * MICRO
    expression = PLUS.join((*(times(*cost) for cost in costs), number(token_us)))
    value = sum(count * cost_us for count, cost_us in costs) + token_us
    return line("written.time.fixed", expression, value, MICROSECONDS)


def _rate(work: DeviceWork) -> tuple[float, str]:
    """The shaders' rate: the device's, or the usual of its class for its bandwidth."""
    if work.shader_flops is not None:
        return work.shader_flops, number(work.shader_flops)
    per_byte, bandwidth = work.efficiency.flop_per_byte or 0, _bandwidth(work)
    return per_byte * bandwidth, f"({times(per_byte, bandwidth)})"


def _ceiling(works: Sequence[DeviceWork], *, with_cache: bool) -> Line:
    seconds, reads = 0.0, []
    for work in works:
        read = _read(work) if with_cache else number(work.weight_bytes)
        reads.append((read, _bandwidth(work)))
        cache_bytes = work.cache_bytes if with_cache else 0
        seconds += (work.weight_bytes + cache_bytes) / _bandwidth(work)
    return line("written.ceiling", ceiling_expression(reads), 1 / seconds, TOK_S)


def _bandwidth(work: DeviceWork) -> float:
    """Known, where there is a range to write out."""
    return work.bandwidth_bytes_s or 0


def _end(interval: Interval, *, low: bool) -> float:
    return interval.low if low else interval.high
