"""The catalogue and the two profiles of estimates, read from the data files once."""

from functools import cache

from desktop import resources
from desktop.estimate import catalogue, page_tables
from desktop.estimate.counting import GramCounting
from desktop.estimate.page_tables import page_profile
from desktop.estimate.printed import GIB
from desktop.estimate.profile import Profile, ProfileId
from desktop.estimate.quant_row import DECENT
from desktop.records.estimate import Tier
from desktop.records.model import Model
from desktop.services import estimate_tables


@cache
def models() -> tuple[Model, ...]:
    """All models of the catalogue.

    Raises:
        GramError: `resource_damaged`.
    """
    return catalogue.read_models(resources.text(catalogue.MODELS))


def profile(name: ProfileId) -> Profile:
    """The tables of one profile.

    Raises:
        GramError: `resource_damaged`.
    """
    return compatibility_profile() if name is ProfileId.PAGE else own_profile()


@cache
def own_profile() -> Profile:
    """The profile `gram`.

    Raises:
        GramError: `resource_damaged`.
    """
    held_back = estimate_tables.held_back_rule()
    return Profile(
        id=ProfileId.GRAM,
        quants=estimate_tables.quants(),
        configurations=tuple(map(held_back.applied, estimate_tables.configurations())),
        targets=estimate_tables.known_targets(),
        tier=Tier.C,
        counting=GramCounting(),
        ceiling_with_cache=True,
        memory_unit_bytes=GIB,
        held_back=held_back,
        start_qualities=DECENT,
    )


@cache
def compatibility_profile() -> Profile:
    """The profile `page`.

    Raises:
        GramError: `resource_damaged`.
    """
    return page_profile(
        resources.text(page_tables.QUANTS),
        resources.text(page_tables.CONFIGURATIONS),
        resources.text(page_tables.TARGETS),
    )
