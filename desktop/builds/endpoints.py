"""Which Hugging Face, or mirror of it, is meant. Needs no library for connections."""

from collections.abc import Mapping

from desktop.builds.addresses import NotSecureError, check_address, origin
from desktop.builds.names import HUB
from desktop.builds.reference import ENDPOINT_VARIABLE
from desktop.errors import BuildError


def endpoint_of(environment: Mapping[str, str]) -> str:
    """The address of Hugging Face, or of the mirror that `HF_ENDPOINT` names.

    Raises:
        BuildError: `hub_address`.
    """
    told = environment.get(ENDPOINT_VARIABLE, "").strip()
    return as_endpoint(told) if told else HUB


def host_of(endpoint: str) -> str:
    """The host as people know it, for sentences."""
    return origin(endpoint)[1]


def as_endpoint(told: str) -> str:
    """As told, without what is not an address's start; what it holds of passwords is not shown."""
    address = told.rstrip("/")
    try:
        check_address(address)
    except NotSecureError as e:
        raise BuildError("hub_address") from e
    if not address.isascii() or any(c in address for c in "@?#\\ ") or not address.isprintable():
        raise BuildError("hub_address")
    return address
