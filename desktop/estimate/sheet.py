"""One model at one depth under one profile: what does not depend on the device, counted once."""

from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from desktop.errors import GramError
from desktop.estimate.cache import cache_read_bytes
from desktop.estimate.profile import Profile, Side
from desktop.estimate.speed import DeviceWork
from desktop.estimate.work import device_work, prompt_work
from desktop.records.estimate import Configuration, Efficiency, MemoryNeed, Use
from desktop.records.model import Model, Quant, Weights

MAX_POSITION: Final = 1 << 24
"""The most tokens before the one that is generated; the longest context today is 10 million."""
PROMPT: Final = 512
"""Tokens of the prompt whose speed is told."""


class Works(NamedTuple):
    """What one device has to do."""

    token: DeviceWork
    """For a generated token."""
    prompt: DeviceWork
    """For a prompt of 512 tokens."""
    whole: DeviceWork
    """For a prompt as long as the depth, and of one token at least."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """The bytes of one model in each quantization."""

    profile: Profile
    model: Model
    """As the profile takes it."""
    use: Use
    cache_read_bytes: int
    """Of keys, values and state, for one token at `use.depth`."""
    weights: tuple[tuple[Quant, Weights], ...]
    """The best quality first."""
    _needs: dict[tuple[str, Side], tuple[MemoryNeed, int]] = field(default_factory=dict, repr=False)
    _works: dict[str, Works] = field(default_factory=dict, repr=False)

    def need(self, quant: Quant, weights: Weights, side: Side) -> tuple[MemoryNeed, int]:
        """Without a back end's overhead, and its sum; counted once for each sort of device.

        Raises:
            GramError: the model's cache cannot be counted.
        """
        key = (quant.id, side)
        if key not in self._needs:
            need = self.profile.counting.need(self.model, weights, self.use, side)
            self._needs[key] = need, need.total_bytes
        return self._needs[key]

    def works(
        self, quant: Quant, weights: Weights, configuration: Configuration, efficiency: Efficiency
    ) -> Works:
        """What a device that holds all of the model has to do; what no device changes, once."""
        if quant.id not in self._works:
            self._works[quant.id] = self._first_works(weights, configuration, efficiency)
        device: dict[str, Any] = {
            "bandwidth_bytes_s": configuration.bandwidth_bytes_s,
            "shader_flops": configuration.shader_flops,
            "efficiency": efficiency,
        }
        return Works(*(replace(work, **device) for work in self._works[quant.id]))

    def _first_works(
        self, weights: Weights, configuration: Configuration, efficiency: Efficiency
    ) -> Works:
        cache, tokens = self.cache_read_bytes, self.use.prompt_tokens
        token = device_work(self.model, weights, cache, configuration, efficiency)
        usual = Use(context=PROMPT, depth=PROMPT)
        whole = Use(context=tokens, depth=tokens)
        prompts = (prompt_work(token, self.model, weights, use) for use in (usual, whole))
        return Works(token, *prompts)


def sheet_of(
    model: Model, profile: Profile, position: int, quants: tuple[Quant, ...] | None = None
) -> Sheet:
    """Count the bytes of `model`.

    Args:
        model: of the catalogue.
        profile: whose constants.
        position: tokens in the cache while one is generated.
        quants: only these; None: all of the profile that are made for such a model.

    Raises:
        GramError: as `use_at` and `check_suits`; `layers_unclear`, `header_lacks`.
    """
    use = use_at(model, position)
    counted = profile.counting.model(model)
    chosen = quants or tuple(q for q in profile.ranked_quants if q.suits(model))
    for quant in chosen:
        check_suits(quant, model)
    weights = tuple((quant, profile.counting.weights(counted, quant)) for quant in chosen)
    return Sheet(profile, counted, use, cache_read_bytes(counted, use), weights)


def check_suits(quant: Quant, model: Model) -> None:
    """Refuse a quantization that is not made for such a model.

    Raises:
        GramError: `estimate_mixtures_only`.
    """
    if not quant.suits(model):
        raise GramError("estimate_mixtures_only", quant=quant.label)


def use_at(model: Model, position: int) -> Use:
    """A token is generated while `position` are in the cache, which has room for it besides.

    At the full context the token is the last that the cache takes.

    Raises:
        GramError: `bad_number` for a position below 0 or beyond 2²⁴; `estimate_beyond_context` for
            one beyond what the model is trained for.
    """
    if not 0 <= position <= MAX_POSITION:
        raise GramError("bad_number", name="context", low=0, high=MAX_POSITION, found=position)
    trained = model.context_trained
    if trained is not None and position > trained:
        raise GramError("estimate_beyond_context", name=model.name, trained=trained, found=position)
    depth = position - 1 if position == trained else position
    return Use(context=depth + 1, depth=depth)
