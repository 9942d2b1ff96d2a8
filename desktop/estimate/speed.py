"""How fast a build would run: the law of one token, and of a prompt.

To generate a token, each device in its turn reads the weights that the token needs and the cache of
the tokens before it, unpacks the weights and attends on its shaders, and pays fixed costs:

    seconds = Σ devices: (active bytes + cache bytes) ÷ (share x bandwidth)
                       + weights x weight_flop ÷ shaders' rate
                       + attention ÷ (attention share x shaders' rate)
                       + layers x layer_s + Σ kinds: layers of the kind x extra_layer_s + token_s

A prompt is computed in micro-batches: 2 operations for each weight and token, besides those of
attention, and each micro-batch reads its weights once (`batch_reads`). Shares, work and fixed costs
are data with a low and a high value (`resources/estimate`), so every rate is a range.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from desktop.errors import GramError
from desktop.estimate.batch_reads import Held, batch_bytes, batches
from desktop.records.estimate import Efficiency, Interval, Speed

MAX_TOKENS: Final = 1 << 24
"""The longest prompt asked about."""


@dataclass(frozen=True, slots=True)
class DeviceWork:
    """What one device, or the host, has to do for each token. Devices work one after another."""

    weight_bytes: float
    """Read to generate one token: active weights that lie here."""
    cache_bytes: float
    """Keys, values and state read to generate one token, at the depth that is asked about."""
    layers: float
    """That lie here; one that only attends, or only feeds forward, is half a layer."""
    bandwidth_bytes_s: float | None
    """Of the data sheet, or measured. None: unknown, and then there is no answer."""
    efficiency: Efficiency
    weights: float | None = None
    """Weights, not bytes, that a generated token is multiplied with; needed where the efficiency
    has work for each."""
    token_flop: float = 0
    """Operations of attention for a generated token, at the depth that is asked about."""
    extra_layers: tuple[tuple[str, float], ...] = ()
    """Layers that lie here, by the kinds of `Efficiency.extra_layer_s`."""
    shader_flops: float | None = None
    """What `weight_flop` and `compute_share` go by. None: the usual of the class, if known."""
    held: tuple[Held, ...] = ()
    """Weights that micro-batches read. Empty: `weight_bytes`, all of them each time."""
    prompt_weights: float = 0
    """That each token of a prompt is multiplied with here: without the output matrix."""
    attention_flop: float = 0
    """Operations of attention for one token of the prompt, on average over the prompt."""


def decode_speed(works: Sequence[DeviceWork]) -> Speed:
    """Generated tokens a second, one stream; the depth is that of `works`' cache bytes.

    Low takes the low shares and the high costs, high the others. The ceiling is bandwidth ÷
    (weights + cache): no share and no cost besides.

    Raises:
        GramError: `bad_number` when a figure is absurd: no bandwidth, negative bytes, a share
            outside 0 to 1.5, not a number.
    """
    _check_all(works)
    slow = sum(_token_s(work, low=True) for work in works)
    fast = sum(_token_s(work, low=False) for work in works)
    return Speed(1 / slow, 1 / fast, 1 / sum(_read_s(work) for work in works))


def weights_ceiling(works: Sequence[DeviceWork]) -> float:
    """Tokens a second that the memory allows if weights alone were read.

    Raises:
        GramError: as `decode_speed`.
    """
    _check_all(works)
    return 1 / sum(work.weight_bytes / _bandwidth(work) for work in works)


def prompt_speed(
    works: Sequence[DeviceWork], tokens: int = 512, micro_batch: int = 512
) -> Speed | None:
    """Prompt tokens a second of a prompt of `tokens`; None where a compute rate is not known.

    The ceiling is what the memory allows: each micro-batch reads the weights once.

    Raises:
        GramError: as `decode_speed`; `bad_number` also for no tokens.
    """
    seconds = prompt_seconds(works, tokens, micro_batch)
    if seconds is None:
        return None
    read_s = sum(_prompt_read_s(work, tokens, micro_batch) for work in works)
    return Speed(tokens / seconds.high, tokens / seconds.low, tokens / read_s)


def first_token(
    prompt: Sequence[DeviceWork],
    decode: Sequence[DeviceWork],
    tokens: int = 512,
    micro_batch: int = 512,
) -> Interval | None:
    """Seconds from a prompt of `tokens` to its first generated token; None as `prompt_speed`.

    Raises:
        GramError: as `prompt_speed`.
    """
    seconds = prompt_seconds(prompt, tokens, micro_batch)
    if seconds is None:
        return None
    speed = decode_speed(decode)
    return Interval(seconds.low + 1 / speed.high_tok_s, seconds.high + 1 / speed.low_tok_s)


def prompt_seconds(
    works: Sequence[DeviceWork], tokens: int, micro_batch: int = 512
) -> Interval | None:
    """Seconds to process a prompt of `tokens`; None where a compute rate is not known.

    Raises:
        GramError: as `prompt_speed`.
    """
    _check_all(works)
    _within("tokens", tokens, 1, MAX_TOKENS)
    _within("micro_batch", micro_batch, 1, MAX_TOKENS)
    if any(work.efficiency.compute_share is None or _rate(work) is None for work in works):
        return None
    fast = sum(_device_prompt_s(work, tokens, micro_batch, low=False) for work in works)
    slow = sum(_device_prompt_s(work, tokens, micro_batch, low=True) for work in works)
    return Interval(fast, slow)


def _token_s(work: DeviceWork, *, low: bool) -> float:
    """Seconds of a token at the low or the high rate."""
    read_s = _read_s(work) / _end(work.efficiency.bandwidth_share, low=low)
    return read_s + _shaders_s(work, low=low) + _fixed_s(work, low=low)


def _shaders_s(work: DeviceWork, *, low: bool) -> float:
    """Unpacking the weights, and attention."""
    flop, share = work.efficiency.weight_flop, work.efficiency.attention_share
    if flop is None and share is None:
        return 0
    rate = _rate(work)
    if rate is None or (flop is not None and work.weights is None):
        name = "shaders' rate" if rate is None else "weights"
        raise GramError("bad_number", name=name, low=1, high="∞", found="unknown")
    unpack = (work.weights or 0) * _end(flop, low=not low) if flop else 0
    attention = work.token_flop / _end(share, low=low) if share else 0
    return (unpack + attention) / rate


def _fixed_s(work: DeviceWork, *, low: bool) -> float:
    """Costs are at their high end where the rate is at its low one."""
    efficiency = work.efficiency
    extra = dict(efficiency.extra_layer_s)
    layer_s, token_s = _end(efficiency.layer_s, low=not low), _end(efficiency.token_s, low=not low)
    kinds = ((count, extra[kind]) for kind, count in work.extra_layers if kind in extra)
    extra_s = sum(count * _end(interval, low=not low) for count, interval in kinds)
    return work.layers * layer_s + token_s + extra_s


def _device_prompt_s(work: DeviceWork, tokens: int, micro_batch: int, *, low: bool) -> float:
    """Seconds at the low or the high rate. At best, reading hides behind computing."""
    compute, rate = work.efficiency.compute_share, _rate(work)
    if compute is None or rate is None:
        raise AssertionError("checked before")
    flop_s = tokens * (2 * work.prompt_weights + work.attention_flop) / rate
    compute_s = flop_s / _end(compute, low=low)
    share = _end(work.efficiency.bandwidth_share, low=low)
    read_s = _prompt_read_s(work, tokens, micro_batch) / share
    fixed_s = -(-tokens // micro_batch) * _fixed_s(work, low=low)
    return fixed_s + (compute_s + read_s if low else max(compute_s, read_s))


def _prompt_read_s(work: DeviceWork, tokens: int, micro_batch: int) -> float:
    """Seconds to read the weights, once for each micro-batch, at the whole bandwidth."""
    held = work.held or (Held("", work.weight_bytes),)
    read = sum(count * batch_bytes(held, size) for size, count in batches(tokens, micro_batch))
    return read / _bandwidth(work)


def _read_s(work: DeviceWork) -> float:
    return (work.weight_bytes + work.cache_bytes) / _bandwidth(work)


def _end(interval: Interval, *, low: bool) -> float:
    return interval.low if low else interval.high


def _bandwidth(work: DeviceWork) -> float:
    if work.bandwidth_bytes_s is None:
        raise GramError("bad_number", name="bandwidth", low=1, high="∞", found="unknown")
    return work.bandwidth_bytes_s


def _rate(work: DeviceWork) -> float | None:
    """The shaders' rate; the usual of the class where it is not known."""
    if work.shader_flops is not None or work.efficiency.flop_per_byte is None:
        return work.shader_flops
    return work.efficiency.flop_per_byte * _bandwidth(work)


