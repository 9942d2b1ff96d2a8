"""`gram estimate`: finds the model, the device and the quantization, and shows the page."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final, TypedDict, TypeVar, Unpack

import click

from desktop.cli import (
    EXIT_USAGE,
    device_show,
    estimate_json,
    estimate_show,
)
from desktop.cli.output import say_error, say_json
from desktop.errors import GramError
from desktop.estimate.catalogue import Keyed, find, suggestions
from desktop.estimate.device_page import device_page_of
from desktop.estimate.page import page_of, position_of
from desktop.estimate.profile import Profile, ProfileId
from desktop.estimate.sheet import check_suits, sheet_of
from desktop.records.estimate import Configuration
from desktop.records.model import Model, Quant
from desktop.services import profiles

_MISUSE: Final = frozenset(
    {"model_unknown", "model_near", "device_unknown", "device_near", "device_not_on_page"}
    | {"quant_unknown", "estimate_mixtures_only", "estimate_beyond_context", "bad_number"}
)
"""What another command line would mend; all else is told with the status of a failure."""
_K = TypeVar("_K", bound=Keyed)
THIS: Final = "this"
"""The device that is this machine."""
_ALIKE: Final = 0.5
"""Half of the letters in order: `that` for `this`."""


class Options(TypedDict):
    """The options of `gram estimate`."""

    device: str | None
    position: int | None
    quant: str | None
    find: str | None
    profile: str | None
    as_json: bool


def run(model: Sequence[str], **options: Unpack[Options]) -> int:
    """Show the list, a model's page or a device's; returns the exit status.

    Args:
        model: the words of its name; none: the list.
        options: as given.

    Raises:
        GramError: `resource_damaged`, and what counting may raise.
    """
    try:
        name = " ".join(model)
        if not all(word.strip() for word in model):
            raise click.UsageError("MODEL is empty: name one, or leave it out to list all.")
        if not model or options["find"] is not None:
            _refuse_without_model(options)
            _list(name, options["find"], as_json=options["as_json"])
        else:
            _show(name, options)
    except GramError as e:
        if e.code not in _MISUSE:
            raise
        say_error(e.reason, as_json=options["as_json"])
        return EXIT_USAGE
    return 0


def _refuse_without_model(options: Options) -> None:
    asked = (options["device"], options["quant"], options["position"], options["profile"])
    if any(option is not None for option in asked):
        told = "--device, --quant, --context and --profile are for the page of one MODEL"
        raise click.UsageError(f"{told}, not for the list.")


def _list(model: str, word: str | None, *, as_json: bool) -> None:
    words = " ".join(filter(None, (model, word))).casefold().split()
    found = tuple(m for m in profiles.models() if all(w in _names(m) for w in words))
    if words and not found:
        raise GramError("model_unknown", name=" ".join(words))
    if as_json:
        say_json(estimate_json.models(found))
    else:
        estimate_show.models(found)


def _names(model: Model) -> str:
    return " ".join((model.id, model.name, *model.aliases)).casefold()


def _show(name: str, options: Options) -> None:
    model = _found("model", name, profiles.models())
    profile = profiles.profile(ProfileId(options["profile"] or ProfileId.GRAM))
    quant = _quant(options["quant"], profile)
    if quant is not None:
        check_suits(quant, model)
    if _is_this(options["device"]):
        if profile.id is not ProfileId.GRAM:
            raise click.UsageError("--profile page knows its own devices, not this machine.")
        _show_here(model, quant, options)
        return
    if options["device"] is not None:
        _show_device(model, profile, quant, options)
        return
    quants = None if quant is None else (quant,)
    page = page_of(model, profile, profiles.models(), options["position"], quants)
    if options["as_json"]:
        say_json(estimate_json.model_page(page))
    else:
        estimate_show.model_page(page)


def _is_this(device: str | None) -> bool:
    return device is not None and device.strip().casefold() == THIS


def _show_here(model: Model, quant: Quant | None, options: Options) -> None:
    # reading this machine loads much that the catalogue's devices do not need
    from desktop.cli import estimate_here  # noqa: PLC0415

    position = position_of(model, options["position"])
    estimate_here.show(model, quant, position, as_json=options["as_json"])


def _show_device(model: Model, profile: Profile, quant: Quant | None, options: Options) -> None:
    device = _device(options["device"] or "", profile)
    quants = None if quant is None else (quant,)
    sheet = sheet_of(model, profile, position_of(model, options["position"]), quants)
    page = device_page_of(sheet, device, quant)
    if options["as_json"]:
        say_json(estimate_json.device_page(sheet, page))
    else:
        device_show.device_page(sheet, page)


def _device(name: str, profile: Profile) -> Configuration:
    """The device of that name; of one that another profile alone has it is told so."""
    if profile.id is not ProfileId.GRAM and find(name, profile.configurations) is None:
        elsewhere = find(name, profiles.own_profile().configurations)
        if elsewhere is not None:
            raise GramError("device_not_on_page", name=elsewhere.id)
    meant = (THIS,) if profile.id is ProfileId.GRAM and _is_like(name, THIS) else ()
    return _found("device", name, profile.configurations, meant)


def _is_like(name: str, word: str) -> bool:
    return bool(get_close_matches(name.strip().casefold(), (word,), cutoff=_ALIKE))


def _quant(name: str | None, profile: Profile) -> Quant | None:
    if name is None:
        return None
    found = find(name, profile.quants)
    if found is None:
        allowed = ", ".join(quant.label for quant in profile.ranked_quants)
        raise GramError("quant_unknown", name=name, allowed=allowed)
    return found


def _found(what: str, name: str, entries: tuple[_K, ...], meant: tuple[str, ...] = ()) -> _K:
    """The entry of that name; `meant` are words that are near to it and no entry's.

    Raises:
        GramError: `model_near`, `device_near` with names that are spelt alike or hold the word,
            else `model_unknown`, `device_unknown`.
    """
    found = find(name, entries)
    if found is not None:
        return found
    word = name.casefold()
    holding = [e.id for e in entries if len(word) > 1 and word in e.id.casefold()]
    near = list(dict.fromkeys((*meant, *suggestions(name, entries), *holding)))[:_MOST_NEAR]
    if near:
        raise GramError(f"{what}_near", name=name, near=", ".join(near))
    raise GramError(f"{what}_unknown", name=name)


_MOST_NEAR: Final = 8
