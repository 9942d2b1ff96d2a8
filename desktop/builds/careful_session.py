"""Connections that look before they follow: each redirect is checked before it is asked.

requests' own way with redirects reads their bodies whole, however large, and asks an address before
it can be looked at; here each step is checked first, and bodies are left where they are.
"""

from collections.abc import Mapping
from http.cookiejar import DefaultCookiePolicy
from typing import Any, Final

import requests

from desktop.builds.addresses import is_here, onward
from desktop.builds.proxies import usable

MOST_REDIRECTS: Final = 8


class CarefulSession(requests.Session):
    """Follows to where files are held. No cookies are kept."""

    def __init__(self) -> None:
        super().__init__()
        self.headers["Accept-Encoding"] = "identity"  # so that sizes are what they seem
        self.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))

    def get_redirect_target(self, resp: requests.Response) -> str | None:  # noqa: ARG002
        """None: `send` follows, not requests."""
        return None

    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        """Send, and follow redirects.

        Raises:
            NotSecureError: it is sent on to an address that may not be asked.
            BuildError: `proxy_unusable`, `proxy_socks`.
            requests.RequestException: as usual.
        """
        passed: list[requests.Response] = []
        proxies = kwargs.pop("proxies", None) or {}
        for _ in range(MOST_REDIRECTS + 1):
            by = _way(request, proxies)
            response = super().send(request, proxies=by, **kwargs)
            target = super().get_redirect_target(response)
            response.history = passed
            if target is None:
                return response
            response.close()
            passed = [*passed, response]
            request = self._onward(request, response, target)
            proxies = self.rebuild_proxies(request, proxies)  # type: ignore[no-untyped-call]
        raise requests.TooManyRedirects

    def _onward(
        self, request: requests.PreparedRequest, response: requests.Response, target: str
    ) -> requests.PreparedRequest:
        following = request.copy()
        following.prepare_url(onward(response.url, target), None)
        self.rebuild_auth(following, response)  # type: ignore[no-untyped-call]
        return following


def _way(request: requests.PreparedRequest, proxies: Mapping[str, str]) -> dict[str, str]:
    """The proxies to ask by: none where this machine is asked.

    There plain HTTP is allowed, which a proxy would read, token and all.
    """
    url = request.url or ""
    if is_here(url):
        request.headers.pop("Proxy-Authorization", None)
        return {}
    return usable(url, proxies)
