"""The reasons of an estimate: short labels, and the codes with what they speak of.

The sentence that says what a reason means is in `errors.CATALOGUE`, under the same code.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from desktop.errors import Param, Reason
from desktop.estimate import printed
from desktop.estimate.work import extra_layers
from desktop.records.estimate import Configuration, Efficiency, Target
from desktop.records.model import Model, Quant, SizeBasis, Weights

LABELS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "estimate_matched": "matched target",
        "estimate_class_unmeasured": "class not measured",
        "estimate_assumed": "assumed target",
        "estimate_experts": "few mixtures measured",
        "estimate_state": "few recurrent models measured",
        "estimate_latent": "few latent caches measured",
        "estimate_tables": "unpacking assumed",
        "estimate_outside_regime": "outside efficiency regime",
        "estimate_latency_zero": "exposed latency uncalibrated",
        "estimate_size_bits": "computed artifact size",
        "estimate_size_tensors": "size by tensors",
        "estimate_size_exact": "exact artifact size",
        "estimate_tight": "tight",
    }
)
"""In the order in which a row names them; the window translates them."""

SHORT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "estimate_no_target": "no back end for {quant}",
        "estimate_too_large": "even {quant} needs {need}",
        "estimate_does_not_fit": "needs {need}",
        "estimate_no_bandwidth": "bandwidth not known",
        "estimate_parts_busy": "bandwidth not known",
        "estimate_parts_doubtful": "bandwidth not known",
        "estimate_parts_lacking": "bandwidth not known",
        "estimate_no_arithmetic": "does not compute in {quant}",
        "estimate_fits_nowhere": "needs {need}",
        "estimate_card_lacks": "needs {need} on a card",
        "estimate_host_lacks": "needs {need} of the system's",
        "estimate_host_memory_unknown": "memory not known",
    }
)
"""In a table, why there is no range."""

ASSUMED: Final = "assumed"
"""The source of a target's figures that nobody measured (resources/estimate/README.md)."""
TABLES_FAMILY: Final = "gguf_iquant"
_SIZES: Final = {
    SizeBasis.BITS: "estimate_size_bits",
    SizeBasis.TENSORS: "estimate_size_tensors",
    SizeBasis.EXACT: "estimate_size_exact",
}


def of_range(
    model: Model, quant: Quant, weights: Weights, target: Target, efficiency: Efficiency
) -> tuple[Reason, ...]:
    """Why a range is as it is, in the order of `LABELS`."""
    found = [_of_class(target, efficiency), *_of_layers(model, efficiency)]
    if quant.family == TABLES_FAMILY and efficiency.weight_flop is not None:
        found.append(Reason("estimate_tables", {"quant": quant.label}))
    regime = efficiency.regime_bytes
    if regime and not regime.low <= weights.active_bytes <= regime.high:
        found.append(
            Reason("estimate_outside_regime", {"target": target.id, "family": quant.family})
        )
    if efficiency.layer_s.high == 0 and efficiency.token_s.high == 0:
        found.append(Reason("estimate_latency_zero", {"target": target.id}))
    return (*found, Reason(_SIZES[weights.basis], {"quant": quant.label}))


def _of_class(target: Target, efficiency: Efficiency) -> Reason:
    """How the back end is known on such devices."""
    code = "estimate_matched"
    if efficiency.source == ASSUMED:
        code = "estimate_assumed"
    elif target.measured_devices == 0:
        code = "estimate_class_unmeasured"
    return Reason(code, {"target": target.id})


def _of_layers(model: Model, efficiency: Efficiency) -> Iterator[Reason]:
    """Kinds of layers whose cost is known apart."""
    kinds = {kind for kind, _ in extra_layers(model.groups)}
    for kind, _ in efficiency.extra_layer_s:
        if kind in kinds:
            yield Reason(f"estimate_{kind}")


def no_target(quant: Quant, configuration: Configuration) -> Reason:
    """No back end of the device has a quantization; `quant` is the one that was preferred."""
    device, memory = printed.device(configuration)
    return Reason(
        "estimate_no_target",
        {"quant": quant.label, "memory": memory, "device": device, "id": configuration.id},
    )


def too_large(quant: Quant, need_bytes: int, configuration: Configuration, unit: int) -> Reason:
    """Nothing fits; `quant` is the one that needs least."""
    return Reason("estimate_too_large", _sizes(quant, need_bytes, configuration, unit))


def does_not_fit(quant: Quant, need_bytes: int, configuration: Configuration, unit: int) -> Reason:
    """One quantization needs more than can be used."""
    return Reason("estimate_does_not_fit", _sizes(quant, need_bytes, configuration, unit))


def tight(quant: Quant, need_bytes: int, configuration: Configuration, unit: int) -> Reason:
    """It fits, and leaves little free."""
    usable = configuration.usable_bytes
    return tight_on(quant.label, configuration.name, need_bytes, usable, unit)


def tight_on(quant: str, device: str, need_bytes: int, usable_bytes: int, unit: int) -> Reason:
    """The same of a device that is no configuration of the catalogue."""
    need, usable = printed.apart(need_bytes, usable_bytes, unit)
    told = {"quant": quant, "device": device, "need": need, "usable": usable}
    return Reason("estimate_tight", told)


def no_arithmetic(quant: Quant, configuration: Configuration) -> Reason:
    """The device has no arithmetic in the type that the quantization stores."""
    return Reason("estimate_no_arithmetic", {"quant": quant.label, "device": configuration.name})


def no_bandwidth(configuration: Configuration) -> Reason:
    """No source tells how fast its memory is."""
    return Reason("estimate_no_bandwidth", {"device": configuration.name})


def short(reason: Reason) -> str:
    """A few words for a table, in English; the whole sentence where there are none."""
    template = SHORT.get(reason.code)
    return reason.text() if template is None else template.format_map(dict(reason.params))


def meanings(given: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """One reason of each code in `given`, the first, by the alphabet of the labels."""
    first = {reason.code: reason for reason in reversed(given)}
    return tuple(sorted(first.values(), key=lambda reason: LABELS.get(reason.code, reason.code)))


def _sizes(
    quant: Quant, need_bytes: int, configuration: Configuration, unit_bytes: int
) -> dict[str, Param]:
    need, usable = printed.apart(need_bytes, configuration.usable_bytes, unit_bytes)
    return {
        "quant": quant.label,
        "device": configuration.name,
        "need": need,
        "usable": usable,
    }
