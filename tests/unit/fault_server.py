"""A local server of one file that can do to a download what servers and networks do."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from tests.unit.running_server import running

BLOCK: Final = 1 << 14


@dataclass
class Fault:
    """What one answer does; as it stands, nothing."""

    status: int | None = None
    """Answered in place of the file."""
    headers: dict[str, str] = field(default_factory=dict)
    whole: bool = False
    """200 and all of the file, whatever part was asked for."""
    cut: int | None = None
    """The connection ends after so many bytes."""
    flip: int | None = None
    """This byte of the answer is another one."""
    stall: int | None = None
    """After so many bytes nothing comes until `released` is set."""
    shift: int = 0
    """The answer begins so many bytes behind where it was asked to."""
    body: bytes | None = None
    """Sent in place of the file."""


Choose = Callable[[int, int], Fault]
"""From the number of the request (from 0) and the first byte that is asked for."""


class FaultServer(ThreadingHTTPServer):
    """Serves `content` at any path."""

    daemon_threads = True

    def __init__(self, content: bytes, choose: Choose) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content, self.choose = content, choose
        self.released = threading.Event()
        self.lock = threading.Lock()
        self.starts: list[int] = []
        """First byte of each request, in order."""
        self.sent = 0
        self.token: str | None = None
        """Without it nobody gets anything."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/x.gguf"

    def handle_error(self, request, client_address):
        """A connection that the other side cut is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FaultServer

    def do_GET(self) -> None:
        server = self.server
        first, last = self._asked()
        with server.lock:
            number = len(server.starts)
            server.starts.append(first)
        fault = server.choose(number, first)
        if server.token and self.headers.get("Authorization") != f"Bearer {server.token}":
            fault = Fault(status=401)
        if fault.status is not None:
            self._send(fault.status, fault.headers, fault.body or b"", fault)
        elif fault.body is not None:
            self._send(200, fault.headers, fault.body, fault)
        elif fault.whole or "Range" not in self.headers:
            self._send(200, fault.headers, server.content, fault)
        else:
            start = first + fault.shift
            size = len(server.content)
            told = {"Content-Range": f"bytes {start}-{last}/{size}"} | fault.headers
            self._send(206, told, server.content[start : last + 1], fault)

    def _asked(self) -> tuple[int, int]:
        unit, _, told = self.headers.get("Range", "").partition("=")
        first, _, last = told.partition("-")
        end = len(self.server.content) - 1
        return (int(first), min(int(last or end), end)) if unit == "bytes" else (0, end)

    def _send(self, status: int, headers: dict[str, str], body: bytes, fault: Fault) -> None:
        self.send_response(status)
        told = {"Content-Length": str(len(body))} | headers
        for name, value in told.items():
            self.send_header(name, value)
        self.end_headers()
        if fault.flip is not None:
            at = fault.flip
            body = body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]
        end = len(body) if fault.cut is None else fault.cut
        for at in range(0, end, BLOCK):
            if fault.stall is not None and at >= fault.stall:
                self.server.released.wait(60)
            block = body[at : min(at + BLOCK, end)]
            self.wfile.write(block)
            with self.server.lock:
                self.server.sent += len(block)
        if fault.cut is not None:
            self.close_connection = True

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def fault_server(
    content: bytes, choose: Choose = lambda _number, _first: Fault()
) -> Iterator[FaultServer]:
    """Serve `content`, each answer as `choose` says."""
    with running(FaultServer(content, choose)) as server:
        try:
            yield server
        finally:
            server.released.set()
