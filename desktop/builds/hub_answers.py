"""One question to the API of Hugging Face: asked, and its JSON answer read within limits.

Lists come in pages: the header `Link` names the next (huggingface_hub's utils/_pagination.py).
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import parse_qs, urlsplit

import requests
import urllib3

from desktop.builds.addresses import NotSecureError
from desktop.builds.endpoints import host_of
from desktop.builds.hub_errors import check, unusable
from desktop.builds.hub_session import HubSession
from desktop.builds.ranges import (
    BLOCK_BYTES,
    CONNECT_TIMEOUT_S,
    READ_TIMEOUT_S,
    declared_bytes,
    fault_words,
)
from desktop.errors import BuildError

MAX_ANSWER_BYTES: Final = 8 << 20
"""A page of a thousand files has about 400 KB."""
MAX_PARTS: Final = 400_000
"""Values of an answer, about: they bound what reading it takes."""
LONGEST_S: Final = 60.0
"""For all of an answer: a server may send a byte now and then for ever."""
_MAX_QUERY: Final = 4096

Query: TypeAlias = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class Reply:
    """What came, and how to ask for what follows."""

    value: object
    following: Query | None
    """The query of the next page; None: this is the last."""


def ask(
    session: HubSession,
    path: str,
    query: Query,
    name: str,
    clock: Callable[[], float] = time.monotonic,
) -> Reply:
    """Ask for `path` below the endpoint, `/api/models/owner/repo`.

    Args:
        session: whom to ask.
        path: quoted already.
        query: of the address.
        name: what it is about, for sentences.
        clock: seconds.

    Raises:
        BuildError: `hub_unreachable`, `hub_page`, `hub_answer`, `hub_busy`, `hub_token`,
            `hub_unknown`, `hub_revision`, `download_gated`.
    """
    host = host_of(session.endpoint)
    limits = (CONNECT_TIMEOUT_S, READ_TIMEOUT_S)
    try:
        with session.get(
            f"{session.endpoint}{path}", params=dict(query), stream=True, timeout=limits
        ) as response:
            check(response, session, name)
            content = _content(response, host, clock)
            return Reply(_parsed(content, host), _following(response, host))
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as e:
        raise BuildError("hub_unreachable", host=host, detail=fault_words(e)) from e
    except NotSecureError as e:
        detail = "it sends on to an address that is not HTTPS"
        raise BuildError("hub_unreachable", host=host, detail=detail) from e


def _content(response: requests.Response, host: str, clock: Callable[[], float]) -> bytes:
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise unusable(host, "it is packed, which was not asked for")
    content = bytearray()
    end_s = clock() + LONGEST_S
    while block := response.raw.read1(BLOCK_BYTES):
        content += block
        if len(content) > MAX_ANSWER_BYTES:
            raise unusable(host, f"it is longer than {MAX_ANSWER_BYTES >> 20} MB")
        if clock() > end_s:
            detail = f"it was not done after {LONGEST_S:.0f} s"
            raise BuildError("hub_unreachable", host=host, detail=detail)
    declared = declared_bytes(response)
    if declared is not None and declared != len(content):
        raise BuildError("hub_unreachable", host=host, detail="the connection broke off")
    return bytes(content)


def _parsed(content: bytes, host: str) -> object:
    if content.lstrip()[:1] == b"<":
        raise BuildError("hub_page", host=host)
    if sum(map(content.count, (b",", b"[", b"{"))) > MAX_PARTS:
        raise unusable(host, f"it has more than {MAX_PARTS} parts")
    try:
        value: object = json.loads(content.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError) as e:
        raise unusable(host, "it is not JSON") from e
    return value


def _refuse(text: str) -> object:
    raise ValueError(text)


def _following(response: requests.Response, host: str) -> Query | None:
    """The query of the page that `Link: <…>; rel="next"` names; its host does not count.

    So a token is never sent elsewhere, and a mirror may hand on the links of Hugging Face.
    """
    try:
        told = response.links.get("next", {}).get("url")
        query = urlsplit(told).query if told is not None else None
        if query is None:
            return None
        # an empty query is none either: strict
        return parse_qs(query[:_MAX_QUERY], strict_parsing=True, max_num_fields=20)
    except ValueError as e:
        raise unusable(host, "its link to the next page cannot be read") from e
