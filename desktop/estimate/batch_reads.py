"""Which weights one micro-batch of a prompt reads: each matrix once, of a mixture's those in use.

Each token chooses k of a layer's N experts, and n tokens together touch on average the share
1 − (1 − k/N)ⁿ of them, if each chooses evenly and without regard to the others. That routing is
uniform is an assumption: mixtures are trained towards it (a loss that balances the load), and text
on one subject touches fewer.
"""  # noqa: RUF002 - the minus that is meant

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from desktop.records.model import WeightPart, WeightUse

MICRO_BATCH: Final = 512
"""llama.cpp's default: so many tokens of a prompt are computed at once."""
_PLACES: Final = 6
"""Of a share: parts of one mixture differ in it by the rounding of their bytes."""


class Held(NamedTuple):
    """Weights of one type in memory."""

    type: str
    bytes: float
    share: float = 1.0
    """That one token reads, k/N of a mixture's experts: 0 to 1."""


def held_weights(parts: Iterable[WeightPart]) -> tuple[Held, ...]:
    """The parts together, by type and share; without the embedding, which is only looked up.

    Where a model's tensors are not known its parts hold experts and the rest alike, and all of a
    part is taken for experts.
    """
    found: Counter[tuple[str, float]] = Counter()
    for part in parts:
        if part.active_bytes and part.use is not WeightUse.EMBEDDING:
            found[part.type, round(part.active_bytes / part.bytes, _PLACES)] += part.bytes
    return tuple(Held(kind, size, share) for (kind, share), size in found.items())


def batch_bytes_by_type(held: Iterable[Held], tokens: int) -> dict[str, float]:
    """Bytes that a micro-batch of so many tokens is expected to read, by type."""
    read: dict[str, float] = {}
    for kind, size, share in held:
        read[kind] = read.get(kind, 0.0) + size * (1 - (1 - share) ** tokens)
    return read


def batch_bytes(held: Iterable[Held], tokens: int) -> float:
    """All of them together."""
    return sum(batch_bytes_by_type(held, tokens).values())


def batches(tokens: int, micro_batch: int = MICRO_BATCH) -> Iterator[tuple[int, int]]:
    """The sizes of a prompt's micro-batches, each with how often it comes."""
    whole, rest = divmod(tokens, micro_batch)
    if whole:
        yield micro_batch, whole
    if rest:
        yield rest, 1
