"""What a machine's memory allows of a token: all that it reads comes once over the bandwidth.

Of a build that caches may hold a part of nothing follows: it may be faster.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from desktop.estimate.calibration import Work
from desktop.rules.ggml_types import BLOCKS


@dataclass(frozen=True, slots=True)
class Memory:
    """A device's memory, as far as it bounds a token."""

    bandwidth_bytes_s: float
    cached_below_bytes: int
    """Of fewer weights that a token reads, caches may hold a part."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The least time for a token."""

    seconds: float
    holds: bool
    """False where caches may help, so that it may take less."""


def bound_of(works: Sequence[Work], memory: Mapping[str, Memory]) -> Bound:
    """The bound for one token.

    Args:
        works: of the devices, which work one after another.
        memory: by the device's name.

    Raises:
        KeyError: nothing is known of the memory of a device.
    """
    pairs = [(work, memory[work.device]) for work in works]
    return Bound(
        seconds=sum(_read_bytes(work) / found.bandwidth_bytes_s for work, found in pairs),
        holds=all(_weight_bytes(work) >= found.cached_below_bytes for work, found in pairs),
    )


def times_faster(works: Sequence[Work], memory: Mapping[str, Memory], token_s: float) -> float:
    """How many times the known bandwidths a token in `token_s` took; 0 where nothing follows."""
    if not all(work.device in memory for work in works):
        return 0.0
    bound = bound_of(works, memory)
    return bound.seconds / token_s if bound.holds else 0.0


def prompt_times_faster(works: Sequence[Work], flops: Mapping[str, float], token_s: float) -> float:
    """How many times the known arithmetic a prompt's token in `token_s` took; 0 as before.

    All is taken to be computed by the fastest device: what lies on the host may be sent there.

    Args:
        works: of the devices, for a prompt.
        flops: operations a second of large products, by the device's name.
        token_s: seconds for a token of the prompt.
    """
    fastest = max((flops.get(work.device, 0.0) for work in works), default=0.0)
    return sum(map(_operations, works)) / fastest / token_s if fastest else 0.0


def _operations(work: Work) -> float:
    """Two for each weight that a prompt's token is multiplied with, and those of attention.

    Of a type that ggml does not have, none: nothing follows from it.
    """
    sizes = work.bytes_by_type if work.prompt_bytes_by_type is None else work.prompt_bytes_by_type
    pairs = [(BLOCKS[kind], size) for kind, size in sizes.items() if kind in BLOCKS]
    weights = sum(size / block.block_bytes * block.block_elements for block, size in pairs)
    return 2 * weights + work.attention_flop


def with_reached(
    memory: Mapping[str, Memory], works: Sequence[Work], token_s: float
) -> Mapping[str, Memory]:
    """The same with the bandwidth that a token in `token_s` took: what was reached can be reached.

    Of several devices, which tell only their time together, each is as much faster.
    """
    faster = times_faster(works, memory, token_s)
    if faster <= 1:
        return memory
    raised = {
        name: replace(memory[name], bandwidth_bytes_s=faster * memory[name].bandwidth_bytes_s)
        for name in {work.device for work in works}
    }
    return {**memory, **raised}


def _weight_bytes(work: Work) -> float:
    return sum(work.bytes_by_type.values())


def _read_bytes(work: Work) -> float:
    return _weight_bytes(work) + work.cache_bytes
