"""Downloads one file: streamed, checked while it comes, whole or not at all."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import requests

from desktop.builds.files import whole_file
from desktop.builds.hashes import Progress
from desktop.builds.reference import Wanted
from desktop.errors import BuildError

CONNECT_TIMEOUT_S: Final = 5.0
READ_TIMEOUT_S: Final = 20.0
_BLOCK_BYTES: Final = 1 << 18
_MAGIC: Final = b"GGUF"
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


def fetch_file(wanted: Wanted, target: Path, progress: Progress) -> None:
    """Download `wanted` to `target`; proxies are taken from the environment.

    HTTPS only; plain HTTP is for mirrors on this machine. `progress` is called with (bytes done,
    bytes in all) about every 256 KiB; an error that it raises ends the download and leaves nothing.

    Raises:
        BuildError: `download_failed` with what went wrong.
    """
    try:
        _check_address(wanted.url)
        with requests.Session() as session, _open(session, wanted.url) as response:
            _check_answer(response, wanted)
            with whole_file(target) as part:
                _copy(response, part, wanted, progress)
    except (_Refused, requests.RequestException, OSError) as e:
        raise BuildError("download_failed", name=wanted.name, detail=_words(e)) from e


class _Refused(Exception):  # noqa: N818  not an error of its own: becomes `download_failed`
    """What came is not what was wanted."""


def _open(session: requests.Session, url: str) -> requests.Response:
    return session.get(
        url,
        stream=True,
        timeout=(CONNECT_TIMEOUT_S, READ_TIMEOUT_S),
        headers={"Accept-Encoding": "identity"},  # the bytes are counted and hashed as they are
    )


def _check_address(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise _Refused("its address is not HTTPS")


def _check_answer(response: requests.Response, wanted: Wanted) -> None:
    for step in (*response.history, response):
        _check_address(step.url)
    if response.status_code != requests.codes.ok:
        raise _Refused(f"the server answered {response.status_code}")
    if response.headers.get("Content-Type", "").startswith("text/html"):
        raise _Refused(_PAGE)
    declared = response.headers.get("Content-Length", "")
    if declared.isdecimal() and int(declared) != wanted.size_bytes:
        raise _Refused(f"the server offers {declared} bytes instead of {wanted.size_bytes}")


def _copy(response: requests.Response, part: Path, wanted: Wanted, progress: Progress) -> None:
    digest = hashlib.sha256()
    done = 0
    with part.open("wb") as file:
        for block in _blocks(response, wanted.size_bytes):
            if not done:
                _check_start(block)
            file.write(block)
            digest.update(block)
            done += len(block)
            progress(done, wanted.size_bytes)
    if done != wanted.size_bytes:
        raise _Refused(f"it ended after {done} of {wanted.size_bytes} bytes")
    if digest.hexdigest() != wanted.sha256:
        raise _Refused("its checksum differs")


def _blocks(response: requests.Response, limit_bytes: int) -> Iterator[bytes]:
    """The body, ended with an error once it is longer than it may be."""
    done = 0
    for block in response.iter_content(_BLOCK_BYTES):
        done += len(block)
        if done > limit_bytes:
            raise _Refused(f"more than {limit_bytes} bytes came")
        yield block


def _check_start(block: bytes) -> None:
    if block.lstrip()[:1] == b"<":
        raise _Refused(_PAGE)
    if not block.startswith(_MAGIC):
        raise _Refused("what came is not a GGUF file")


_PAGE: Final = "a web page came instead of the file (does this network ask you to sign in?)"


def _words(error: Exception) -> str:
    """What went wrong, without addresses and internals."""
    for kind, words in _KINDS:
        if isinstance(error, kind):
            return words
    if isinstance(error, _Refused):
        return str(error)
    return (error.strerror if isinstance(error, OSError) else None) or "the connection failed"


_KINDS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (requests.exceptions.ProxyError, "the proxy refused the connection"),
    (requests.exceptions.SSLError, "the connection is not secure"),
    (requests.exceptions.ConnectTimeout, f"no answer within {CONNECT_TIMEOUT_S:.0f} s"),
    (requests.exceptions.ReadTimeout, f"nothing came for {READ_TIMEOUT_S:.0f} s"),
    (requests.exceptions.TooManyRedirects, "the server sends from address to address"),
    (requests.exceptions.ChunkedEncodingError, "the connection broke off"),
    (requests.exceptions.ConnectionError, "there is no connection"),
)
