"""The GGUF reader: what it reads, and that it refuses everything else with a code."""

import io
import struct
import time

import gguf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop.builds import cursor, metadata
from desktop.builds.header import ArrayInfo, data_end, read_header, read_header_from
from desktop.errors import BuildError, Reason
from desktop.records.build import Header, TensorInfo
from desktop.rules.ggml_types import FILE_TYPES, TYPES

ARCHITECTURE = ("general.architecture", 8, "llama")
NAME = "tiny.gguf"


def string(value: str | bytes) -> bytes:
    raw = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(raw)) + raw


def pair(key: str | bytes, kind: int, value) -> bytes:
    start = string(key) + struct.pack("<I", kind)
    if kind == 8:
        return start + string(value)
    if isinstance(value, bytes):
        return start + value
    return start + struct.pack({4: "<I", 7: "<B", 5: "<i", 10: "<Q", 6: "<f"}[kind], value)


def array(kind: int, length: int, content: bytes) -> bytes:
    return struct.pack("<IQ", kind, length) + content


def tensor(name="a", shape=(64, 2), kind=3, offset=0) -> bytes:
    sizes = struct.pack(f"<{len(shape)}Q", *shape)
    return string(name) + struct.pack("<I", len(shape)) + sizes + struct.pack("<IQ", kind, offset)


def small(
    pairs=(ARCHITECTURE,), tensors=None, *, version=3, n_pairs=None, n_tensors=None, data=None
) -> bytes:
    tensors = [tensor()] if tensors is None else tensors
    counts = (
        len(tensors) if n_tensors is None else n_tensors,
        len(pairs) if n_pairs is None else n_pairs,
    )
    head = b"GGUF" + struct.pack("<IQQ", version, *counts)
    head += b"".join(pair(*p) for p in pairs) + b"".join(tensors)
    return head + bytes(-len(head) % 32) + (bytes(80) if data is None else data)


def read(content: bytes) -> Header:
    return read_header_from(io.BytesIO(content), len(content), NAME)


def refused(content: bytes) -> BuildError:
    with pytest.raises(BuildError) as caught:
        read(content)
    assert NAME in str(caught.value)
    return caught.value


def test_types_are_ggmls():
    known = {t.value: (t.name, *sizes) for t, sizes in gguf.GGML_QUANT_SIZES.items()}
    ours = {n: (t.name, t.block_elements, t.block_bytes) for n, t in TYPES.items()}
    assert {n: ours[n] for n in known if n in ours} == {n: known[n] for n in known if n in ours}
    assert set(known) <= set(ours)


def test_file_types_are_llama_cpps():
    known = {t.value: t.name.split("_", 1)[1] for t in gguf.LlamaFileType if t.name != "GUESSED"}
    assert {n: FILE_TYPES.get(n) for n in known} == known


@pytest.mark.parametrize("version", [2, 3])
def test_reads_a_small_file(version):
    values = array(5, 2, struct.pack("<ii", 3, -1))
    content = small(
        (ARCHITECTURE, ("llama.block_count", 4, 2), ("x", 9, values), ("t", 7, 1), ("f", 6, 0.5)),
        version=version,
    )
    header = read(content)
    assert header.architecture == "llama"
    assert header.integer("block_count") == 2
    assert header.metadata["x"] == (3, -1)
    assert header.metadata["t"] is True
    assert header.metadata["f"] == 0.5
    assert header.tensors == (TensorInfo("a", (64, 2), "Q4_1", 0, 80),)
    assert data_end(header) == len(content)
    assert header.version == version


def test_agrees_with_the_gguf_package(reference_file):
    header = read_header(reference_file)
    other = gguf.GGUFReader(reference_file)
    assert header.data_offset_bytes == other.data_offset
    assert [
        (t.name, list(t.shape), t.type, t.offset_bytes + header.data_offset_bytes, t.size_bytes)
        for t in header.tensors
    ] == [
        (t.name, t.shape.tolist(), t.tensor_type.name, t.data_offset, t.n_bytes)
        for t in other.tensors
    ]
    assert header.metadata["tokenizer.ggml.tokens"] == ArrayInfo("string", 49152)
    assert header.metadata["general.license"] == "apache-2.0"


