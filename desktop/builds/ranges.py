"""One answer of a server for a part of a file: asked for, checked, and read.

What may come right by asking again is a `FaultError`; what will not is a `RefusedError` with its
reason. Proxies are taken from the environment. HTTPS only; plain HTTP is for mirrors on this
machine.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import requests
import urllib3

from desktop.builds.addresses import NotSecureError, check_address
from desktop.builds.reference import Wanted
from desktop.errors import BuildError

CONNECT_TIMEOUT_S: Final = 5.0
READ_TIMEOUT_S: Final = 20.0
BLOCK_BYTES: Final = 1 << 16
"""Of larger ones the C library gets memory from the system each time, which costs more than they
save."""
_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_RANGE: Final = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)")
_LONGEST_WAIT_S: Final = 120.0
_PROXY_407: Final = "Tunnel connection failed: 407"
"""Python's http.client on a proxy's answer to CONNECT."""
PAGE: Final = "a web page came instead of the file (does this network ask you to sign in?)"


class FaultError(Exception):
    """The connection or the server failed; the next try may do better."""

    def __init__(self, words: str, after_s: float | None = None) -> None:
        """Say what went wrong, and how long the server wants to be left alone."""
        super().__init__(words)
        self.after_s = after_s


class RefusedError(Exception):
    """No other try will do better."""

    def __init__(self, error: BuildError) -> None:
        """Keep what the person is told."""
        super().__init__(str(error))
        self.error = error


@dataclass(frozen=True, slots=True)
class Answer:
    """The bytes of a file from `start` on."""

    start: int
    ranged: bool
    """The server sends what was asked for; else the whole file."""
    blocks: Iterator[bytes]
    cut: Callable[[], None]
    """Ends the reading of another thread, which then gets a `FaultError`."""


@contextmanager
def asked(session: requests.Session, wanted: Wanted, start: int, end: int) -> Iterator[Answer]:
    """Ask for bytes `start` to `end` (not included).

    A server that knows no ranges answers from 0 on.

    Raises:
        FaultError, RefusedError: as told above, also while blocks are read.
    """
    headers = {"Accept-Encoding": "identity", "Range": f"bytes={start}-{end - 1}"}
    try:
        check_address(wanted.url)
        with session.get(
            wanted.url,
            stream=True,
            timeout=(CONNECT_TIMEOUT_S, READ_TIMEOUT_S),
            headers=headers,
        ) as response:
            found = _start(response, wanted, start)
            ranged = response.status_code == requests.codes.partial_content
            yield Answer(found, ranged, _blocks(response), response.raw.shutdown)
    except (requests.RequestException, urllib3.exceptions.HTTPError) as e:
        raise FaultError(fault_words(e)) from e
    except NotSecureError as e:
        raise RefusedError(_failed(wanted, "its address is not HTTPS")) from e


def _start(response: requests.Response, wanted: Wanted, start: int) -> int:
    for step in (*response.history, response):
        check_address(step.url)
    status = response.status_code
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise FaultError("the server packs what it sends")
    if response.headers.get("Content-Type", "").startswith("text/html") and status < 400:  # noqa: PLR2004
        raise RefusedError(_failed(wanted, PAGE))
    if status == requests.codes.ok:
        _check_size(wanted, declared_bytes(response))
        return 0
    if status == requests.codes.partial_content:
        return _ranged(response, wanted, start)
    raise _status(response, wanted)


def _ranged(response: requests.Response, wanted: Wanted, start: int) -> int:
    found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if found is None:
        raise FaultError("the server does not say which part of the file it sends")
    if found[3] != "*":
        _check_size(wanted, int(found[3]))
    if int(found[1]) != start:
        raise FaultError("the server sent another part of the file than was asked for")
    return start


def declared_bytes(response: requests.Response) -> int | None:
    """The length of the body as the server declares it; None where it does not.

    Of a number that no file has, its first digits: the size differs either way.
    """
    declared = response.headers.get("Content-Length", "")
    return int(declared[:18]) if declared.isdecimal() else None


def _check_size(wanted: Wanted, found: int | None) -> None:
    if found == 0:
        raise FaultError("the server sent nothing")
    if found is not None and found != wanted.size_bytes:
        detail = f"the server offers {found} bytes instead of {wanted.size_bytes}"
        raise RefusedError(_failed(wanted, detail))


def _status(response: requests.Response, wanted: Wanted) -> Exception:
    status = response.status_code
    if status in {401, 403}:
        return RefusedError(_gated(wanted))
    if status in {404, 410}:
        return RefusedError(BuildError("download_gone", name=wanted.name))
    if status == requests.codes.range_not_satisfiable:
        return RefusedError(_failed(wanted, "the server's file is shorter than it should be"))
    words = f"the server answered {status}"
    if status in _AGAIN:
        return FaultError(words, wait_told_s(response.headers.get("Retry-After", "")))
    return RefusedError(_failed(wanted, words))


def wait_told_s(told: str) -> float | None:
    """`Retry-After`, in seconds or as a date; no longer than anybody waits."""
    if told.isdecimal():
        return min(float(told[:9]), _LONGEST_WAIT_S)
    try:
        wait_s = (parsedate_to_datetime(told) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return None
    return min(max(wait_s, 0.0), _LONGEST_WAIT_S)


def _blocks(response: requests.Response) -> Iterator[bytes]:
    """The body as it comes: a slow server's few bytes are not held back until a block is full."""
    while block := response.raw.read1(BLOCK_BYTES):
        yield block


def _gated(wanted: Wanted) -> BuildError:
    """With the page at which its terms are agreed to, where the address tells it."""
    page, found, _ = wanted.url.partition("/resolve/")
    if not found:
        return BuildError("download_gated", name=wanted.name, page="its page")
    return BuildError("download_gated", name="/".join(page.split("/")[-2:]), page=page)


def _failed(wanted: Wanted, detail: str) -> BuildError:
    return BuildError("download_failed", name=wanted.name, detail=detail)


def fault_words(error: Exception) -> str:
    """What went wrong, without addresses and internals."""
    if isinstance(error, requests.exceptions.ProxyError) and _PROXY_407 in str(error):
        return "the proxy wants a name and a password (HTTPS_PROXY=http://name:password@host:port)"
    for kind, words in _KINDS:
        if isinstance(error, kind):
            return words
    return "the connection failed"


_KINDS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (requests.exceptions.ProxyError, "the proxy refused the connection"),
    (requests.exceptions.SSLError, "the connection is not secure"),
    (requests.exceptions.ConnectTimeout, f"no answer within {CONNECT_TIMEOUT_S:.0f} s"),
    (requests.exceptions.ReadTimeout, f"nothing came for {READ_TIMEOUT_S:.0f} s"),
    (requests.exceptions.TooManyRedirects, "the server sends from address to address"),
    (requests.exceptions.ChunkedEncodingError, "the connection broke off"),
    (urllib3.exceptions.ReadTimeoutError, f"nothing came for {READ_TIMEOUT_S:.0f} s"),
    (urllib3.exceptions.SSLError, "the connection is not secure"),
    (urllib3.exceptions.HTTPError, "the connection broke off"),
    (requests.exceptions.ConnectionError, "there is no connection"),
)
