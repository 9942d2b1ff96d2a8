"""How much of a build fits: the longest context, the most layers on cards."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from desktop.estimate.memory import Needs, needs
from desktop.estimate.placement import Placement
from desktop.estimate.use import CONTEXT_STEP, padded
from desktop.records.estimate import Use
from desktop.records.model import Model, Weights


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes that are free."""

    cards: tuple[int, ...]
    host: int | None = None
    """None: not asked about."""
    margin_bytes: int = 0
    """Kept free on each card, also on those of other machines: what a back end holds for itself,
    and what others may take meanwhile."""


@dataclass(frozen=True, slots=True)
class Build:
    """What is to run, and what runs beside it."""

    model: Model
    weights: Weights
    beside: tuple[Needs, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to run a build that fits."""

    use: Use
    placement: Placement
    needs: Needs


def fits(needed: Needs, room: Room) -> bool:
    """Whether every card, and the host where asked about, holds what it has to."""
    cards = zip(needed.cards, room.cards, strict=True)
    held = all(need.total_bytes <= free - room.margin_bytes for need, free in cards)
    return held and (room.host is None or needed.host.total_bytes <= room.host)


def longest_context(build: Build, use: Use, placement: Placement, room: Room) -> int | None:
    """The longest context, at most that of `use`, that fits; None when not even 256 tokens do.

    Contexts are whole multiples of 256, as the engine rounds them. The depth is cut with it.

    Raises:
        GramError: as `needs`.
    """
    low, high = 0, padded(use.context) // CONTEXT_STEP
    while low < high:
        middle = (low + high + 1) // 2
        if fits(_needs(build, _with_context(use, middle * CONTEXT_STEP), placement), room):
            low = middle
        else:
            high = middle - 1
    return min(low * CONTEXT_STEP, use.context) or None


def most_layers(build: Build, use: Use, placement: Placement, room: Room) -> int | None:
    """The most layers on cards, as `--n-gpu-layers` counts them, that fit; None when not even 0.

    Tried from all downwards: a part of the layers can need more scratch on a card than all do,
    because the card then copies weights of the host.

    Raises:
        GramError: as `needs`.
    """
    total = build.model.layers + build.model.predict_layers + 1
    for count in range(total, -1, -1):
        if fits(_needs(build, use, replace(placement, gpu_layers=count)), room):
            return count
    return None


def choices(build: Build, use: Use, placement: Placement, room: Room) -> tuple[Choice, ...]:
    """The ways to run it, the fastest first: whole, else with a shorter context, else in part.

    A shorter context comes before layers on the host, which cost more speed (public case B21).
    Empty when it does not fit at all.

    Raises:
        GramError: as `needs`.
    """
    found: list[tuple[Use, Placement]] = []
    whole = replace(placement, gpu_layers=None)
    context = longest_context(build, use, whole, room)
    if context is not None:
        found.append((_with_context(use, context), whole))
    if context != use.context:
        layers = most_layers(build, use, placement, room)
        if layers is not None:
            found.append((use, replace(placement, gpu_layers=layers)))
    return tuple(Choice(u, p, _needs(build, u, p)) for u, p in found)


def by_free_bytes(free_bytes: Sequence[int]) -> Placement:
    """All layers on the cards, shared out by what is free, as llama.cpp does unless told."""
    return Placement(shares=tuple(float(free) for free in free_bytes))


def _needs(build: Build, use: Use, placement: Placement) -> Needs:
    return needs(build.model, build.weights, use, placement, build.beside)


def _with_context(use: Use, context: int) -> Use:
    context = min(context, use.context)
    return replace(use, context=context, depth=min(use.depth, context))
