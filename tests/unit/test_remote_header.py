"""Headers over HTTP ranges: as from the disk, with few bytes fetched, whatever the server does."""

import io
import random
import struct
import tracemalloc
from itertools import count

import gguf
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.builds import cursor, header, metadata
from desktop.builds.header import ArrayInfo, read_header, read_header_from
from desktop.builds.remote_header import FIRST_BYTES, Patience, remote_header
from desktop.builds.repository import Hub
from desktop.errors import BuildError
from tests.unit.hub_routes import COMMIT, Canned, Repo, find, hub_server

FILE = f"/o/r/resolve/{COMMIT}/x-Q4_0.gguf"
TOKEN = "hf_secretsecret"


def write(folder, *, tokens=10, split=0, name="x-Q4_0.gguf"):
    """Real files; their content by name."""
    writer = gguf.GGUFWriter(folder / name, "llama", split_max_tensors=split)
    writer.add_block_count(2)
    writer.add_token_list([f"token{n}" for n in range(tokens)])
    for n in range(5):
        writer.add_tensor(f"blk.{n}.weight", np.zeros((4, 64), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.gguf"))}


def hasty(**told):
    return Patience(wait=lambda _s: None, **told)


def read(server, text="o/r", token=None, patience=None):
    with Hub(server.url, token) as hub:
        build = find(hub, text)
        return remote_header(hub.session, hub.wanted(build), patience or hasty())


def refused(server, **told):
    with pytest.raises(BuildError) as caught:
        read(server, **told)
    return caught.value


def test_as_from_the_disk(tmp_path):
    files = write(tmp_path)
    with hub_server(o__r=Repo(files)) as server:
        found = read(server)
    assert found == read_header(tmp_path / "x-Q4_0.gguf")
    assert [t.size_bytes for t in found.tensors] == [1024] * 5


def test_the_reference_build(reference_file):
    content = reference_file.read_bytes()
    with hub_server(o__r=Repo({"x-Q4_1.gguf": content})) as server:
        found = read(server)
    assert found == read_header(reference_file)
    assert server.sent < 8 * FIRST_BYTES


def test_only_what_is_needed_is_fetched(tmp_path):
    files = write(tmp_path, tokens=200_000)
    name, content = next(iter(files.items()))
    with hub_server(o__r=Repo({name: content + bytes(20 << 20)})) as server:
        found = read(server)
    assert found.data_offset_bytes > 3 * FIRST_BYTES
    ranges = [h["range"] for path, h in server.asked if "resolve" in path]
    assert ranges == ["bytes=0-1048575", "bytes=1048576-3145727", "bytes=3145728-7340031"]


def test_servers_without_ranges(tmp_path):
    with hub_server(o__r=Repo(write(tmp_path, tokens=200_000))) as server:
        server.ranges = False
        assert len(read(server).tensors) == 5
    assert sum("resolve" in path for path, _ in server.asked) == 1


def test_a_break_is_gone_on_from(tmp_path):
    files = write(tmp_path, tokens=200_000)
    content = next(iter(files.values()))
    for ranged in (True, False):
        with hub_server(o__r=Repo(files)) as server:
            server.ranges = ranged
            first = Canned(206, content[:FIRST_BYTES], cut=300_000)
            first.headers["Content-Range"] = f"bytes 0-{FIRST_BYTES - 1}/{len(content)}"
            server.canned[FILE] = [first if ranged else Canned(200, content, cut=300_000)]
            # after the first answer the server's own again
            found = read(server, patience=hasty_then(server))
        assert found == read_header(tmp_path / "x-Q4_0.gguf")
    starts = [h["range"] for path, h in server.asked if "resolve" in path]
    assert starts[1].startswith("bytes=300000-")


def hasty_then(server):
    return Patience(wait=lambda _s: server.canned.clear())


def test_redirects_to_another_host_get_no_token(tmp_path):
    files = write(tmp_path)
    with hub_server(o__r=Repo(files)) as cdn, hub_server(o__r=Repo(files, gated=True)) as server:
        server.cdn = cdn.url
        assert len(read(server, token=TOKEN).tensors) == 5
    assert len(cdn.asked) == 1
    assert "authorization" not in cdn.asked[0][1]
    assert cdn.asked[0][1]["range"].startswith("bytes=0-")
    assert all(h["authorization"] == f"Bearer {TOKEN}" for _, h in server.asked)


def test_gated_builds_are_explained(tmp_path):
    with hub_server(o__r=Repo(write(tmp_path), gated=True)) as server:
        error = refused(server)
        assert error.code == "download_gated"
        assert error.reason.text().startswith("o/r is given only to those")
        assert f"Open {server.url}/o/r, agree" in error.reason.advice()
        assert "HF_TOKEN" in error.reason.advice()


@pytest.mark.parametrize(
    ("canned", "code", "requests"),
    [
        (Canned(404), "download_gone", 1),
        (Canned(200, b"<html>", {"Content-Type": "text/html"}), "download_failed", 1),
        (Canned(200, b"<html>"), "download_failed", 1),
        (Canned(302, headers={"Location": "http://example.org/x"}), "download_failed", 1),
        (Canned(302, headers={"Location": FILE}), "download_failed", 3),
        (Canned(500), "download_failed", 3),
        (Canned(429, headers={"Retry-After": "31"}), "download_failed", 1),
        (Canned(429, headers={"Retry-After": "2"}), "download_failed", 3),
        (Canned(200, b""), "download_failed", 3),
        (Canned(206, b"GGUF"), "download_failed", 3),
    ],
)
def test_refusals_in_words(tmp_path, canned, code, requests):
    with hub_server(o__r=Repo(write(tmp_path))) as server:
        server.canned[FILE] = [canned]
        assert refused(server).code == code
    hops = 9 if canned.headers.get("Location") == FILE else 1
    assert sum("resolve" in path for path, _ in server.asked) == requests * hops


def test_what_is_no_gguf_file():
    content = b"PK\x03\x04" + bytes(100)
    with hub_server(o__r=Repo({"x-Q4_0.gguf": content})) as server:
        assert refused(server).code == "not_gguf"


def test_a_cut_header_is_told(tmp_path):
    content = next(iter(write(tmp_path).values()))[:500]
    with hub_server(o__r=Repo({"x-Q4_0.gguf": content})) as server:
        error = refused(server)
    assert error.code == "gguf_cut_header"
    assert error.reason.params["found_bytes"] == 500


def test_a_slow_server_is_left(tmp_path):
    clock = count(step=50.0)
    with hub_server(o__r=Repo(write(tmp_path, tokens=200_000))) as server:
        error = refused(server, patience=Patience(wait=lambda _s: None, clock=lambda: next(clock)))
    assert error.code == "download_failed"
    assert "120 s" in str(error)


# split sets


def test_split_sets_are_one_header(tmp_path):
    files = write(tmp_path, split=2)
    assert len(files) == 3
    with hub_server(o__r=Repo(files)) as server:
        found = read(server)
    assert [t.name for t in found.tensors] == [f"blk.{n}.weight" for n in range(5)]
    assert found.architecture == "llama"
    assert found.integer("block_count") == 2


def test_later_parts_alone_are_no_build(tmp_path):
    part = list(write(tmp_path, split=2).values())[1]
    with pytest.raises(BuildError) as caught:
        read_header_from(io.BytesIO(part), len(part), "x")
    assert caught.value.code == "gguf_header"
    assert len(read_header_from(io.BytesIO(part), len(part), "x", later_part=True).tensors) == 2


def shuffled(parts):
    return [parts[0], parts[2], parts[1]]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (shuffled, "part 2 of 3"),
        (lambda parts: [parts[0], parts[1], parts[1]], "part 3 of 3"),
        (lambda parts: parts[:2], "part 1 of 2"),
    ],
)
def test_parts_that_do_not_belong_together(tmp_path, change, word):
    parts = change(list(write(tmp_path, split=2).values()))
    files = {f"x-Q4_0-{n:05}-of-{len(parts):05}.gguf": p for n, p in enumerate(parts, 1)}
    with hub_server(o__r=Repo(files)) as server:
        error = refused(server)
    assert error.code == "gguf_header"
    assert word in str(error)


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        (b"blk.2.weight", b"blk.0.weight", "twice"),
        (b"split.tensors.count", b"split.tensors.kount", "declares"),
    ],
)
def test_parts_that_contradict_each_other(tmp_path, old, new, word):
    files = {name: part.replace(old, new) for name, part in write(tmp_path, split=2).items()}
    with hub_server(o__r=Repo(files)) as server:
        error = refused(server)
    assert error.code == "gguf_header"
    assert word in str(error)