def test_long_lists_are_passed_over_quickly():
    tokens = b"".join(string(f"token{n}") for n in range(150_000))
    numbers = array(5, 150_000, bytes(600_000))
    content = small((ARCHITECTURE, ("tokens", 9, array(8, 150_000, tokens)), ("n", 9, numbers)))
    start = time.process_time()
    header = read(content)
    assert time.process_time() - start < 0.3
    assert header.metadata["tokens"] == ArrayInfo("string", 150_000)
    assert header.metadata["n"] == ArrayInfo("i32", 150_000)
    assert len(header.tensors) == 1


def test_the_hub_needs_no_weights():
    content = small()
    header = read_header_from(io.BytesIO(content[:-80]), len(content), NAME)
    assert data_end(header) == len(content)


def test_slow_streams_are_read_whole():
    class Dribble(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 7))

    content = small()
    assert read_header_from(Dribble(content), len(content), NAME) == read(content)


@pytest.mark.parametrize(
    ("content", "found"),
    [(b"", "nothing"), (b"<!DOCTYPE html>", "<!DO"), (b"PK\x03\x04", "50 4b 03 04"), (b"GG", "GG")],
)
def test_not_gguf(content, found):
    error = refused(content)
    assert error.code == "not_gguf"
    assert found in str(error.reason.params["found"])


@pytest.mark.parametrize("version", [0, 1, 4, 0xFFFFFFFF])
def test_other_versions(version):
    error = refused(small(version=version))
    assert (error.code, error.reason.params["version"]) == ("gguf_version", version)


def test_big_endian():
    assert refused(small(version=0x03000000)).code == "gguf_big_endian"


def test_every_cut_is_told():
    content = small()
    start = read_header_from(io.BytesIO(content), len(content), NAME).data_offset_bytes
    told = set()
    for size in range(4, len(content)):
        error = refused(content[:size])
        told.add(error.code)
        if error.code == "gguf_cut_header":
            # how long the whole would be is not known
            assert size < start
            assert dict(error.reason.params) == {"name": NAME, "found_bytes": size}
        else:
            assert error.code == "gguf_cut"
            params = error.reason.params
            assert int(params["expected_bytes"]) - int(params["missing_bytes"]) == size
    assert told == {"gguf_cut", "gguf_cut_header"}


def test_what_is_missing_of_a_cut_file_is_told_in_a_unit_that_suits_it():
    reason = Reason("gguf_cut", {"name": "x", "expected_bytes": 98_400_000, "missing_bytes": 7})
    assert "speaks of 98.4 MB, and 7 B of them are missing" in reason.text()


HUGE = 1 << 62
DAMAGED = {
    "too many tensors": small(n_tensors=HUGE),
    "too many keys": small(n_pairs=HUGE),
    "no architecture": small((("general.name", 8, "x"),)),
    "architecture is a number": small((("general.architecture", 4, 1),)),
    "architecture with spaces": small((("general.architecture", 8, "a b"),)),
    "architecture too long": small((("general.architecture", 8, "a" * 65),)),
    "key twice": small((ARCHITECTURE, ARCHITECTURE)),
    "key empty": small((ARCHITECTURE, ("", 4, 1))),
    "key not UTF-8": small((ARCHITECTURE, (b"\xff", 4, 1))),
    "key too long": small((ARCHITECTURE, ("k" * 65_536, 4, 1))),
    "unknown value type": small((ARCHITECTURE, ("k", 13, b""))),
    "bool of 2": small((ARCHITECTURE, ("k", 7, 2))),
    "array of arrays": small((ARCHITECTURE, ("k", 9, array(9, 1, b"")))),
    "array of unknown": small((ARCHITECTURE, ("k", 9, array(99, 1, b"")))),
    "huge numbers": small((ARCHITECTURE, ("k", 9, array(10, HUGE, b"")))),
    "huge string": small((ARCHITECTURE, ("k", 8, "x" * ((1 << 20) + 1)))),
    "alignment 0": small((ARCHITECTURE, ("general.alignment", 4, 0))),
    "alignment 24": small((ARCHITECTURE, ("general.alignment", 4, 24))),
    "alignment is text": small((ARCHITECTURE, ("general.alignment", 8, "32"))),
    "alignment is a bool": small((ARCHITECTURE, ("general.alignment", 7, 1))),
    "no dimensions": small(tensors=[tensor(shape=())]),
    "five dimensions": small(tensors=[tensor(shape=(32, 1, 1, 1, 1))]),
    "dimension of 0": small(tensors=[tensor(shape=(32, 0))]),
    "overflow": small(tensors=[tensor(shape=(1 << 32, 1 << 32))]),
    "unknown type": small(tensors=[tensor(kind=4)]),
    "broken row": small(tensors=[tensor(shape=(33,))]),
    "misaligned": small(tensors=[tensor(offset=1)]),
    "overlap": small(tensors=[tensor(), tensor("b", offset=64)], data=bytes(200)),
    "tensor twice": small(tensors=[tensor(), tensor(offset=96)], data=bytes(200)),
    "long tensor name": small(tensors=[tensor("n" * 65)]),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED.keys())
