"""Names of builds both ways, for any of them; and which paths of a repository are safe."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from desktop.builds.names import BuildName, is_repository, is_safe_path, no_name, parse_name

WORDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,20}", fullmatch=True)
TAGS = WORDS.filter(lambda tag: not tag.lower().endswith(".gguf"))
LETTERS = st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])
STEPS = st.text(LETTERS | st.sampled_from(" .%#&+é日@="), min_size=1, max_size=12)
PATHS = st.lists(STEPS, min_size=1, max_size=4).map("/".join).filter(is_safe_path)
FILES = PATHS | PATHS.map(lambda p: f"{p}.gguf").filter(is_safe_path)
REVISIONS = PATHS.filter(lambda r: r != "main")


@given(
    st.builds(BuildName, WORDS, WORDS, file=st.none() | FILES, revision=st.none() | REVISIONS)
    | st.builds(BuildName, WORDS, WORDS, TAGS)
)
@example(BuildName("o", "r.gguf"))
@example(BuildName("o", "r.gguf", file="x.gguf"))
@example(BuildName("o", "r", file="README.md"))
@example(BuildName("o", "r", file="a/b#c=d.gguf"))
@example(BuildName("o", "r", file="100%25.gguf"))
@example(BuildName("o", "r", revision="refs/pr/1"))
def test_names_are_read_back(name):
    assert parse_name(str(name)) == name


@given(st.text(max_size=60) | st.text("ab/:.gu f%2F\\?#&-", max_size=40).map("hf.co/o/r".__add__))
@example("https://huggingface.co/o/r/blob/main/%00.gguf")
@example("https://[/o/r")
@example("hf.co/o/r:")
def test_anything_reads_as_something(text):
    found = parse_name(text)
    if isinstance(found, BuildName):
        assert is_repository(f"{found.owner}/{found.repo}")
        assert found.file is None or is_safe_path(found.file)
        assert parse_name(str(found)) == found
    else:
        assert isinstance(found, Path)


@pytest.mark.parametrize(
    "text",
    [
        "o/r:../x.gguf",
        "o/r:/x.gguf",
        "o/r:a\\x.gguf",
        "o/r:\u202ex.gguf",
        "o/r:a/nul.gguf",
        "https://huggingface.co/o/r/blob/main/a/../x.gguf",
        "https://huggingface.co/o/r/blob/main/a/%2E%2E/x.gguf",
        "https://huggingface.co/o/r/blob/main/" + "a" * 300 + ".gguf",
        "https://huggingface.co.evil.example/o/r/blob/main/x.gguf",
        "https://huggingface.co@evil.example/o/r",
    ],
)
def test_what_is_no_name(text):
    assert isinstance(parse_name(text), Path)


@pytest.mark.parametrize(
    "path", ["a b.gguf", "d/日本.gguf", "Q4_K_M/x-00001-of-00002.gguf", "a..b"]
)
def test_safe_paths(path):
    assert is_safe_path(path)


@pytest.mark.parametrize(
    "path", ["", ".", "..", "a/..", "/a", "a/", "a//b", "COM1.txt", "a.", "a*", "a\x7f"]
)
def test_unsafe_paths(path):
    assert not is_safe_path(path)


@pytest.mark.parametrize(
    ("text", "mirror", "file"),
    [
        ("http://127.0.0.1:99/o/r/resolve/main/d/x.gguf", "http://127.0.0.1:99", "d/x.gguf"),
        ("https://M.example:443/hub/o/r/blob/main/x.gguf", "https://m.example/hub/", "x.gguf"),
        ("https://m.example/o/r", "https://m.example", None),
        ("https://huggingface.co/o/r/blob/main/x.gguf", "https://m.example", "x.gguf"),
    ],
)
def test_addresses_of_the_mirror_are_names(text, mirror, file):
    assert parse_name(text, mirror) == BuildName("o", "r", file=file)


@pytest.mark.parametrize(
    ("text", "mirror"),
    [
        ("http://127.0.0.1:98/o/r", "http://127.0.0.1:99"),
        ("https://m.example/hubo/r", "https://m.example/hub"),
        ("https://m.example/o/r", "https://huggingface.co"),
        ("https://[/o/r", "https://m.example"),
        ("http://127.0.0.1:x/o/r", "http://127.0.0.1:99"),
    ],
)
def test_other_addresses_are_none(text, mirror):
    assert isinstance(parse_name(text, mirror), Path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("llama3.2:1b", "llama 3.2 1b"),
        ("SmolLM2-360M-Instruct", "SmolLM 2 360M Instruct"),
        ("ollama run hf.co/x/Tiny-GGUF", "Tiny GGUF"),
        ("https://example.org/tiny_q4.gguf", "tiny q 4"),
        ("", "llama 3.2"),
    ],
)
def test_what_is_no_name_is_told_whole_with_what_to_search_for(text, words):
    error = no_name(text)
    assert f"“{text}”" in str(error)
    assert f"`gram builds search {words}`" in str(error)
    assert "owner/repo/file.gguf" in str(error)
