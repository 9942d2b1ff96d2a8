"""How the two profiles count bytes."""

from dataclasses import replace
from typing import Final

from desktop.estimate.cache import cache_read_bytes, layer_cache_bytes
from desktop.estimate.layers import layers_of
from desktop.estimate.memory import needs
from desktop.estimate.offered import computes
from desktop.estimate.placement import ON_HOST, ON_ONE_CARD
from desktop.estimate.profile import Side
from desktop.estimate.sizes import bits_weights, weights_of
from desktop.records.estimate import Configuration, MemoryNeed, Use
from desktop.records.model import Model, Quant, Weights

_MILLION: Final = 10**6


class PageCounting:
    """As an existing network's page counts (resources/estimate/page/README.md)."""

    def model(self, model: Model) -> Model:
        """With parameters in billions of three decimals."""
        active = model.active_parameters
        return replace(
            model,
            parameters=_in_millions(model.parameters),
            active_parameters=None if active is None else _in_millions(active),
        )

    def weights(self, model: Model, quant: Quant) -> Weights:
        """Parameters x bits ÷ 8."""
        return bits_weights(model, quant)

    def need(self, model: Model, weights: Weights, use: Use, side: Side) -> MemoryNeed:  # noqa: ARG002
        """Weights and the keys and values of the tokens so far; the same on every device.

        Raises:
            GramError: the model's cache cannot be counted.
        """
        return MemoryNeed(weights.capacity_bytes, cache_read_bytes(model, use), compute_bytes=0)

    def layer_cache(self, model: Model, use: Use) -> tuple[int, ...]:
        """Of the tokens so far.

        Raises:
            GramError: the model's cache cannot be counted.
        """
        return tuple(
            cache_read_bytes(replace(model, groups=(replace(layer, layers=1, indices=()),)), use)
            for layer in layers_of(model)
        )

    def runs(self, quant: Quant, configuration: Configuration) -> bool:  # noqa: ARG002
        """Always: that page does not ask in which types a device computes."""
        return True


class GramCounting:
    """As llama.cpp allocates and reads."""

    def model(self, model: Model) -> Model:
        """As it is."""
        return model

    def weights(self, model: Model, quant: Quant) -> Weights:
        """By the model's tensors where they are known, else by bits per weight."""
        return weights_of(model, quant)

    def need(self, model: Model, weights: Weights, use: Use, side: Side) -> MemoryNeed:
        """On the card; or on card and host together, where both have one memory.

        Raises:
            GramError: as `memory.needs`.
        """
        if side is Side.HOST:
            return needs(model, weights, use, ON_HOST).host
        needed = needs(model, weights, use, ON_ONE_CARD)
        card = needed.cards[0]
        return _together(card, needed.host) if side is Side.SHARED else card

    def layer_cache(self, model: Model, use: Use) -> tuple[int, ...]:
        """Padded, as it is set aside.

        Raises:
            GramError: the model's cache cannot be counted.
        """
        return layer_cache_bytes(model, use)

    def runs(self, quant: Quant, configuration: Configuration) -> bool:
        """As `offered.computes`."""
        return computes(quant, configuration)


def _together(one: MemoryNeed, other: MemoryNeed) -> MemoryNeed:
    return MemoryNeed(
        one.weights_bytes + other.weights_bytes,
        one.cache_bytes + other.cache_bytes,
        one.compute_bytes + other.compute_bytes,
        one.output_bytes + other.output_bytes,
        one.extra_bytes + other.extra_bytes,
    )


def _in_millions(count: int) -> int:
    return round(count / _MILLION) * _MILLION