# hostile files


def string(raw):
    return struct.pack("<Q", len(raw)) + raw


def pair(key, kind, value):
    return string(key) + struct.pack("<I", kind) + value


def array(kind, length, content):
    return struct.pack("<IQ", kind, length) + content


START = pair(b"general.architecture", 8, string(b"llama"))
KEPT = metadata.MAX_KEPT_ELEMENTS


def hostile(pairs, tensors=b"", n_tensors=0):
    head = b"GGUF" + struct.pack("<IQQ", 3, n_tensors, 1 + len(pairs))
    return head + START + b"".join(pairs) + tensors


def many_tensors(number):
    """Of the largest names and shapes that are taken, each with its own place."""
    infos = (
        string(f"{n:08}".encode() + "é日".encode() + b"x" * 50)
        + struct.pack("<IQQQQIQ", 4, 1000, 1, 1, 1, 0, n * 4000 + (1 << 50))
        for n in range(number)
    )
    return b"".join(infos)


def all_at_once():
    """As much of all as the limits take together."""
    values = b"".join(struct.pack("<Q", (1 << 62) + i) for i in range(KEPT))
    pairs = [
        pair(b"a%d" % n, 9, array(10, KEPT, values)) for n in range(cursor.MAX_KEPT_VALUES // KEPT)
    ]
    pairs += [pair(b"k%d" % n, 10, struct.pack("<Q", 1 << 62)) for n in range(9000)]
    return hostile(pairs, many_tensors(header.MAX_TENSORS), header.MAX_TENSORS)


HOSTILE = {
    "numbers": lambda: hostile(
        [pair(b"k%d" % n, 9, array(10, KEPT, b"\xff" * 8 * KEPT)) for n in range(8000)]
    ),
    "bytes": lambda: hostile(
        [pair(b"k%d" % n, 9, array(0, KEPT, bytes(KEPT))) for n in range(9000)]
    ),
    "empty strings": lambda: hostile(
        [pair(b"k%d" % n, 9, array(8, KEPT, bytes(8 * KEPT))) for n in range(7000)]
    ),
    "short strings": lambda: hostile(
        [pair(b"k%d" % n, 9, array(8, KEPT, string("日".encode()) * KEPT)) for n in range(1300)]
    ),
    "wide texts": lambda: hostile(
        [pair(b"t%d" % n, 8, string("😀".encode() + b"x" * 1_000_000)) for n in range(5)]
    ),
    "broken texts": lambda: hostile(
        [pair(b"t%d" % n, 8, string(b"\xff" * 1_000_000)) for n in range(5)]
    ),
    "tensors": lambda: hostile([], many_tensors(header.MAX_TENSORS), header.MAX_TENSORS),
    "all": all_at_once,
    "long list": lambda: hostile([pair(b"k", 9, array(8, 1 << 40, bytes(4 << 20)))]),
    "huge string": lambda: hostile([pair(b"k", 8, struct.pack("<Q", 1 << 63))]),
    "huge array": lambda: hostile([pair(b"k", 9, array(12, 1 << 61, bytes(100)))]),
}


@pytest.mark.parametrize("made", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_header_takes_64_mb(made):
    stream = io.BytesIO(made())
    size = len(stream.getbuffer())
    tracemalloc.start()
    try:
        with pytest.raises(BuildError):
            read_header_from(stream, size, "x")
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_what_is_fetched():
    number = (cursor.MAX_HEADER_BYTES >> 3) - 100
    content = hostile([pair(b"k", 9, array(10, number, bytes(8 * number)))]) + bytes(8 << 20)
    with hub_server(o__r=Repo({"x-Q4_0.gguf": content})) as server, Hub(server.url) as hub:
        files = hub.wanted(find(hub, "o/r"))
        tracemalloc.start()
        try:
            found = remote_header(hub.session, files, hasty())
            peak_bytes = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert found.metadata["k"] == ArrayInfo("u64", number)
    assert server.sent >= cursor.MAX_HEADER_BYTES - 1000
    # counting the server's own copies of what it sends, which is in this process too
    assert peak_bytes < 64 << 20


VALID = hostile(
    [pair(b"x", 9, array(5, 2, bytes(8))), pair(b"s", 9, array(8, 2, string(b"ab") * 2))],
    string(b"a") + struct.pack("<IQQIQ", 2, 64, 2, 3, 0),
    1,
)
VALID += bytes(-len(VALID) % 32) + bytes(80)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.tuples(st.integers(0, len(VALID) - 1), st.binary(min_size=1, max_size=8)), max_size=4
    ),
    st.integers(0, 100),
    st.booleans(),
)
def test_whatever_comes_is_a_header_or_an_error(changes, cut, ranged):
    content = bytearray(VALID)
    for at, new in changes:
        content[at : at + len(new)] = new
    content = bytes(content[: len(content) - cut]) or b"G"
    try:
        expected = read_header_from(io.BytesIO(content), len(content), "x-Q4_0.gguf")
    except BuildError as e:
        expected = e.reason
    with hub_server(o__r=Repo({"x-Q4_0.gguf": content})) as server:
        server.ranges = ranged
        try:
            found = read(server)
        except BuildError as e:
            found = e.reason
    assert repr(found) == repr(expected)


def test_random_faults_end_in_the_header_or_an_error(tmp_path):
    files = write(tmp_path, tokens=2000)
    name, content = next(iter(files.items()))
    local = read_header(tmp_path / name)
    choice = random.Random(5)
    for _ in range(30):
        faults = [
            Canned(
                choice.choice([200, 206, 206, 404, 429, 500, 503, 302]),
                content[: choice.randrange(len(content))] if choice.random() < 0.8 else b"<html>",
                choice.choice(
                    [{}, {"Content-Range": f"bytes 0-9/{len(content)}"}, {"Location": "/"}]
                ),
                cut=choice.choice([None, 0, 1000]),
            )
            for _ in range(choice.randrange(1, 4))
        ]
        with hub_server(o__r=Repo(files)) as server:
            server.canned[FILE] = faults
            try:
                found = read(server)
            except BuildError as e:
                found = e.reason.advice()
        assert found
        assert isinstance(found, str) or found == local
