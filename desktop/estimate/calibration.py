"""What this machine's own measurements say of a build: the terms of its time for a token.

A token takes, on each device in its turn, the bytes of each type at that type's rate, the cache, a
fixed cost for each layer and one for the token. The rates are the machine's parts (tier B); its
runs narrow them (tier A, `residuals`).
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from desktop.estimate.batch_reads import Held, batch_bytes_by_type, batches
from desktop.estimate.residuals import Term
from desktop.estimate.trusted import is_trusted, spread_sd
from desktop.estimate.type_rates import TypeRate, rate_for, type_rates
from desktop.records.estimate import Interval
from desktop.records.model import WeightPart, WeightUse
from desktop.records.parts import PartRate, PartTest
from desktop.rules.ggml_types import BLOCKS

LAYER_GRAPHS: Final = 20.0
"""A layer's fixed cost on a processor, in small graphs: so many operations it has, and after each
of them all threads meet. What 18 builds here needed besides their bytes (docs/benchmarks.md)."""
_BESIDE_READING: Final = 1.07
"""On a processor a decode step's bytes take so much longer than the parts' products, which do
nothing between one and the next: what the same builds needed, 1.05 to 1.10."""
CARD_LAYER_GRAPHS: Final = 4.0
"""The same on a card, where a small graph is mostly the wait for its end, and a layer has none."""
_LAYER_SD: Final = 0.5
_CARD_LAYER_SD: Final = 0.8
_ARCHITECTURE_SD: Final = 0.3
"""Between the layers of one architecture and another's."""
_TOKEN_LAYERS: Final = 3.0
"""The fixed cost of a token in layers."""
_TOKEN_SD: Final = 1.0
_CACHE_SLOWER: Final = 1.5
"""Keys and values are read in more and smaller pieces than weights: 1 to 2.5 times as long a byte.
"""
_CACHE_SD: Final = 0.45
_SAVED: Final = 0.3
"""Of the time to read weights that the caches hold, on average over machines; 0 to 0.6."""
_SAVED_SD: Final = 1.0
_USUAL_CACHE_BYTES: Final = 32 << 20
"""A last-level cache of a desktop's processor, where the system does not tell."""
_NINETY: Final = 1.64
_WORTH_A_WORD: Final = 0.02
_PROMPT_SHARE: Final = 0.9
"""Of the rate of a large product of F16, that a prompt's products reach."""
_PROMPT_SD: Final = 0.3
_ATTENTION_SHARE: Final = 0.4
"""Of the same rate, that attention's products reach: they are smaller, with a softmax between."""
_ATTENTION_SD: Final = 0.5
_SHARPNESS: Final = 3.0
"""How a micro-batch's computing c and reading r add up: (c³ + r³)^⅓. Were either hidden behind the
other it would be the longer of the two (the catalogue's fast end), were neither their sum (its slow
end); this lies between, 1.26 times the longer where both are alike. Assumed: of a micro-batch of
one token, whose product is timed with its reading, the longer is right; of 512 computing alone is
left either way."""
_READING_SD: Final = 0.3
"""Of the reading, for that assumption and for the experts that are in use."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a token asks of one device."""

    device: str
    """The engine's name of it."""
    bytes_by_type: Mapping[str, float]
    """Weights that are read, by ggml's type."""
    layers: float
    """As `work.layer_units`: what costs more to launch counts for more."""
    architecture: str
    cache_bytes: float = 0.0
    """Keys, values and state that are read."""
    prompt_bytes_by_type: Mapping[str, float] | None = None
    """Weights that each token of a prompt is multiplied with; None: as for a generated one."""
    attention_flop: float = 0.0
    """Operations of attention for one token of a prompt, on average over it."""
    held: tuple[Held, ...] = ()
    """Weights that a prompt's micro-batches read. Empty: as `bytes_by_type`, all of it."""


@dataclass(frozen=True, slots=True)
class DeviceRates:
    """What is known of one device, with the threads that a run would use."""

    device: str
    types: Mapping[str, TypeRate]
    layer_s: float
    """Expected fixed cost of a layer."""
    layer_sd: float
    flops: float | None = None
    """Of a large product of F16."""
    flops_sd: float = 0.0
    """Relative standard deviation of `flops` as it was measured."""
    threads: int | None = None
    last_level_cache_bytes: int | None = None
    """None where the system does not tell."""


