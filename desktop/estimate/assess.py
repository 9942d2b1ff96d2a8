"""The estimate of one quantization on one configuration of a profile."""

from desktop.errors import GramError, Reason
from desktop.estimate import reasons
from desktop.estimate.ranking import Choice, Option
from desktop.estimate.sheet import PROMPT, Sheet, Works
from desktop.estimate.speed import (
    DeviceWork,
    decode_speed,
    first_token,
    prompt_speed,
    weights_ceiling,
)
from desktop.records.estimate import Configuration, Estimate


def estimate_of(sheet: Sheet, configuration: Configuration, choice: Choice) -> Estimate:
    """Of the best option of `choice`; without one, or without a bandwidth, the reason alone."""
    best = choice.best
    if best is None:
        return _none(sheet, configuration, None, choice.reason)
    return option_estimate(sheet, configuration, best)


def option_estimate(sheet: Sheet, configuration: Configuration, option: Option) -> Estimate:
    """Of one option, whether or not it fits; a rate only where it does."""
    if not option.fits:
        needed, unit = option.need_bytes, sheet.profile.memory_unit_bytes
        told = reasons.does_not_fit(option.quant, needed, configuration, unit)
        return _none(sheet, configuration, option, told)
    if configuration.bandwidth_bytes_s is None:
        return _none(sheet, configuration, option, reasons.no_bandwidth(configuration))
    try:
        return _estimate(sheet, configuration, option)
    except GramError as e:
        return _none(sheet, configuration, option, e.reason)


def _estimate(sheet: Sheet, configuration: Configuration, option: Option) -> Estimate:
    works, tokens = _works(sheet, configuration, option), sheet.use.prompt_tokens
    return Estimate(
        model=sheet.model.id,
        quant=option.quant.id,
        configuration=configuration.id,
        target=option.target.id,
        use=sheet.use,
        need=option.need,
        decode=decode_speed([works.token]),
        prompt=prompt_speed([works.prompt], PROMPT),
        first_token_s=first_token([works.whole], [works.token], tokens),
        tier=sheet.profile.tier,
        reasons=_reasons(sheet, configuration, option),
    )


def _reasons(sheet: Sheet, configuration: Configuration, option: Option) -> tuple[Reason, ...]:
    """Why the range is as it is, and whether little memory is left."""
    given = reasons.of_range(
        sheet.model, option.quant, option.weights, option.target, option.efficiency
    )
    rule = sheet.profile.held_back
    if rule is None or not rule.is_tight(option.need_bytes, configuration.usable_bytes):
        return given
    unit = sheet.profile.memory_unit_bytes
    return (*given, reasons.tight(option.quant, option.need_bytes, configuration, unit))


def ceiling_of_weights(sheet: Sheet, configuration: Configuration, option: Option) -> float:
    """Bandwidth ÷ active weights, tokens a second.

    Raises:
        GramError: `bad_number`.
    """
    return weights_ceiling([work_of(sheet, configuration, option)])


def work_of(sheet: Sheet, configuration: Configuration, option: Option) -> DeviceWork:
    """What the device has to do for each token: all of the model is on it."""
    return _works(sheet, configuration, option).token


def _works(sheet: Sheet, configuration: Configuration, option: Option) -> Works:
    return sheet.works(option.quant, option.weights, configuration, option.efficiency)


def _none(
    sheet: Sheet, configuration: Configuration, option: Option | None, reason: Reason | None
) -> Estimate:
    return Estimate(
        model=sheet.model.id,
        quant=option.quant.id if option else "",
        configuration=configuration.id,
        target=option.target.id if option else None,
        use=sheet.use,
        need=option.need if option else None,
        reasons=(reason,) if reason else (),
    )
