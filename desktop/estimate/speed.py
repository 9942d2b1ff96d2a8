"""How fast a build would run: the law of one token, and of a prompt.

To generate a token, each device in its turn reads the weights that the token needs and the cache of
the tokens before, and pays a fixed cost for each layer and for the token:

    seconds = Σ devices: active bytes ÷ (share x bandwidth) + cache bytes ÷ (share x bandwidth)
              + layers x layer_s + token_s

A prompt is computed in micro-batches: 2 operations for each parameter and token, besides those of
attention, and each micro-batch reads all weights once. The shares and fixed costs are data
(`resources/estimate`), with a low and a high value; so is every rate.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from desktop.errors import GramError
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
    layers: int
    bandwidth_bytes_s: float | None
    """Of the data sheet. None: unknown, and then there is no answer."""
    efficiency: Efficiency
    batch_bytes: float | None = None
    """Weights read for a micro-batch: of mixtures all experts. None: as `weight_bytes`."""
    parameters: float = 0
    """That a prompt's token is multiplied with here: no embedding lookup, no output matrix.
    Only prompts need it."""
    attention_flop: float = 0
    """Operations of attention for one token of the prompt, on average over the prompt."""
    fp16_flops: float | None = None
    """Dense fp16 rate, operations a second. None: unknown, and then no answer for prompts."""


def decode_speed(works: Sequence[DeviceWork]) -> Speed:
    """Generated tokens a second, one stream; the depth is that of `works`' cache bytes.

    Low takes the low shares and the high fixed costs, high the others. The ceiling is bandwidth ÷
    (weights + cache): no share and no fixed cost.

    Raises:
        GramError: `bad_number` when a figure is absurd: no bandwidth, negative bytes, a share
            outside 0 to 1.5, not a number.
    """
    for work in works:
        _check(work)
    slow = sum(_token_s(work, low=True) for work in works)
    fast = sum(_token_s(work, low=False) for work in works)
    return Speed(1 / slow, 1 / fast, 1 / _ceiling_s(works))


def weights_ceiling(works: Sequence[DeviceWork]) -> float:
    """Tokens a second that the memory allows if weights alone were read.

    Raises:
        GramError: as `decode_speed`.
    """
    for work in works:
        _check(work)
    return 1 / sum(work.weight_bytes / _bandwidth(work) for work in works)


def prompt_speed(
    works: Sequence[DeviceWork], tokens: int = 512, micro_batch: int = 512
) -> Speed | None:
    """Prompt tokens a second of a prompt of `tokens`; None where a compute rate is not known.

    The ceiling is the compute rate without share, nor reading, nor fixed costs.

    Raises:
        GramError: as `decode_speed`; `bad_number` also for no tokens.
    """
    seconds = _prompt_s(works, tokens, micro_batch)
    if seconds is None:
        return None
    best = sum(_flop(work) / (work.fp16_flops or math.nan) for work in works)
    return Speed(tokens / seconds.high, tokens / seconds.low, 1 / best)


def first_token(
    works: Sequence[DeviceWork], tokens: int = 512, micro_batch: int = 512
) -> Interval | None:
    """Seconds from a prompt of `tokens` to its first generated token; None as `prompt_speed`.

    Raises:
        GramError: as `prompt_speed`.
    """
    prompt = _prompt_s(works, tokens, micro_batch)
    if prompt is None:
        return None
    decode = decode_speed(works)
    return Interval(prompt.low + 1 / decode.high_tok_s, prompt.high + 1 / decode.low_tok_s)


def _token_s(work: DeviceWork, *, low: bool) -> float:
    efficiency = work.efficiency
    read_s = (work.weight_bytes + work.cache_bytes) / _bandwidth(work)
    share = efficiency.bandwidth_share
    layer, token = efficiency.layer_s, efficiency.token_s
    if low:
        return read_s / share.low + work.layers * layer.high + token.high
    return read_s / share.high + work.layers * layer.low + token.low


def _ceiling_s(works: Sequence[DeviceWork]) -> float:
    return sum((work.weight_bytes + work.cache_bytes) / _bandwidth(work) for work in works)


def _prompt_s(works: Sequence[DeviceWork], tokens: int, micro_batch: int) -> Interval | None:
    _within("tokens", tokens, 1, MAX_TOKENS)
    _within("micro_batch", micro_batch, 1, MAX_TOKENS)
    for work in works:
        _check(work)
        _within("operations", _flop(work), 1, 1e18)
        if work.efficiency.compute_share is None or work.fp16_flops is None:
            return None
    batches = -(-tokens // micro_batch)
    low = sum(_device_prompt_s(work, tokens, batches, low=False) for work in works)
    high = sum(_device_prompt_s(work, tokens, batches, low=True) for work in works)
    return Interval(low, high)


def _device_prompt_s(work: DeviceWork, tokens: int, batches: int, *, low: bool) -> float:
    """Seconds at the low or the high rate. Reading the weights hides behind computing at best."""
    efficiency = work.efficiency
    compute, share = efficiency.compute_share, efficiency.bandwidth_share
    if compute is None or work.fp16_flops is None:
        raise ValueError("checked before")
    flop_s = tokens * _flop(work) / work.fp16_flops
    weights = work.weight_bytes if work.batch_bytes is None else work.batch_bytes
    read_s = batches * weights / _bandwidth(work)
    if low:
        fixed = work.layers * efficiency.layer_s.high + efficiency.token_s.high
        return flop_s / compute.low + read_s / share.low + batches * fixed
    fixed = work.layers * efficiency.layer_s.low + efficiency.token_s.low
    return max(flop_s / compute.high, read_s / share.high) + batches * fixed


def _flop(work: DeviceWork) -> float:
    """Operations for one token of a prompt: a product and a sum for each parameter."""
    return 2 * work.parameters + work.attention_flop


def _bandwidth(work: DeviceWork) -> float:
    if work.bandwidth_bytes_s is None:
        raise GramError("bad_number", name="bandwidth", low=1, high="∞", found="unknown")
    return work.bandwidth_bytes_s


def _check(work: DeviceWork) -> None:
    """Refuse what no device has: numbers come from tables and from strangers' headers."""
    bytes_read = work.weight_bytes + work.cache_bytes
    _within("bandwidth", _bandwidth(work), 1e6, 1e15)
    _within("weight bytes", work.weight_bytes, 0, 1e15)
    _within("cache bytes", work.cache_bytes, 0, 1e15)
    _within("bytes per token", bytes_read, 1, 2e15)
    _within("layers", work.layers, 0, 1 << 16)
    _within("parameters", work.parameters, 0, 1e15)
    _within("operations of attention", work.attention_flop, 0, 1e18)
    if work.fp16_flops is not None:
        _within("fp16 rate", work.fp16_flops, 1e6, 1e18)
    _check_efficiency(work.efficiency)


def _check_efficiency(efficiency: Efficiency) -> None:
    shares = [("bandwidth share", efficiency.bandwidth_share)]
    if efficiency.compute_share is not None:
        shares.append(("compute share", efficiency.compute_share))
    for name, interval in shares:
        _within(name, interval.low, 1e-6, 1.5)
        _within(name, interval.high, interval.low, 1.5)
    for name, interval in (("layer_s", efficiency.layer_s), ("token_s", efficiency.token_s)):
        _within(name, interval.low, 0, 60)
        _within(name, interval.high, interval.low, 60)


def _within(name: str, found: float, low: float, high: float) -> None:
    if not (math.isfinite(found) and low <= found <= high):
        raise GramError("bad_number", name=name, low=low, high=high, found=str(found))
