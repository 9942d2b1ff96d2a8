"""The catalogue and the two profiles of estimates, read from the data files once."""

from functools import cache

from desktop import resources
from desktop.estimate import catalogue, page_tables
from desktop.estimate.page_tables import page_profile
from desktop.estimate.profile import Profile
from desktop.records.model import Model


@cache
def models() -> tuple[Model, ...]:
    """All models of the catalogue.

    Raises:
        GramError: `resource_damaged`.
    """
    return catalogue.read_models(resources.text(catalogue.MODELS))


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
