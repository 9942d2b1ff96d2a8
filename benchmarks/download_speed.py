"""Our download, verified, beside curl's, unverified, from a local server of 1 Gbit/s.

    python benchmarks/download_speed.py --pairs 8

Both write the same file (random bytes behind a GGUF magic) to the same disk; the server is a
process of its own and gives all connections together so many bytes a second. Printed are the median
ratio of rates (ours ÷ curl's; at least 0.95 is wanted) with its interval, our processor time for a
GB beside that of hashing alone and of curl, and how much memory the download took at most.
"""

import argparse
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Final

from pairs import Quiet, interleaved, ratio_of, save

Values = dict[str, float]
BLOCK: Final = 1 << 20
GIGABIT_BYTES_S: Final = 125e6
WANTED: Final = 0.95
FEWEST: Final = 6
"""Pairs that an interval needs."""
_OURS: Final = """
import json, resource, sys, time
from pathlib import Path
from desktop.builds.reference import Wanted
from desktop.builds.transfer import download
url, target, size, sha256 = sys.argv[1:]
# what starting costs is not part of it; curl's start is, a few milliseconds
before, begun = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
download(Wanted(url, "x", int(size), sha256), Path(target), lambda *_: None)
seconds = time.perf_counter() - begun
after = resource.getrusage(resource.RUSAGE_SELF)
cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
grown = after.ru_maxrss - before.ru_maxrss
print(json.dumps({"seconds": seconds, "cpu": cpu, "grown_kib": grown}))
"""


class _Limit:
    """Bytes a second for all connections together."""

    def __init__(self, bytes_s: float) -> None:
        self._bytes_s, self._lock, self._free_at = bytes_s, threading.Lock(), 0.0

    def spend(self, size: int) -> None:
        with self._lock:
            now = time.perf_counter()
            self._free_at = max(self._free_at, now) + size / self._bytes_s
            wait = self._free_at - now
        # a little ahead: sleeping is not exact
        if wait > 0.005:
            time.sleep(wait)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    path_of: Path
    limit: _Limit

    def do_GET(self) -> None:
        size = self.path_of.stat().st_size
        told = self.headers.get("Range", "").removeprefix("bytes=")
        first, _, last = told.partition("-")
        start, end = (int(first), int(last or size - 1) + 1) if told else (0, size)
        self.send_response(206 if told else 200)
        self.send_header("Content-Length", str(end - start))
        if told:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
        self.end_headers()
        self.wfile.flush()
        with self.path_of.open("rb") as file:
            at = start
            while at < end:
                want = min(BLOCK, end - at)
                self.limit.spend(want)
                sent = os.sendfile(self.connection.fileno(), file.fileno(), at, want)
                if not sent:
                    return
                at += sent

    def log_message(self, *_args: object) -> None:
        pass


def _serve(path: Path, bytes_s: float) -> None:
    """The server's process: prints its port, and serves until it is ended."""
    _Handler.path_of, _Handler.limit = path, _Limit(bytes_s)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        print(server.server_port, flush=True)
        server.serve_forever()


@contextmanager
def _server(path: Path, bytes_s: float) -> Iterator[str]:
    command = [sys.executable, __file__, "--serve", str(path), "--bytes-s", str(bytes_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        port = process.stdout.readline().strip() if process.stdout else ""
        try:
            yield f"http://127.0.0.1:{port}/x.gguf"
        finally:
            process.kill()


def main() -> int:
    """Run the pairs; exit status 1 when the aim is missed."""
    options = _options()
    if options.serve:
        _serve(options.serve, options.bytes_s)
        return 0
    quiet = Quiet()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        source = folder / "source.gguf"
        sha256, hash_cpu_s = _make(source, options.megabytes << 20)
        with _server(source, options.bytes_s) as url:
            told = interleaved(
                options.pairs,
                lambda: _ours(url, folder, source.stat().st_size, sha256),
                lambda: _curl(url, folder),
            )
    return _report(told, options.megabytes / 1000 * 1.048576, hash_cpu_s, quiet)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--bytes-s", type=float, default=GIGABIT_BYTES_S)
    parser.add_argument("--folder", type=Path, help="where the files go; as a rule the system's")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _make(path: Path, size: int) -> tuple[str, float]:
    """The file's sha256, and the processor's seconds that hashing it took."""
    with path.open("wb") as file:
        file.write(b"GGUF")
        while file.tell() < size:
            file.write(os.urandom(min(BLOCK, size - file.tell())))
    before = time.process_time()
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return digest, time.process_time() - before


def _ours(url: str, folder: Path, size: int, sha256: str) -> Values:
    target = folder / "ours" / "x.gguf"
    command = [sys.executable, "-c", _OURS, url, str(target), str(size), sha256]
    root = str(Path(__file__).resolve().parent.parent)
    environment = os.environ | {"NO_PROXY": "127.0.0.1", "PYTHONPATH": root}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    shutil.rmtree(target.parent)
    found: Values = json.loads(done.stdout)
    return {"rate": size / found["seconds"], "cpu": found["cpu"], "grown_kib": found["grown_kib"]}


def _curl(url: str, folder: Path) -> Values:
    target = folder / "curl.gguf"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    subprocess.run(["curl", "-s", "--noproxy", "*", "-o", str(target), url], check=True)
    seconds = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    size = target.stat().st_size
    target.unlink()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"rate": size / seconds, "cpu": cpu}


def _report(
    told: list[tuple[dict[str, float], dict[str, float]]],
    gb: float,
    hash_cpu_s: float,
    quiet: Quiet,
) -> int:
    ours, curls = zip(*told, strict=True)
    ratios = [a["rate"] / b["rate"] for a, b in told]
    if len(ratios) < FEWEST:
        # a large file once, to see the memory: no ratio follows from it
        print(f"ours ÷ curl, no interval: {', '.join(f'{r:.3f}' for r in ratios)}")
    else:
        print(ratio_of("ours ÷ curl", ratios))
    print(f"    medians {median(a['rate'] for a in ours) / 1e6:.1f} ÷ "
          f"{median(b['rate'] for b in curls) / 1e6:.1f} MB/s")  # fmt: skip
    print(
        f"processor's seconds a GB: ours {median(a['cpu'] for a in ours) / gb:.2f}, "
        f"sha256 alone {hash_cpu_s / gb:.2f}, curl {median(b['cpu'] for b in curls) / gb:.2f}"
    )
    print(f"memory grew by at most {max(a['grown_kib'] for a in ours) / 1024:.1f} MiB")
    print(quiet.words())
    print(f"raw values: {save('download-speed', told).name}")
    return 0 if median(ratios) >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
