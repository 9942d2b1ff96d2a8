"""Downloads from a local server with every fault that users reported: the right file or an error."""

import hashlib
import random
import sys
import threading
from dataclasses import replace

import pytest

from desktop.builds.connection import Manner
from desktop.builds.control import Control, StoppedError
from desktop.builds.hub_session import HubSession
from desktop.builds.partial import Partial
from desktop.builds.reference import Wanted
from desktop.builds.transfer import download
from desktop.errors import BuildError
from tests.unit.fault_server import Fault, fault_server

PIECE = 1 << 16
CONTENT = b"GGUF" + random.Random(7).randbytes(20 * PIECE + 1000)
HASTY = Manner(piece_bytes=PIECE, row_pieces=3, first_wait_s=0.001, longest_wait_s=0.01)
PAGE = b"\n<!DOCTYPE html>" + bytes(300)


def wanted_at(url, content=CONTENT):
    return Wanted(url, "x.gguf", len(content), hashlib.sha256(content).hexdigest())


def quiet(done, total):
    pass


def fetch(server, target, content=CONTENT, progress=quiet, control=None, manner=HASTY):
    download(wanted_at(server.url, content), target, progress, control, manner)


def left(folder):
    return sorted(p.name for p in folder.iterdir() if p.suffix != ".lock")


def once(*faults):
    """Each fault at one request, in order; then none."""
    return lambda number, _first: faults[number] if number < len(faults) else Fault()


def test_a_file_comes_whole_in_pieces_over_several_connections(tmp_path):
    told = []
    with fault_server(CONTENT) as server:
        fetch(server, tmp_path / "x.gguf", progress=lambda *s: told.append(s))
    assert (tmp_path / "x.gguf").read_bytes() == CONTENT
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert left(tmp_path) == ["x.gguf"]
    assert len(set(server.starts)) == len(server.starts) > 4
    assert server.sent == len(CONTENT)


FAULTS = {
    "cut": Fault(cut=PIECE + 100),
    "cut before a byte": Fault(cut=0),
    "nothing": Fault(status=206, headers={"Content-Range": "bytes 0-0/*"}),
    "zero bytes": Fault(body=b""),
    "the whole file in place of a part": Fault(whole=True),
    "another part": Fault(shift=10),
    "no word of the part": Fault(headers={"Content-Range": "nonsense"}),
    "a part of no file": Fault(headers={"Content-Range": f"bytes 0-9/{'9' * 5000}"}),
    "too many requests": Fault(status=429, headers={"Retry-After": "0"}),
    "not now": Fault(status=503),
    "not now, in words": Fault(
        status=503, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}
    ),
    "another etag": Fault(headers={"ETag": '"another"'}),
    "packed": Fault(headers={"Content-Encoding": "gzip"}),
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("at", [0, 1, 4])
def test_a_fault_that_passes_costs_no_more_than_time(tmp_path, name, at):
    with fault_server(CONTENT, lambda n, _: FAULTS[name] if n == at else Fault()) as server:
        fetch(server, tmp_path / "x.gguf")
    assert (tmp_path / "x.gguf").read_bytes() == CONTENT
    assert left(tmp_path) == ["x.gguf"]


def test_after_a_cut_it_goes_on_at_the_byte_where_it_was(tmp_path):
    one = Manner(1, PIECE, 100, first_wait_s=0.001)
    with fault_server(CONTENT, once(Fault(cut=5 * PIECE + 77))) as server:
        fetch(server, tmp_path / "x.gguf", manner=one)
    assert server.starts == [0, 5 * PIECE + 77]
    assert server.sent == len(CONTENT)


def test_a_server_without_ranges(tmp_path):
    def choose(number, _first):
        return Fault(whole=True, cut=9 * PIECE if number == 0 else None)

    with fault_server(CONTENT, choose) as server:
        fetch(server, tmp_path / "x.gguf")
    assert (tmp_path / "x.gguf").read_bytes() == CONTENT
    assert len(server.starts) == 2