def device_rates(
    rates: Sequence[PartRate],
    device: str,
    threads: int | None,
    *,
    layer: Interval | None = None,
    last_level_cache_bytes: int | None = None,
) -> DeviceRates | None:
    """What the parts tell of a device; None where no type or no fixed cost is known surely enough.

    Args:
        rates: of the machine's parts.
        device: the engine's name of it.
        threads: of a processor; None of cards.
        layer: seconds of a layer by the catalogue of the device's class, for cards: their small
            graph tells of starting one, and a layer has many. None: by the small graph.
        last_level_cache_bytes: where the system tells.
    """
    types = type_rates(rates, device, threads)
    graph = _measured(rates, device, threads, PartTest.SMALL_GRAPH)
    fixed = _layer_of_class(layer) if layer is not None and layer.high > 0 else _layer(graph)
    if not types or fixed is None:
        return None
    product = _measured(rates, device, threads, PartTest.MATMUL_F16)
    return DeviceRates(
        device=device,
        types=types,
        layer_s=fixed[0],
        layer_sd=fixed[1],
        flops=product.median if product else None,
        flops_sd=spread_sd(product) if product else 0.0,
        threads=threads,
        last_level_cache_bytes=last_level_cache_bytes,
    )


def less_sure(known: DeviceRates, share: float) -> DeviceRates:
    """The same where all of it may be off by a share of itself, as beside other programs."""
    types = {kind: replace(r, sd=math.hypot(r.sd, share)) for kind, r in known.types.items()}
    layer_sd, flops_sd = math.hypot(known.layer_sd, share), math.hypot(known.flops_sd, share)
    return replace(known, types=types, layer_sd=layer_sd, flops_sd=flops_sd)


def bytes_by_type(parts: Iterable[WeightPart]) -> dict[str, float]:
    """What a token reads, by ggml's type."""
    read: Counter[str] = Counter()
    for part in parts:
        if part.active_bytes:
            read[part.type] += part.active_bytes
    return dict(read)


def inner_parts(parts: Iterable[WeightPart]) -> Iterator[WeightPart]:
    """Those that every token of a prompt is multiplied with: not the output matrix."""
    return (p for p in parts if p.use not in {WeightUse.OUTPUT, WeightUse.EMBEDDING})


def token_terms(works: Sequence[Work], rates: Mapping[str, DeviceRates]) -> dict[str, Term] | None:
    """The terms of a token's time; None where a device or a type is not known.

    Args:
        works: of the devices, which work one after another.
        rates: by the device's name.
    """
    terms: dict[str, Term] = {}
    for work in works:
        known = rates.get(work.device)
        if known is None or not set(work.bytes_by_type) <= set(BLOCKS):
            return None
        found = {**_reading(work, known), **_fixed(work, known)}
        terms |= {f"{work.device} {name}": term for name, term in found.items()}
    return terms or None


def prompt_terms(
    works: Sequence[Work], rates: Mapping[str, DeviceRates], tokens: int
) -> dict[str, Term] | None:
    """The terms of the time for one token of a prompt of `tokens`; None as `token_terms`.

    Two operations for each weight of the layers, at the rate of a large product; each type may be
    faster or slower by a share of its own. Beside it each micro-batch reads its weights once, at
    the rates of a generated token (`_SHARPNESS`), and pays the fixed costs of a token.
    """
    terms: dict[str, Term] = {}
    for work in works:
        known = rates.get(work.device)
        if known is None or known.flops is None or not set(work.bytes_by_type) <= set(BLOCKS):
            return None
        found = _products(work, known, known.flops, tokens)
        count = sum(often for _, often in batches(tokens))
        layers_s = count * work.layers * known.layer_s / tokens
        found["layers"] = Term(layers_s, known.layer_sd)
        if work.layers:
            found["token"] = Term(count * _TOKEN_LAYERS * known.layer_s / tokens, _TOKEN_SD)
        if work.attention_flop:
            seconds = work.attention_flop / (known.flops * _ATTENTION_SHARE)
            found["attention"] = Term(seconds, math.hypot(_ATTENTION_SD, known.flops_sd))
        terms |= {f"{work.device} {name}": term for name, term in found.items()}
    return terms or None


def batch_read_bytes(work: Work, tokens: int) -> float:
    """Bytes of weights that the micro-batches of a prompt read in all, as it is expected."""
    held = _held(work)
    return sum(
        often * sum(batch_bytes_by_type(held, size).values()) for size, often in batches(tokens)
    )


def unmeasured_types(works: Sequence[Work], rates: Mapping[str, DeviceRates]) -> tuple[str, ...]:
    """The types whose rate is taken from near ones, most bytes first.

    Norms and other vectors, which are a few thousandths of a build, are not worth a word.
    """
    read: Counter[str] = Counter()
    for work in works:
        known = rates.get(work.device)
        for kind, size in work.bytes_by_type.items():
            if known is not None and kind not in known.types:
                read[kind] += round(size)
    least = _WORTH_A_WORD * sum(sum(work.bytes_by_type.values()) for work in works)
    return tuple(kind for kind, size in read.most_common() if size >= least)


