"""Files of the profile: a pipe in the place of one holds nobody up; a whole write leaves nothing."""

import errno
import logging
import os
import threading
from logging.handlers import RotatingFileHandler

import pytest

from desktop import own_files
from desktop.bench.process import WorkerProcess
from desktop.bench.protocol import Job
from desktop.builds.hashes import hashes_in, sha256_of
from desktop.errors import BenchError, LedgerError
from desktop.network.ledger import Ledger
from desktop.own_files import never_a_pipe, written_beside
from desktop.records.run import Plan
from desktop.services import facts
from desktop.services.doctor import examine
from desktop.services.log import check_log_file, log_to
from desktop.services.turn import measuring_turn

PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
PATIENCE_S = 30
"""Nothing here takes a second; what waits at a pipe waits for ever."""


def told_in_time(call):
    """What the call gives or raises; in a thread, as it may not end."""
    told = []

    def ask():
        try:
            told.append(call())
        except Exception as e:  # noqa: BLE001 - whatever it is, the test looks at it
            told.append(e)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    assert told, "it waits at a pipe"
    return told[0]


def opened(path, mode):
    with open(path, mode, opener=never_a_pipe):
        return "opened"


def measured(home):
    with measuring_turn(home, "a test", wait=False, cancelled=lambda: False, notice=print):
        return "measured"


def asked(home):
    with WorkerProcess(Job("", Plan()), home.worker_log):
        return "started"


@pytest.fixture
def no_log():
    """The root logger without a log file, and as it was when the test is over."""
    root = logging.getLogger()
    before = list(root.handlers)
    level, loud = root.level, logging.raiseExceptions
    root.handlers = [h for h in before if not isinstance(h, RotatingFileHandler)]
    yield root
    for handler in set(root.handlers) - set(before):
        handler.close()
    root.handlers = before
    root.setLevel(level)
    logging.raiseExceptions = loud
    logging.captureWarnings(capture=False)


@PIPES
@pytest.mark.parametrize("read", [False, True])
def test_an_opener_refuses_a_pipe_whether_somebody_reads_it_or_not(tmp_path, read):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK) if read else None
    for mode in ("ab", "wb", "rb"):
        error = told_in_time(lambda mode=mode: opened(pipe, mode))
        assert isinstance(error, OSError)
        assert error.strerror == "it is not a file"
    if reader is not None:
        os.close(reader)


def test_an_opener_takes_files_and_the_null_device(tmp_path):
    with open(tmp_path / "new", "w", opener=never_a_pipe) as file:
        file.write("x")
    with open(tmp_path / "new", "a", opener=never_a_pipe) as file:
        file.write("y")
    assert (tmp_path / "new").read_text() == "xy"
    with open(os.devnull, "ab", opener=never_a_pipe) as file:
        file.write(b"x")
    with pytest.raises(OSError, match=r"not a file|denied|irectory"):
        opened(tmp_path, "rb")


@PIPES
def test_a_pipe_in_the_place_of_the_log_is_told_of(home, no_log):
    os.mkfifo(home.log)
    assert isinstance(told_in_time(lambda: check_log_file(home.log)), OSError)
    told = told_in_time(lambda: log_to(home))
    assert (told.code, told.params["detail"]) == ("no_log", "it is not a file")


@PIPES
def test_a_pipe_that_comes_into_the_logs_place_later_holds_nobody_up(home, no_log, capsys):
    assert log_to(home) is None
    assert any(isinstance(h, RotatingFileHandler) for h in no_log.handlers)
    home.log.unlink()
    os.mkfifo(home.log)
    assert told_in_time(lambda: no_log.warning("x")) is None
    assert capsys.readouterr().err == ""


@PIPES
def test_a_pipe_in_the_place_of_the_devices_log_is_gone_round(home):
    os.mkfifo(home.worker_log.with_suffix(".devices.log"))
    assert str(told_in_time(lambda: facts._log_file(home))) == os.devnull


@PIPES
def test_a_pipe_in_the_place_of_the_engines_log_ends_the_run_with_a_reason(home):
    os.mkfifo(home.worker_log)
    error = told_in_time(lambda: asked(home))
    assert isinstance(error, BenchError)
    assert error.code == "worker_start"
    assert error.reason.params["detail"] == "it is not a file (engine.log)"
    row = next(r for r in told_in_time(lambda: examine(home)) if r.what == "Log")
    assert row.state == "missing"
    engine = f"{home.worker_log} cannot be written (it is not a file): nothing can be measured"
    assert row.detail == engine
    home.log.unlink()
    os.mkfifo(home.log)
    row = next(r for r in told_in_time(lambda: examine(home)) if r.what == "Log")
    assert row.state == "missing"
    assert row.detail.splitlines()[0].endswith("no log is kept")
    assert row.detail.splitlines()[1] == engine


@PIPES
def test_a_pipe_in_the_place_of_who_measures_is_no_hindrance(home):
    os.mkfifo(home.measure_lock.with_suffix(".holder"))
    assert told_in_time(lambda: measured(home)) == "measured"
    with measuring_turn(home, "a test", wait=False, cancelled=lambda: False, notice=print):
        error = told_in_time(lambda: measured(home))
    assert (error.code, error.reason.params["holder"]) == ("busy", "another program")


@PIPES
def test_a_pipe_in_the_place_of_known_hashes_costs_only_what_was_known(home, tmp_path):
    (tmp_path / "x").write_bytes(b"x")
    os.mkfifo(home.cache / "hashes.json")
    told = told_in_time(lambda: hashes_in(home).sha256(tmp_path / "x"))
    assert told == sha256_of(tmp_path / "x")


@PIPES
@pytest.mark.parametrize("name", ["ledger.sqlite", "ledger.sqlite-wal"])
def test_a_pipe_in_the_place_of_the_ledger_is_told_of(home, name):
    os.mkfifo(home.data / name)
    for call in (Ledger(home.ledger).entries, Ledger(home.ledger).check):
        error = told_in_time(call)
        assert isinstance(error, LedgerError)
        assert f"{name} in the data folder is not Gram's ledger" in str(error)


def test_of_a_file_that_was_written_beside_nothing_is_left(tmp_path):
    target, other = tmp_path / "a[1]*", tmp_path / ".a[1]b.left.part"
    other.touch()
    (tmp_path / ".a[1]*.left.part").touch()
    with written_beside(target, b"one") as beside:
        assert beside.read_bytes() == b"one"
        assert not (tmp_path / ".a[1]*.left.part").exists()
    assert list(tmp_path.iterdir()) == [other]
    with written_beside(target, b"two") as beside:
        beside.replace(target)
    assert target.read_bytes() == b"two"
    with pytest.raises(KeyError), written_beside(target, b"three"):
        raise KeyError
    assert sorted(tmp_path.iterdir()) == [other, target]


def test_what_cannot_be_given_to_its_owner_is_written_all_the_same(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    for name in ("fchown", "fchmod"):
        monkeypatch.setattr(own_files.os, name, refused, raising=False)
    target = tmp_path / "x"
    target.touch()
    with written_beside(target, b"x") as beside:
        assert beside.read_bytes() == b"x"
