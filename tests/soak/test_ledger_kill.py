"""What the ledger has answered is never lost: killed at random moments, and on a full disk."""

import itertools
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from desktop.errors import LedgerError
from desktop.network.ledger import Ledger
from desktop.records.statement import Envelope

pytestmark = pytest.mark.soak
KILLS = 40

KEEPER = """
import os, sys
from pathlib import Path
from desktop.network.ledger import Ledger
from desktop.records.statement import Envelope
ledger = Ledger(Path(sys.argv[1]))
os.write(1, b"ready\\n")
n = int(sys.argv[2])
while True:
    payload = b'{"n":%d,"filler":"%b"}' % (n, b"x" * (n * 7919 % 20000))
    kept = ledger.keep(Envelope("t", payload, (("ab" * 32, bytes(64)),)), "2026-01-01T00:00:00Z")
    os.write(1, kept.encode() + b"\\n")
    n += 1
"""


@pytest.mark.timeout(600)
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX's")
def test_kill_loses_nothing_and_doubles_nothing(tmp_path):
    path = tmp_path / "ledger.sqlite"
    rng = random.Random(20260304)
    acknowledged: list[str] = []
    for turn in range(KILLS):
        acknowledged += killed_after(path, turn * 100_000, rng.uniform(0.0, 0.4))
        kept = [entry.id for entry in Ledger(path).entries()]
        assert len(kept) == len(set(kept))
        assert not set(acknowledged) - set(kept)
        # at most the one statement that was on its way was kept without an answer
        assert len(kept) - len(acknowledged) <= turn + 1
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert len(acknowledged) > KILLS


def killed_after(path: Path, first: int, seconds: float) -> list[str]:
    """Ids that a keeper answered before it was killed."""
    command = [sys.executable, "-c", KEEPER, str(path), str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(seconds)  # the random moment itself, not a wait for anything
        process.send_signal(signal.SIGKILL)
        lines = process.stdout.read().split("\n")
    assert process.returncode == -signal.SIGKILL
    return [line for line in lines[:-1] if line]


@contextmanager
def small_disk(folder: Path, size_kb: int):
    """A file system of that size; only root on Linux can make one."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size_kb}k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="mounting needs root on Linux"
)
def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path):
    with small_disk(tmp_path, 512) as folder:
        ledger = Ledger(folder / "ledger.sqlite")
        kept: list[str] = []
        with pytest.raises(LedgerError) as caught:
            keep_for_ever(ledger, kept)
        assert caught.value.code == "ledger_write"
        assert "full" in str(caught.value) or "space" in str(caught.value)
        assert [e.id for e in ledger.entries()] == kept[::-1]
        assert len(kept) > 5


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="mounting needs root on Linux"
)
def test_on_a_disk_that_is_full_from_the_start_no_ledger_is_made(tmp_path):
    with small_disk(tmp_path, 8) as folder:
        (folder / "ballast").write_bytes(b"x" * 8192)
        ledger = Ledger(folder / "ledger.sqlite")
        with pytest.raises(LedgerError) as caught:
            ledger.check()
        assert caught.value.code == "ledger_write"
        (folder / "ballast").unlink()
    assert not list(tmp_path.iterdir())


def filled(n: int) -> Envelope:
    payload = b'{"n":%d,"filler":"%b"}' % (n, b"x" * 9000)
    return Envelope("t", payload, (("ab" * 32, bytes(64)),))


def keep_for_ever(ledger: Ledger, kept: list[str]) -> None:
    for n in itertools.count():
        kept.append(ledger.keep(filled(n), "2026-01-01T00:00:00Z"))  # noqa: PERF401 - it raises