def _check_all(works: Sequence[DeviceWork]) -> None:
    """Refuse what no device has: numbers come from tables and from strangers' headers."""
    for work in works:
        _within("bandwidth", _bandwidth(work), 1e6, 1e15)
        _within("weight bytes", work.weight_bytes, 0, 1e15)
        _within("cache bytes", work.cache_bytes, 0, 1e15)
        for held in work.held:
            _within("weights held", held.bytes, 0, 1e15)
            _within("share of the weights held", held.share, 0, 1)
        _within("layers", work.layers, 0, 1 << 16)
        for weights in (work.weights or 0, work.prompt_weights):
            _within("weights", weights, 0, 1e16)
        for flop in (work.attention_flop, work.token_flop):
            _within("operations of attention", flop, 0, 1e18)
        for kind, count in work.extra_layers:
            _within(f"layers of {kind}", count, 0, 1 << 16)
        if work.shader_flops is not None:
            _within("shaders' rate", work.shader_flops, 1e6, 1e18)
        _check_efficiency(work.efficiency)
    _within("bytes per token", sum(w.weight_bytes + w.cache_bytes for w in works), 1, 1e18)


def _check_efficiency(efficiency: Efficiency) -> None:
    _check_interval("bandwidth share", (efficiency.bandwidth_share,), 1e-6, 1.5)
    shares = (efficiency.compute_share, efficiency.attention_share)
    _check_interval("compute share", shares, 1e-6, 64)
    _check_interval("work of a weight", (efficiency.weight_flop,), 0, 1e6)
    costs = (efficiency.layer_s, efficiency.token_s, *dict(efficiency.extra_layer_s).values())
    _check_interval("fixed cost", costs, 0, 60)


def _check_interval(
    name: str, found: Sequence[Interval | None], lowest: float, highest: float
) -> None:
    for interval in filter(None, found):
        _within(name, interval.low, lowest, highest)
        _within(name, interval.high, interval.low, highest)


def _within(name: str, found: float, low: float, high: float) -> None:
    if not (math.isfinite(found) and low <= found <= high):
        raise GramError("bad_number", name=name, low=low, high=high, found=str(found))
