"""A server of a test, answering while the test looks."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import TypeVar

_Server = TypeVar("_Server", bound=ThreadingHTTPServer)


@contextmanager
def running(server: _Server) -> Iterator[_Server]:
    """Serve until the block ends; then nothing of it is left."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
