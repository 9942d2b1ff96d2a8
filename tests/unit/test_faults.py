"""bench.faults: what tests ask of the worker happens while parts are measured too."""

import os

import pytest

from desktop.bench import faults
from desktop.bench.parts_protocol import PartsJob, PartStarted
from desktop.bench.process import WorkerProcess
from desktop.bench.protocol import Failed, Loaded
from desktop.records.parts import PartsPlan, PartTest

BEGINS = [Loaded("CPU", 5), PartStarted("CPU", PartTest.COPY, 1, 0, 1)]


@pytest.fixture
def pipe():
    read, write = os.pipe()
    yield read, write
    for end in (read, write):
        os.close(end)


@pytest.mark.parametrize("begins", BEGINS)
def test_garbage_follows_the_beginning(pipe, begins):
    read, write = pipe
    sent = []
    faults.named(["--fault", "garbage"])(begins, sent.append, write)
    assert sent == [begins]
    assert os.read(read, 100) == b"llama_model_loader: not a message\n"


@pytest.mark.parametrize("begins", BEGINS)
def test_a_flood_ends_with_its_reader(pipe, begins):
    read, write = pipe
    os.set_blocking(write, False)
    with pytest.raises(BlockingIOError):
        faults.named(["--fault", "flood"])(begins, lambda _: None, write)
    assert os.read(read, 10) == b"x" * 10


@pytest.mark.parametrize("begins", BEGINS)
def test_silent_ends_without_a_word(pipe, begins, monkeypatch):
    def leave(status):
        raise SystemExit(status)

    monkeypatch.setattr(os, "_exit", leave)
    sent = []
    with pytest.raises(SystemExit):
        faults.named(["--fault", "silent"])(begins, sent.append, pipe[1])
    assert sent == []


def test_a_failure_without_words_is_told_in_words(tmp_path):
    worker = WorkerProcess(PartsJob(PartsPlan()), tmp_path / "log")
    told = str(worker._failure(Failed("decode_failed", "")))
    assert "failed while measuring the parts (code unknown)" in told
