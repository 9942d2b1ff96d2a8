"""A download that is killed again and again, from a server that does all that servers do."""

import hashlib
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import desktop
from tests.unit.fault_server import Fault, fault_server

pytestmark = pytest.mark.soak
KILLS = 50
PIECE = 1 << 18
CONNECTIONS = 3
CONTENT = b"GGUF" + random.Random(11).randbytes(160 * PIECE)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
BYTES_S = 8e6

CHILD = """
import sys
from pathlib import Path
from desktop.builds import ranges
from desktop.builds.control import Control
from desktop.builds.reference import Wanted
from desktop.builds.connection import Manner
from desktop.builds.transfer import download
url, target, size, sha256, bytes_s, piece, connections = sys.argv[1:]
wanted = Wanted(url, "x.gguf", int(size), sha256)
manner = Manner(int(connections), int(piece), 4, 40, 40, 0.001, 0.01)
ranges.READ_TIMEOUT_S = 0.5
print("begun", flush=True)
download(wanted, Path(target), lambda *_: None, Control(float(bytes_s)), manner)
"""
FAULTS = (
    Fault(cut=PIECE + 100),
    Fault(cut=0),
    Fault(whole=True),
    Fault(shift=10),
    Fault(status=429, headers={"Retry-After": "0"}),
    Fault(status=503),
    Fault(headers={"ETag": '"another"'}),
    Fault(body=b""),
    Fault(stall=PIECE),
)
CHANGED = Fault(flip=99)
"""Nobody can tell which piece was changed on the way: all of them come again."""


def _start(url: str, target: Path) -> subprocess.Popen[bytes]:
    told = (url, target, len(CONTENT), SHA256, BYTES_S, PIECE, CONNECTIONS)
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, *map(str, told)],
        env=os.environ
        | {"NO_PROXY": "127.0.0.1", "PYTHONPATH": str(Path(desktop.__file__).parent.parent)},
        stdout=subprocess.PIPE,
    )


@pytest.mark.timeout(900)
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX's")
@pytest.mark.parametrize("changed_at", [None, 60])
def test_killed_at_fifty_moments_it_ends_with_the_right_file(tmp_path, changed_at):
    rng = random.Random(5)
    target = tmp_path / "x.gguf"

    def choose(number, _first):
        if number == changed_at:
            return CHANGED
        return rng.choice(FAULTS) if rng.random() < 0.3 else Fault()

    kills, journal = 0, tmp_path / ".x.gguf.pieces"
    with fault_server(CONTENT, choose) as server:
        while not target.exists():
            before = _kept(journal)
            child = _start(server.url, target)
            assert child.stdout is not None
            child.stdout.readline()
            if kills < KILLS:
                # the moments themselves are the point: anywhere in the download
                time.sleep(rng.uniform(0, 0.25))
                if child.poll() is None:
                    child.kill()
                    kills += 1
                child.wait()
                if not target.exists() and changed_at is None:
                    assert _kept(journal) >= before, "what was kept stays kept"
            else:
                assert child.wait() == 0
            child.stdout.close()
    assert kills == KILLS
    assert target.read_bytes() == CONTENT


def _kept(journal: Path) -> int:
    """Pieces in the journal whose line is whole."""
    if not journal.exists():
        return 0
    lines = journal.read_bytes().split(b"\n")[1:-1]
    return len({line.split(b" ")[0] for line in lines if line.count(b" ") == 1})
