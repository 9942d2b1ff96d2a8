"""Connections to one Hugging Face or mirror of it: who gets the token."""

import re
from typing import Final

import requests
from requests.auth import AuthBase

from desktop.builds.addresses import origin
from desktop.builds.careful_session import CarefulSession
from desktop.builds.endpoints import as_endpoint, host_of
from desktop.errors import BuildError

_TOKEN: Final = re.compile(r"[\x21-\x7e]{1,512}")


class HubSession(CarefulSession):
    """Asks `endpoint`, and follows it to the hosts that hold its files.

    The token goes to the endpoint's scheme, host and port and nowhere else.
    """

    def __init__(self, endpoint: str, token: str | None = None) -> None:
        super().__init__()
        self.endpoint: Final = as_endpoint(endpoint)
        if token is not None and not _TOKEN.fullmatch(token):
            raise BuildError("hub_token", host=host_of(self.endpoint))
        self._key: Final = _Key(self.endpoint, token)
        # also without a token: requests would look for one of this host in ~/.netrc
        self.auth = self._key

    @property
    def has_token(self) -> bool:
        """Whether there is a token to send."""
        return self._key.has_token

    def rebuild_auth(
        self,
        prepared_request: requests.PreparedRequest,
        response: requests.Response,  # noqa: ARG002
    ) -> None:
        """The token of what follows a redirect: decided anew by its address."""
        prepared_request.headers.pop("Authorization", None)
        self._key(prepared_request)


class _Key(AuthBase):
    """Adds the token to what goes to the endpoint."""

    def __init__(self, endpoint: str, token: str | None) -> None:
        self._origin, self._token = origin(endpoint), token

    @property
    def has_token(self) -> bool:
        return self._token is not None

    def __call__(self, r: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token is not None and origin(r.url or "") == self._origin:
            r.headers["Authorization"] = f"Bearer {self._token}"
        return r