def test_every_kind_of_fault_at_random(tmp_path):
    rng, lock = random.Random(3), threading.Lock()

    def choose(_number, _first):
        with lock:
            return rng.choice([*FAULTS.values(), *[Fault()] * 8])

    for i in range(10):
        with fault_server(CONTENT, choose) as server:
            fetch(server, tmp_path / f"{i}.gguf", manner=Manner(3, PIECE, 4, 60, 60, 0.0, 0.001))
        assert (tmp_path / f"{i}.gguf").read_bytes() == CONTENT


ENDS = {
    "gone": (Fault(status=404), "download_gone", ""),
    "gated": (Fault(status=401), "download_gated", "agree"),
    "forbidden": (Fault(status=403), "download_gated", "agree"),
    "never": (Fault(status=503), "download_failed", "503"),
    "a page": (Fault(body=PAGE, headers={"Content-Type": "text/html"}), "download_failed", "web page"),
    "an archive": (Fault(headers={"Content-Range": "bytes 0-9/10"}), "download_failed", "10 bytes"),
    "shorter": (Fault(status=416), "download_failed", "shorter"),
    "longer": (Fault(body=CONTENT + b"x"), "download_failed", "instead of"),
    "of no length": (Fault(whole=True, headers={"Content-Length": "9" * 5000}), "download_failed", "instead of"),
    "empty": (Fault(body=b""), "download_failed", "nothing"),
    "sent on": (Fault(status=302, headers={"Location": "http://example.invalid/x"}), "download_failed", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_what_does_not_pass_is_an_error_that_names_it(tmp_path, name):
    fault, code, words = ENDS[name]
    with fault_server(CONTENT, lambda *_: fault) as server, pytest.raises(BuildError) as caught:
        fetch(server, tmp_path / "x.gguf")
    assert caught.value.code == code
    assert words in str(caught.value)
    assert "127.0.0.1" not in str(caught.value)
    assert not (tmp_path / "x.gguf").exists()


def test_of_a_connection_that_fails_for_good_what_came_is_kept_and_told(tmp_path):
    one = replace(HASTY, connections=1, row_pieces=100)
    with fault_server(CONTENT, lambda n, _: Fault(cut=3 * PIECE + 9 if n == 0 else 0)) as server:
        with pytest.raises(BuildError) as caught:
            fetch(server, tmp_path / "x.gguf", manner=one)
        told = caught.value.reason
        assert told.code == "download_broke"
        assert told.params["kept_bytes"] == 3 * PIECE
        assert told.params["size_bytes"] == len(CONTENT)
        assert "goes on where it was" in told.advice()
        before = len(server.starts)
        server.choose = lambda *_: Fault()
        fetch(server, tmp_path / "x.gguf", manner=one)
        assert server.starts[before] == 3 * PIECE


def test_where_a_server_sends_on_is_looked_at_before_it_is_asked(tmp_path, monkeypatch):
    elsewhere = Fault(status=302, headers={"Location": "http://elsewhere.invalid/x.gguf"})
    with fault_server(CONTENT) as proxy, fault_server(CONTENT, lambda *_: elsewhere) as server:
        # what is not on this machine goes by way of it
        monkeypatch.setenv("http_proxy", proxy.url)
        with pytest.raises(BuildError) as caught:
            fetch(server, tmp_path / "x.gguf")
    assert caught.value.code == "download_failed"
    assert "HTTPS" in str(caught.value)
    assert (len(server.starts), proxy.starts) == (1, [])


def test_the_body_of_a_redirect_is_left_where_it_is(tmp_path):
    large = Fault(status=302, headers={"Location": "/y.gguf"}, body=bytes(64 << 20))
    with fault_server(CONTENT, once(large)) as server:
        fetch(server, tmp_path / "x.gguf")
    assert (tmp_path / "x.gguf").read_bytes() == CONTENT
    assert server.sent < 32 << 20


def test_without_a_connection_nobody_waits_long(tmp_path):
    waits = []

    class Hurried(Control):
        def wait(self, seconds):
            waits.append(seconds)

    with pytest.raises(BuildError) as caught:
        download(wanted_at("http://127.0.0.1:9/x"), tmp_path / "x.gguf", quiet, Hurried())
    assert "no connection" in str(caught.value)
    assert 0 < sum(waits) < 2


@pytest.mark.parametrize(
    "url", ["http://example.org/x", "file:///etc/passwd", "https://", "ftp://127.0.0.1/x"]
)
def test_addresses_that_are_not_asked(tmp_path, url):
    with pytest.raises(BuildError) as caught:
        download(wanted_at(url), tmp_path / "x.gguf", quiet, manner=HASTY)
    assert caught.value.code == "download_failed"


@pytest.mark.parametrize(("content", "words"), [(PAGE, "web page"), (b"PK" + bytes(90), "GGUF")])
def test_what_is_no_build_is_named_by_its_first_bytes(tmp_path, content, words):
    with fault_server(content) as server, pytest.raises(BuildError) as caught:
        fetch(server, tmp_path / "x.gguf", content)
    assert words in str(caught.value)


def test_a_byte_that_was_changed_on_the_way_is_not_kept(tmp_path):
    def choose(number, _first):
        return Fault(flip=1000) if number == 2 else Fault()

    with fault_server(CONTENT, choose) as server:
        fetch(server, tmp_path / "x.gguf")
    assert (tmp_path / "x.gguf").read_bytes() == CONTENT
    assert len(CONTENT) < server.sent <= 2 * len(CONTENT)


def test_bytes_that_are_changed_each_time_are_an_error_and_nothing_stays(tmp_path):
    with (
        fault_server(CONTENT, lambda *_: Fault(flip=1000)) as server,
        pytest.raises(BuildError) as caught,
    ):
        fetch(server, tmp_path / "x.gguf")
    assert caught.value.code == "download_corrupt"
    assert left(tmp_path) == []


class _EnoughError(Exception):
    pass


def stop_after(share):
    def progress(done, total):
        if done >= share * total:
            raise _EnoughError

    return progress


def slowed():
    """So slow that a download is seen on its way."""
    return Control(limit_bytes_s=4e6)


def test_an_error_of_progress_ends_it_and_the_next_goes_on(tmp_path):
    with fault_server(CONTENT) as server:
        with pytest.raises(_EnoughError):
            fetch(server, tmp_path / "x.gguf", progress=stop_after(0.5), control=slowed())
        first = server.sent
        fetch(server, tmp_path / "x.gguf")
    assert (tmp_path / "x.gguf").read_bytes() == CONTENT
    # at most a piece of each connection comes twice, and what was on its way
    assert server.sent <= len(CONTENT) + 4 * PIECE + first - 0.5 * len(CONTENT)


def test_only_what_was_damaged_meanwhile_is_fetched_again(tmp_path):
    target = tmp_path / "x.gguf"
    with fault_server(CONTENT) as server:
        with pytest.raises(_EnoughError):
            fetch(server, target, progress=stop_after(0.6), control=slowed())
        kept = Partial(target, len(CONTENT), wanted_at("").sha256, PIECE)
        bad = next(piece for piece in kept.pieces if kept.has(piece))
        kept.close()
        with kept.path.open("r+b") as file:
            file.seek(bad.start + 5)
            file.write(b"?")
        server.starts.clear()
        fetch(server, target)
    assert target.read_bytes() == CONTENT
    assert bad.start in server.starts


@pytest.mark.parametrize("damage", ["torn", "other file", "no part", "binary", "folder"])
def test_a_damaged_journal_costs_bytes_and_no_more(tmp_path, damage):
    target = tmp_path / "x.gguf"
    journal, part = tmp_path / ".x.gguf.pieces", tmp_path / ".x.gguf.partial"
    with fault_server(CONTENT) as server:
        with pytest.raises(_EnoughError):
            fetch(server, target, progress=stop_after(0.6), control=slowed())
        if damage == "torn":
            journal.write_bytes(journal.read_bytes()[:-4])
        elif damage == "other file":
            journal.write_bytes(journal.read_bytes().replace(b'"size": ', b'"size": 1'))
        elif damage == "no part":
            part.unlink()
        elif damage == "binary":
            journal.write_bytes(b"\xff\x00" * 100)
        else:
            journal.unlink()
        fetch(server, target)
    assert target.read_bytes() == CONTENT
    assert left(tmp_path) == ["x.gguf"]


def test_stopping_while_the_server_is_silent(tmp_path):
    control = Control()

    def progress(done, _total):
        if done:
            control.stop()

    stalled = Fault(stall=PIECE)
    with fault_server(CONTENT, lambda *_: stalled) as server:
        with pytest.raises(StoppedError):
            fetch(server, tmp_path / "x.gguf", progress=progress, control=control)
        server.released.set()
        server.choose = lambda *_: Fault()
        fetch(server, tmp_path / "x.gguf")
    assert (tmp_path / "x.gguf").read_bytes() == CONTENT


def test_pause_and_go_on(tmp_path):
    control = slowed()
    seen = []

    def progress(done, total):
        seen.append(done)
        if control.paused:
            control.limit(None)
            control.resume()
        elif 0.3 * total < done and len(seen) < 1000:
            control.pause()
            seen.extend([done] * 1000)

    with fault_server(CONTENT) as server:
        fetch(server, tmp_path / "x.gguf", progress=progress, control=control)
    assert (tmp_path / "x.gguf").read_bytes() == CONTENT


def test_while_it_is_held_nothing_is_read_and_hashed(tmp_path):
    target, control, seen = tmp_path / "x.gguf", Control(), []
    with fault_server(CONTENT) as server:
        with pytest.raises(_EnoughError):
            fetch(server, target, progress=stop_after(0.6), control=slowed())
        kept = Partial(target, len(CONTENT), wanted_at("").sha256, PIECE)
        assert kept.has(kept.pieces[0])
        kept.close()
        server.starts.clear()
        control.pause()

        def progress(done, _total):
            seen.append(done)
            if len(seen) == 3:
                # what was read before would not be read again
                with kept.path.open("r+b") as file:
                    file.seek(PIECE // 2)
                    file.write(b"?")
                control.resume()

        fetch(server, target, progress=progress, control=control)
    assert target.read_bytes() == CONTENT
    assert 0 in server.starts


def test_held_and_stopped_it_ends(tmp_path):
    control = Control()
    control.pause()
    with fault_server(CONTENT) as server, pytest.raises(StoppedError):
        fetch(server, tmp_path / "x.gguf", progress=lambda *_: control.stop(), control=control)
    assert server.sent == 0


def test_a_token_is_sent_where_one_is_needed(tmp_path):
    with fault_server(CONTENT) as server:
        server.token = "hf_secret"
        with pytest.raises(BuildError) as caught:
            fetch(server, tmp_path / "x.gguf")
        assert caught.value.code == "download_gated"

        def session():
            return HubSession(server.url.rpartition("/")[0], "hf_secret")

        fetch(server, tmp_path / "x.gguf", manner=replace(HASTY, session=session))
    assert (tmp_path / "x.gguf").read_bytes() == CONTENT


def test_a_second_one_says_that_it_is_under_way(tmp_path):
    caught = []

    def progress(_done, _total):
        if not caught:
            with pytest.raises(BuildError) as error:
                fetch(server, tmp_path / "x.gguf")
            caught.append(error.value.code)

    with fault_server(CONTENT) as server:
        fetch(server, tmp_path / "x.gguf", progress=progress)
    assert caught == ["download_busy"]


def test_no_room_is_told_before_a_byte_comes(tmp_path):
    large = Wanted("http://127.0.0.1:9/x", "x.gguf", 1 << 60, "0" * 64)
    with pytest.raises(BuildError) as caught:
        download(large, tmp_path / "x.gguf", quiet)
    assert caught.value.code == "download_room"
    assert caught.value.reason.params["need_bytes"] > 1 << 60


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on file sizes there")
def test_a_disk_that_fills_up_keeps_what_has_come(tmp_path):
    import resource

    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    target = tmp_path / "x.gguf"
    with fault_server(CONTENT) as server:
        with pytest.raises(_EnoughError):
            fetch(server, target, progress=stop_after(0.3), control=slowed())
        resource.setrlimit(resource.RLIMIT_FSIZE, (PIECE, old[1]))
        try:
            with pytest.raises(BuildError) as caught:
                fetch(server, target)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, old)
        assert caught.value.code == "download_disk"
        fetch(server, target)
    assert target.read_bytes() == CONTENT
