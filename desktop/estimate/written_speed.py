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
    """Neither fixed costs nor unpacking nor another share for the cache."""
    efficiency = work.efficiency
    costs = (efficiency.layer_s.high, efficiency.token_s.high)
    return not any(costs) and efficiency.weight_flop is None and efficiency.cache_share is None


def _read_rate(work: DeviceWork, *, low: bool) -> str:
    share = _end(work.efficiency.bandwidth_share, low=low)
    read = f"({number(work.weight_bytes)}{PLUS}{number(work.cache_bytes)})"
    return f"{times(share, _bandwidth(work))}{OVER}{read}"


def _terms(work: DeviceWork, *, low: bool) -> Iterator[Line]:
    """The times of one token, in microseconds, at one end of the range."""
    efficiency = work.efficiency
    share = efficiency.bandwidth_share
    yield _reading("written.time.weights", work.weight_bytes, _end(share, low=low), work)
    if work.cache_bytes:
        cache = _end(efficiency.cache_share or share, low=low)
        yield _reading("written.time.cache", work.cache_bytes, cache, work)
    if efficiency.weight_flop is not None and work.weights is not None:
        yield _unpacking(work, work.weights, _end(efficiency.weight_flop, low=not low))
    layer_us = _end(efficiency.layer_s, low=not low) * _MICRO
    token_us = _end(efficiency.token_s, low=not low) * _MICRO
    fixed = f"{times(work.layers, layer_us)}{PLUS}{number(token_us)}"
    yield line("written.time.fixed", fixed, work.layers * layer_us + token_us, MICROSECONDS)


def _reading(code: str, count_bytes: float, share: float, work: DeviceWork) -> Line:
    bandwidth = _bandwidth(work)
    reached = f"({times(share, bandwidth)})"
    expression = f"{number(count_bytes)}{OVER}{times(reached, _MICRO)}"
    return line(code, expression, count_bytes / (share * bandwidth) * _MICRO, MICROSECONDS)


def _unpacking(work: DeviceWork, weights: float, flop: float) -> Line:
    """The shaders' rate is the device's, or the usual of its class for its bandwidth."""
    per_byte = work.efficiency.flop_per_byte or 0
    if work.shader_flops is not None:
        rate, written = work.shader_flops, number(work.shader_flops)
    else:
        rate = per_byte * _bandwidth(work)
        written = f"({times(per_byte, _bandwidth(work))})"
    expression = f"{times(weights, flop)}{OVER}{times(written, _MICRO)}"
    return line("written.time.unpack", expression, weights * flop / rate * _MICRO, MICROSECONDS)


def _ceiling(work: DeviceWork, *, with_cache: bool) -> Line:
    read = work.weight_bytes + (work.cache_bytes if with_cache else 0)
    divisor = number(work.weight_bytes)
    if with_cache:
        divisor = f"({divisor}{PLUS}{number(work.cache_bytes)})"
    expression = f"{number(_bandwidth(work))}{OVER}{divisor}"
    return line("written.ceiling", expression, _bandwidth(work) / read, TOK_S)


def _bandwidth(work: DeviceWork) -> float:
    """Known, where there is a range to write out."""
    return work.bandwidth_bytes_s or 0


def _end(interval: Interval, *, low: bool) -> float:
    return interval.low if low else interval.high
