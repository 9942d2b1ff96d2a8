"""How the two profiles count bytes."""

from dataclasses import replace
from typing import Final

from desktop.estimate.cache import cache_read_bytes
from desktop.estimate.layers import layers_of
from desktop.estimate.profile import Side
from desktop.estimate.sizes import bits_weights
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


def _in_millions(count: int) -> int:
    return round(count / _MILLION) * _MILLION