def _products(work: Work, known: DeviceRates, flops: float, tokens: int) -> dict[str, Term]:
    """Multiplying with the weights and reading them, for one token of a prompt.

    The sum of powers is of degree one, so it is the sum of both, each times how much it counts:
    its derivative. The terms add up to it and are as uncertain as it is.
    """
    inner = work.bytes_by_type if work.prompt_bytes_by_type is None else work.prompt_bytes_by_type
    computing = {
        kind: 2 * _elements(kind, size) / (flops * _PROMPT_SHARE) for kind, size in inner.items()
    }
    token_s, computed, read_s, read_sd = sum(computing.values()), 0.0, 0.0, 0.0
    for size, often in batches(tokens):
        in_batch = replace(work, bytes_by_type=batch_bytes_by_type(_held(work), size))
        reading = _reading(replace(in_batch, cache_bytes=0.0), known).values()
        batch_s, batch_read_s = size * token_s, sum(term.seconds for term in reading)
        both_s = (batch_s**_SHARPNESS + batch_read_s**_SHARPNESS) ** (1 / _SHARPNESS)
        if not both_s:
            continue
        computed += often * size / tokens * (batch_s / both_s) ** (_SHARPNESS - 1)
        counts = often / tokens * (batch_read_s / both_s) ** (_SHARPNESS - 1)
        read_s += counts * batch_read_s
        read_sd += counts * sum(abs(term.seconds) * term.sd for term in reading)
    sd = math.hypot(_PROMPT_SD, known.flops_sd)
    terms = {f"prompt {kind}": Term(computed * s, sd) for kind, s in computing.items()}
    if read_s:
        terms["reading"] = Term(read_s, math.hypot(_READING_SD, read_sd / read_s))
    return terms


def _held(work: Work) -> tuple[Held, ...]:
    return work.held or tuple(Held(kind, size) for kind, size in work.bytes_by_type.items())


def _reading(work: Work, known: DeviceRates) -> dict[str, Term]:
    terms = {}
    processor = known.threads is not None
    slower = _BESIDE_READING if processor else 1.0
    for kind, size in work.bytes_by_type.items():
        rate = rate_for(kind, known.types, processor=processor)
        terms[kind] = Term(size * rate.byte_s * slower, rate.sd)
    held = _held_by_caches(sum(work.bytes_by_type.values()), known.last_level_cache_bytes)
    if held:
        seconds = -_SAVED * held * sum(term.seconds for term in terms.values())
        terms["in caches"] = Term(seconds, _SAVED_SD)
    if work.cache_bytes:
        rate = rate_for("F16", known.types)
        terms["cache"] = Term(work.cache_bytes * rate.byte_s * _CACHE_SLOWER, _CACHE_SD)
    return terms


def _fixed(work: Work, known: DeviceRates) -> dict[str, Term]:
    seconds = work.layers * known.layer_s
    if not seconds:
        return {}
    # the same seconds may be wrong in two ways: as all layers here are, and as this kind's are
    return {
        "layers": Term(seconds, known.layer_sd),
        f"layers of {work.architecture}": Term(seconds, _ARCHITECTURE_SD, counted=False),
        "token": Term(_TOKEN_LAYERS * known.layer_s, _TOKEN_SD),
    }


def _held_by_caches(read_bytes: float, last_level_cache_bytes: int | None) -> float:
    """How much of what a token reads is still in the caches from the one before: 0 to 1.

    All of it where it fits, nothing from twice the cache on: what is read in turn drives out what
    will be read next.
    """
    size = last_level_cache_bytes or _USUAL_CACHE_BYTES
    return min(1.0, max(0.0, 2 - read_bytes / size))


def _layer_of_class(layer: Interval) -> tuple[float, float]:
    """Expected seconds of a layer, and their relative standard deviation, by the catalogue."""
    middle = (layer.low + layer.high) / 2
    return middle, max(0.1, (layer.high - layer.low) / 2 / _NINETY / middle)


def _layer(graph: PartRate | None) -> tuple[float, float] | None:
    """The same by the small graph; None where there is none."""
    if graph is None:
        return None
    on_card = graph.threads is None
    graphs, sd = (CARD_LAYER_GRAPHS, _CARD_LAYER_SD) if on_card else (LAYER_GRAPHS, _LAYER_SD)
    return graphs * graph.median, math.hypot(sd, spread_sd(graph))


def _measured(
    rates: Sequence[PartRate], device: str, threads: int | None, test: PartTest
) -> PartRate | None:
    """The part, if it was measured surely enough."""
    wanted = (device, threads, test)
    found = (r for r in rates if (r.device, r.threads, r.test) == wanted and is_trusted(r))
    return next(found, None)


def _elements(kind: str, size_bytes: float) -> float:
    block = BLOCKS[kind]
    return size_bytes / block.block_bytes * block.block_elements
