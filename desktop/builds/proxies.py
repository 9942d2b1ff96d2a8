"""Which proxies can be asked by, looked at before one is.

requests takes them from the environment (`HTTPS_PROXY`, `ALL_PROXY`, without `NO_PROXY`), else from
the system's settings on Windows and macOS: its `utils.get_environ_proxies` calls Python's
`urllib.request.getproxies`.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

from requests.utils import select_proxy
from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from desktop.errors import BuildError

_HTTP: Final = frozenset({"http", "https"})
_SOCKS: Final = frozenset({"socks4", "socks4a", "socks5", "socks5h"})
_SOCKS_MODULE: Final = "socks"
"""PySocks's; requests knows SOCKS where it is installed."""


def usable(url: str, proxies: Mapping[str, str]) -> dict[str, str]:
    """The proxies, each with its scheme, if the one for `url` can be asked.

    Args:
        url: what is asked for.
        proxies: by scheme, as requests has them.

    Raises:
        BuildError: `proxy_unusable`, `proxy_socks`; nothing of the address is in them, since it may
            hold a password.
    """
    # as curl does; requests takes the host of `localhost:3128` for a scheme
    whole = {
        key: told if "://" in told else f"http://{told}" for key, told in proxies.items() if told
    }
    chosen = select_proxy(url, whole)
    if chosen is not None:
        _check(chosen)
    return whole


def _check(told: str) -> None:
    try:
        proxy = parse_url(told)
    except LocationParseError:
        # the cause names the whole address
        raise BuildError("proxy_unusable") from None
    if proxy.scheme in _SOCKS and proxy.host:
        if find_spec(_SOCKS_MODULE) is None:
            raise BuildError("proxy_socks")
    elif proxy.scheme not in _HTTP or not proxy.host:
        raise BuildError("proxy_unusable")
