"""The arithmetic of the range and its ceiling, written out: the law of `speed`, line by line."""

from collections.abc import Iterator
from typing import Final

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

_MICRO: Final = 1_000_000


def speed_lines(work: DeviceWork, speed: Speed, *, ceiling_with_cache: bool) -> Iterator[Line]:
    """The low end, the high end, and the ceiling that is shown.

    Args:
        work: all of the model on one device.
        speed: what `speed.decode_speed` says of it.
        ceiling_with_cache: whether the ceiling counts the cache besides the weights.
    """
    for low in (True, False):
        end = "low" if low else "high"
        value = speed.low_tok_s if low else speed.high_tok_s
        if _reads_only(work):
            yield line(f"written.{end}", _read_rate(work, low=low), value, TOK_S)
            continue
        terms = tuple(_terms(work, low=low))
        yield from terms
        sums = PLUS.join(term.result for term in terms)
        yield line(f"written.{end}", f"{number(_MICRO)}{OVER}({sums})", value, TOK_S)
    yield _ceiling(work, with_cache=ceiling_with_cache)


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
    """What a token reads, as an expression in brackets."""
    return f"({number(work.weight_bytes)}{PLUS}{number(work.cache_bytes)})"


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
    expression = f"{_read(work)}{OVER}{times(f'({times(share, bandwidth)})', _MICRO)}"
    seconds = (work.weight_bytes + work.cache_bytes) / (share * bandwidth)
    return line("written.time.read", expression, seconds * _MICRO, MICROSECONDS)


def _unpacking(work: DeviceWork, weights: float, flop: float) -> Line:
    rate, written = _rate(work)
    expression = f"{times(weights, flop)}{OVER}{times(written, _MICRO)}"
    return line("written.time.unpack", expression, weights * flop / rate * _MICRO, MICROSECONDS)


def _attending(work: DeviceWork, share: float) -> Line:
    rate, written = _rate(work)
    reached = f"({times(share, written)})"
    expression = f"{number(work.token_flop)}{OVER}{times(reached, _MICRO)}"
    seconds = work.token_flop / (share * rate)
    return line("written.time.attention", expression, seconds * _MICRO, MICROSECONDS)


def _fixed(work: DeviceWork, *, low: bool) -> Line:
    """Of layers, of the kinds of layers that cost more, and of the token."""
    efficiency = work.efficiency
    extra = dict(efficiency.extra_layer_s)
    counted = [(work.layers, efficiency.layer_s)]
    counted += [(count, extra[kind]) for kind, count in work.extra_layers if kind in extra]
    costs = [(count, _end(cost, low=not low) * _MICRO) for count, cost in counted if count]
    token_us = _end(efficiency.token_s, low=not low) * _MICRO
    expression = PLUS.join((*(times(*cost) for cost in costs), number(token_us)))
    value = sum(count * cost_us for count, cost_us in costs) + token_us
    return line("written.time.fixed", expression, value, MICROSECONDS)


def _rate(work: DeviceWork) -> tuple[float, str]:
    """The shaders' rate: the device's, or the usual of its class for its bandwidth."""
    if work.shader_flops is not None:
        return work.shader_flops, number(work.shader_flops)
    per_byte, bandwidth = work.efficiency.flop_per_byte or 0, _bandwidth(work)
    return per_byte * bandwidth, f"({times(per_byte, bandwidth)})"


def _ceiling(work: DeviceWork, *, with_cache: bool) -> Line:
    read = work.weight_bytes + (work.cache_bytes if with_cache else 0)
    divisor = _read(work) if with_cache else number(work.weight_bytes)
    expression = f"{number(_bandwidth(work))}{OVER}{divisor}"
    return line("written.ceiling", expression, _bandwidth(work) / read, TOK_S)


def _bandwidth(work: DeviceWork) -> float:
    """Known, where there is a range to write out."""
    return work.bandwidth_bytes_s or 0


def _end(interval: Interval, *, low: bool) -> float:
    return interval.low if low else interval.high