def test_damaged(content):
    error = refused(content)
    assert error.code == "gguf_header"
    assert error.reason.params["detail"]


def test_data_beyond_the_file():
    error = refused(small(tensors=[tensor(offset=1 << 40)]))
    assert error.code == "gguf_cut"


def test_texts_together_are_limited():
    pairs = [ARCHITECTURE, *((f"k{n}", 8, "x" * metadata.MAX_TEXT_VALUE_BYTES) for n in range(4))]
    assert "texts" in str(refused(small(pairs)).reason.params["detail"])


def test_the_header_is_limited():
    length = cursor.MAX_HEADER_BYTES
    error = refused(small((ARCHITECTURE, ("k", 9, array(0, length, b"")))))
    assert error.code == "gguf_header"
    one = struct.pack("<Q", length)
    error = refused(small((ARCHITECTURE, ("k", 9, array(8, 2000, one)))))
    assert error.code == "gguf_header"


def test_details_are_printable():
    error = refused(small((ARCHITECTURE, ("\x1b[31m\n" * 50, 13, b""))))
    assert str(error).isprintable()
    assert len(str(error)) < 500


def test_files(tmp_path):
    path = tmp_path / "secret folder" / NAME
    path.parent.mkdir()
    path.write_bytes(small())
    assert read_header(path).architecture == "llama"
    path.write_bytes(small()[:-1])
    with pytest.raises(BuildError) as caught:
        read_header(path)
    assert caught.value.code == "gguf_cut"
    assert "secret" not in str(caught.value)


def test_no_file(tmp_path):
    for path, code in (
        (tmp_path / "none.gguf", "build_not_found"),
        (tmp_path, "build_unreadable"),
        (tmp_path / ("x" * 5000), "build_unreadable"),
        (tmp_path / "a\0b", "build_not_found"),
    ):
        with pytest.raises(BuildError) as caught:
            read_header(path)
        assert caught.value.code == code
        assert str(tmp_path) not in str(caught.value)


def header_or_error(content: bytes) -> None:
    try:
        header = read(content)
    except BuildError:
        return
    else:
        assert data_end(header) <= len(content) or not header.tensors
        assert all(t.size_bytes > 0 for t in header.tensors)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes(content):
    header_or_error(content)
    header_or_error(b"GGUF\x03\0\0\0" + content)


VALID = small(
    (ARCHITECTURE, ("x", 9, array(5, 2, bytes(8))), ("s", 9, array(8, 2, string("ab") * 2))),
    [tensor(), tensor("b", (256,), 12, 96)],
    data=bytes(96 + 144),
)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, len(VALID) - 1), st.binary(min_size=1, max_size=8)),
        min_size=1,
        max_size=4,
    )
)
def test_mutations(changes):
    assert len(read(VALID).tensors) == 2
    content = bytearray(VALID)
    for at, new in changes:
        content[at : at + len(new)] = new
    header_or_error(bytes(content))
