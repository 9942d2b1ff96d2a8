"""What the API of Hugging Face refuses, told apart.

By status and by the header `X-Error-Code`, as huggingface_hub's `hf_raise_for_status` does
(src/huggingface_hub/utils/_http.py): 401 without a code stands for what is not there as well as for
what is private. `RateLimit: "api";r=0;t=55` is the draft of IETF that its
`parse_ratelimit_headers` reads.
"""

import re
from typing import Final

import requests

from desktop.builds.endpoints import host_of
from desktop.builds.hub_session import HubSession
from desktop.builds.names import is_repository
from desktop.builds.ranges import wait_told_s
from desktop.errors import BuildError

_RESET: Final = re.compile(r";\s*t=(\d{1,6})")
_UNKNOWN: Final = frozenset({401, 404, 410})
_LATER: Final = frozenset({429, 503})
_USUAL_WAIT_S: Final = 60


def unusable(host: str, detail: str) -> BuildError:
    """The error for an answer that breaks the rules."""
    return BuildError("hub_answer", host=host, detail=detail)


def check(response: requests.Response, session: HubSession, name: str) -> None:
    """Whether it is an answer to read; `name` is what was asked about.

    Raises:
        BuildError: see `hub_answers.ask`.
    """
    host, status = host_of(session.endpoint), response.status_code
    code = response.headers.get("X-Error-Code", "")
    if code == "GatedRepo":
        raise BuildError("download_gated", name=name, page=_page(session, name))
    if code == "RevisionNotFound":
        raise BuildError("hub_revision", name=name)
    if status == requests.codes.unauthorized and session.has_token and code != "RepoNotFound":
        raise BuildError("hub_token", host=host)
    if status in _UNKNOWN:
        raise BuildError("hub_unknown", name=name, host=host)
    if status == requests.codes.forbidden:
        raise BuildError("download_gated", name=name, page=_page(session, name))
    if status in _LATER and (wait_s := _wait_s(response)) is not None:
        raise BuildError("hub_busy", host=host, seconds=wait_s)
    if response.headers.get("Content-Type", "").startswith("text/html"):
        raise BuildError("hub_page", host=host)
    if status != requests.codes.ok:
        raise BuildError("hub_unreachable", host=host, detail=f"it answered {status}")


def _page(session: HubSession, name: str) -> str:
    """Where the terms of a repository are agreed to."""
    return f"{session.endpoint.rstrip('/')}/{name}" if is_repository(name) else "its page"


def _wait_s(response: requests.Response) -> int | None:
    told = wait_told_s(response.headers.get("Retry-After", ""))
    if told is not None:
        return max(1, round(told))
    found = _RESET.search(response.headers.get("RateLimit", ""))
    if found:
        return max(1, int(found[1]))
    return _USUAL_WAIT_S if response.status_code == requests.codes.too_many_requests else None
