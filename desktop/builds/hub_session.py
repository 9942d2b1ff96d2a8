"""Connections to one Hugging Face or mirror of it: who gets the token, and where redirects may go.

requests' own way with redirects reads their bodies whole, however large, and asks an address before
it can be looked at; here each step is checked first, and bodies are left where they are.
"""

import re
from collections.abc import Mapping
from http.cookiejar import DefaultCookiePolicy
from typing import Any, Final

import requests
from requests.auth import AuthBase

from desktop.builds.addresses import NotSecureError, check_address, onward, origin
from desktop.builds.names import HUB
from desktop.builds.reference import ENDPOINT_VARIABLE
from desktop.errors import BuildError

MOST_REDIRECTS: Final = 8
_TOKEN: Final = re.compile(r"[\x21-\x7e]{1,512}")


def endpoint_of(environment: Mapping[str, str]) -> str:
    """The address of Hugging Face, or of the mirror that `HF_ENDPOINT` names.

    Raises:
        BuildError: `hub_address`.
    """
    told = environment.get(ENDPOINT_VARIABLE, "").strip()
    return _endpoint(told) if told else HUB


def host_of(endpoint: str) -> str:
    """The host as people know it, for sentences."""
    return origin(endpoint)[1]


class HubSession(requests.Session):
    """Asks `endpoint`, and follows it to the hosts that hold its files.

    The token goes to the endpoint's scheme, host and port and nowhere else. No cookies are kept.
    """

    def __init__(self, endpoint: str, token: str | None = None) -> None:
        super().__init__()
        self.endpoint: Final = _endpoint(endpoint)
        if token is not None and not _TOKEN.fullmatch(token):
            raise BuildError("hub_token", host=host_of(self.endpoint))
        self._key: Final = _Key(self.endpoint, token)
        # also without a token: requests would look for one of this host in ~/.netrc
        self.auth = self._key
        self.headers["Accept-Encoding"] = "identity"  # so that sizes are what they seem
        self.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))

    @property
    def has_token(self) -> bool:
        """Whether there is a token to send."""
        return self._key.has_token

    def get_redirect_target(self, resp: requests.Response) -> str | None:  # noqa: ARG002
        """None: `send` follows, not requests."""
        return None

    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        """Send, and follow redirects.

        Raises:
            NotSecureError: it is sent on to an address that may not be asked.
            requests.RequestException: as usual.
        """
        passed: list[requests.Response] = []
        for _ in range(MOST_REDIRECTS + 1):
            response = super().send(request, **kwargs)
            target = super().get_redirect_target(response)
            response.history = passed
            if target is None:
                return response
            response.close()
            passed = [*passed, response]
            request = self._onward(request, response, target)
            proxies = kwargs.get("proxies")
            kwargs["proxies"] = self.rebuild_proxies(request, proxies)  # type: ignore[no-untyped-call]
        raise requests.TooManyRedirects

    def _onward(
        self, request: requests.PreparedRequest, response: requests.Response, target: str
    ) -> requests.PreparedRequest:
        following = request.copy()
        following.headers.pop("Authorization", None)
        following.prepare_url(onward(response.url, target), None)
        return self._key(following)


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


def _endpoint(told: str) -> str:
    """As told, without what is not an address's start; what it holds of passwords is not shown."""
    address = told.rstrip("/")
    try:
        check_address(address)
    except NotSecureError as e:
        raise BuildError("hub_address") from e
    if not address.isascii() or any(c in address for c in "@?#\\ ") or not address.isprintable():
        raise BuildError("hub_address")
    return address
