"""Which addresses may be asked: HTTPS, and plain HTTP for mirrors on this machine."""

from typing import Final
from urllib.parse import SplitResult, urljoin, urlsplit

_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_PORTS: Final = {"https": 443, "http": 80}


class NotSecureError(Exception):
    """An address, or one that a server sends on to, may not be asked."""


def check_address(url: str) -> None:
    """Whether it may be asked.

    Raises:
        NotSecureError: it is neither HTTPS nor plain HTTP to this machine, or it is no address.
    """
    parts = _split(url)
    if not parts.hostname:
        raise NotSecureError
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise NotSecureError


def is_here(url: str) -> bool:
    """Whether it is this machine's.

    Raises:
        NotSecureError: it is no address.
    """
    return _split(url).hostname in _LOOPBACK


def onward(url: str, target: str) -> str:
    """Where `url` sends on to by `target`, which may be relative.

    Raises:
        NotSecureError: it may not be asked, or a server elsewhere sends on to this machine.
    """
    try:
        reached = urljoin(url, target)
    except ValueError as e:
        raise NotSecureError from e
    check_address(reached)
    if is_here(reached) and not is_here(url):
        raise NotSecureError
    return reached


def origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port: what a token may be sent to."""
    parts = _split(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # read when asked for: it may be no number
    except ValueError as e:
        raise NotSecureError from e
    return parts
