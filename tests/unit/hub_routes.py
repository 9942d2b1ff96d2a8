"""A local Hugging Face: its routes over real files, with a second server that holds the bytes."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from desktop.builds.choosing import choose, listing
from desktop.builds.names import BuildName, parse_name
from desktop.builds.repository import Hub
from desktop.errors import BuildError
from desktop.records.remote import RemoteBuild
from tests.unit.running_server import running

COMMIT: Final = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Repo:
    """A repository: its files, and what the API says of it."""

    files: dict[str, bytes] = field(default_factory=dict)
    told: dict[str, object] = field(default_factory=dict)
    """Goes over what is told otherwise."""
    entries: list[object] = field(default_factory=list)
    """Go behind the tree's own entries."""
    gated: bool = False
    """Its files are refused without a token."""


@dataclass
class Canned:
    """Answered in place of what a route has."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    endless: bool = False
    """The body again and again, until the other side has enough."""
    chunked: bool = False
    cut: int | None = None
    """The connection ends after so many bytes of the body."""


class HubServer(ThreadingHTTPServer):
    """Serves `repos`, and bytes by way of `cdn` where there is one."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repos: dict[str, Repo] = {}
        self.canned: dict[str, list[Canned]] = {}
        """By path; the last one stays."""
        self.page = 1000
        self.cdn: str | None = None
        self.ranges = True
        self.asked: list[tuple[str, dict[str, str]]] = []
        """Path with query, and headers with small letters."""
        self.sent = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        """A connection that the other side cut is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HubServer

    def do_GET(self) -> None:
        server = self.server
        parts = urlsplit(self.path)
        with server.lock:
            server.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
            canned = server.canned.get(parts.path)
            answer = (canned.pop(0) if len(canned) > 1 else canned[0]) if canned else None
        if answer is None:
            answer = self._route(unquote(parts.path).strip("/"), parse_qs(parts.query))
        self._send(answer)

    def _route(self, path: str, query: dict[str, list[str]]) -> Canned:
        if path == "api/models":
            return _json([_info(n, r) for n, r in self.server.repos.items() if _has(n, query)])
        name = "/".join(path.removeprefix("api/models/").split("/")[:2])
        repo = self.server.repos.get(name)
        if repo is None:
            return Canned(401, headers={"X-Error-Message": "Invalid username or password."})
        rest = path.removeprefix("api/models/").removeprefix(name).strip("/").split("/")
        if rest[0] in {"revision", "tree"} and rest[1] not in {"main", COMMIT}:
            return Canned(404, headers={"X-Error-Code": "RevisionNotFound"})
        if rest[0] == "tree":
            return self._tree(repo, int(query.get("cursor", ["0"])[0]))
        if rest[0] == "resolve":
            return self._file(repo, "/".join(rest[2:]))
        return _json(_info(name, repo))

    def _tree(self, repo: Repo, start: int) -> Canned:
        entries = [_entry(path, content) for path, content in repo.files.items()] + repo.entries
        end = start + self.server.page
        headers = {}
        if end < len(entries):
            # the host is another one, as mirrors hand on what they are told
            path = urlsplit(self.path).path
            link = f"<https://huggingface.co{path}?recursive=1&cursor={end}>"
            headers["Link"] = f'{link}; rel="next"'
        return _json(entries[start:end], headers)

    def _file(self, repo: Repo, path: str) -> Canned:
        content = repo.files.get(path)
        if content is None:
            return Canned(404, headers={"X-Error-Code": "EntryNotFound"})
        if repo.gated and "Authorization" not in self.headers:
            return Canned(401, headers={"X-Error-Code": "GatedRepo"})
        if self.server.cdn is not None:
            return Canned(302, b"moved", {"Location": self.server.cdn + self.path})
        return self._range(content)

    def _range(self, content: bytes) -> Canned:
        unit, _, told = self.headers.get("Range", "").partition("=")
        if unit != "bytes" or not self.server.ranges:
            return Canned(200, content)
        first, _, last = told.partition("-")
        end = min(int(last), len(content) - 1)
        shown = {"Content-Range": f"bytes {first}-{end}/{len(content)}"}
        return Canned(206, content[int(first) : end + 1], shown)

    def _send(self, answer: Canned) -> None:
        self.send_response(answer.status)
        if answer.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        elif not answer.endless and "Content-Length" not in answer.headers:
            self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        body = answer.body[: answer.cut]
        self._write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if answer.chunked else body)
        while answer.endless:
            self._write(answer.body)
        self.close_connection = answer.cut is not None

    def _write(self, block: bytes) -> None:
        self.wfile.write(block)
        with self.server.lock:
            self.server.sent += len(block)

    def log_message(self, *args: object) -> None:
        pass


def _info(name: str, repo: Repo) -> dict[str, object]:
    told = {"id": name, "sha": COMMIT, "gated": "manual" if repo.gated else False, "tags": ["gguf"]}
    told["private"] = False
    return told | repo.told


def _entry(path: str, content: bytes) -> dict[str, object]:
    size = len(content)
    oid = hashlib.sha256(content).hexdigest()
    lfs = {"oid": oid, "size": size, "pointerSize": 134}
    return {"type": "file", "oid": "a" * 40, "size": size, "lfs": lfs, "path": path}


def _has(name: str, query: dict[str, list[str]]) -> bool:
    return query.get("search", [""])[0].casefold() in name.casefold()


def _json(value: object, headers: dict[str, str] | None = None) -> Canned:
    told = {"Content-Type": "application/json; charset=utf-8"} | (headers or {})
    return Canned(200, json.dumps(value).encode(), told)


@contextmanager
def hub_server(**repos: Repo) -> Iterator[HubServer]:
    """Serve `repos`; `owner__repo` stands for `owner/repo`."""
    with running(HubServer()) as server:
        server.repos = {name.replace("__", "/"): repo for name, repo in repos.items()}
        yield server


def find(hub: Hub, text: str) -> RemoteBuild:
    """The build that `text` means at the hub."""
    name = parse_name(text)
    if not isinstance(name, BuildName):
        raise BuildError("build_not_found", name=name.name)
    return choose(listing(hub, name), name)
