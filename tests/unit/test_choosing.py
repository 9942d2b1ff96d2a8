"""Builds of a repository: grouped from its files, named as users do, found by those names."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.builds.choosing import choose, listing
from desktop.builds.grouping import group
from desktop.builds.names import BuildName, parse_name
from desktop.builds.quant_labels import is_beside, label_of
from desktop.builds.repository import Hub
from desktop.errors import BuildError
from desktop.records.remote import RemoteFile, RepositoryFacts
from tests.unit.hub_routes import COMMIT, Canned, Repo, find, hub_server

FACTS = RepositoryFacts("o", "r", COMMIT, "mit", gated=False)


def files(*paths):
    return [RemoteFile(path, 10 + n, f"{n:064x}") for n, path in enumerate(paths)]


def listed(*paths):
    return group(FACTS, files(*paths))


def names(*paths):
    return [build.name for build in listed(*paths).builds]


def chosen(text, *paths):
    name = parse_name(text)
    return [file.path for file in choose(listed(*paths), name).files]


def refused(text, *paths):
    with pytest.raises(BuildError) as caught:
        chosen(text, *paths)
    return caught.value


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("gemma-3-1b-it-Q4_K_M.gguf", "Q4_K_M"),
        ("qwen2.5-0.5b-instruct-q4_k_m.gguf", "Q4_K_M"),
        ("SmolLM2-135M-Instruct.Q4_1.gguf", "Q4_1"),
        ("Qwen3-30B-A3B-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"),
        ("Llama-3.2-1B.i1-IQ4_XS.gguf", "IQ4_XS"),
        ("Llama-IQ3_XXS.gguf", "IQ3_XXS"),
        ("model-BF16-00001-of-00002.gguf", "BF16"),
        ("gpt-oss-20b-mxfp4.gguf", "MXFP4"),
        ("gpt-oss-120b-mxfp4-00001-of-00003.gguf", "MXFP4"),
        ("Qwen3-MXFP4_MOE.gguf", "MXFP4_MOE"),
        ("Phi-3-mini-4k-instruct-q4.gguf", "Q4"),
        ("Phi-3-mini-4k-instruct-fp16.gguf", "F16"),
        ("x-Q4_0_4_8.gguf", "Q4_0_4_8"),
        ("x-Q6_K_L.gguf", "Q6_K_L"),
        ("x-TQ2_0.gguf", "TQ2_0"),
        ("x-Q4_K_M_v2.gguf", "Q4_K_M"),
        ("x-f16-Q8_0.gguf", "Q8_0"),
        ("Q4_K_M/model-00001-of-00002.gguf", "Q4_K_M"),
        ("UD-IQ1_S/x/model.gguf", "UD-IQ1_S"),
        ("Q8_0/x-Q4_0.gguf", "Q4_0"),
        ("model.gguf", None),
        ("q2w-IQ.gguf", None),
        ("Yi-34B-F160.gguf", None),
    ],
)
def test_labels(path, label):
    assert label_of(path) == label


@pytest.mark.parametrize(
    "path",
    [
        "mmproj-F16.gguf",
        "d/x.mmproj-Q8_0.gguf",
        "imatrix_unsloth.gguf",
        "MTP/mtp-x.gguf",
        "x-eagle3-Q4_0.gguf",
    ],
)
def test_what_goes_with_builds_is_set_apart(path):
    assert is_beside(path)
    found = listed(path, "x-Q4_0.gguf")
    assert [f.path for f in found.beside] == [path]
    assert len(found.builds) == 1


def test_one_build_a_quantization():
    assert names("x-Q8_0.gguf", "x-Q4_K_M.gguf") == ["hf.co/o/r:Q8_0", "hf.co/o/r:Q4_K_M"]
    build = listed("x-Q8_0.gguf").builds[0]
    assert (build.size_bytes, build.quantization, build.packager) == (10, "Q8_0", "o")
    assert build.repository.license == "mit"


def test_split_sets_are_one_build():
    parts = [f"Q8_0/x-{n:05}-of-00003.gguf" for n in (3, 1, 2)]
    (build,) = listed(*parts).builds
    assert build.name == "hf.co/o/r:Q8_0"
    assert [f.path[-19:-14] for f in build.files] == ["00001", "00002", "00003"]
    assert build.size_bytes == 10 + 11 + 12


@pytest.mark.parametrize(
    "paths",
    [
        ["x-Q8_0-00001-of-00002.gguf"],
        ["x-Q8_0-00002-of-00002.gguf"],
        ["x-Q8_0-00000-of-00000.gguf"],
        ["x-Q8_0-00001-of-00002.gguf", "y-Q8_0-00002-of-00002.gguf"],
        ["x-Q8_0-00001-of-00002.gguf", "x-Q8_0-00002-of-00003.gguf"],
        ["x-Q8_0-00001-of-99999.gguf"],
    ],
)
def test_sets_that_lack_parts_are_no_builds(paths):
    found = listed(*paths)
    assert found.builds == ()
    assert set(found.incomplete) <= set(paths)
    error = refused("o/r", *paths)
    assert error.code == "hub_no_builds"
    assert "parts" in str(error)


def test_an_empty_file_is_no_build():
    assert group(FACTS, [RemoteFile("x-Q8_0.gguf", 0, None)]).builds == ()


def test_one_quantization_twice_is_told_apart_by_file():
    paths = ("a-Q4_K_M.gguf", "d/b-Q4_K_M.gguf", "x.gguf")
    told = names(*paths)
    assert told == ["hf.co/o/r:a-Q4_K_M.gguf", "hf.co/o/r:d/b-Q4_K_M.gguf", "hf.co/o/r:x.gguf"]
    assert [chosen(name, *paths) for name in told] == [[path] for path in paths]
    error = refused("o/r:Q4_K_M", *paths)
    assert error.code == "hub_several"
    assert "d/b-Q4_K_M.gguf" in str(error)
    assert "x.gguf" not in str(error)
    assert refused("o/r", *paths).code == "hub_several"


MANY = ("x-IQ4_XS.gguf", "x-Q4_K_M.gguf", "x-UD-Q4_K_XL.gguf", "x-Q8_0.gguf", "x-fp16.gguf")


@pytest.mark.parametrize(
    ("tag", "path"),
    [
        ("Q4_K_M", "x-Q4_K_M.gguf"),
        ("q4_k_m", "x-Q4_K_M.gguf"),
        ("UD-Q4_K_XL", "x-UD-Q4_K_XL.gguf"),
        ("Q4_K_XL", "x-UD-Q4_K_XL.gguf"),
        ("F16", "x-fp16.gguf"),
        ("FP16", "x-fp16.gguf"),
        ("X-q8_0.gguf", "x-Q8_0.gguf"),
    ],
)
def test_tags(tag, path):
    assert chosen(f"hf.co/o/r:{tag}", *MANY) == [path]


def test_tags_of_names_with_more_in_them():
    assert chosen("o/r:i1-Q4_K_M", "x.i1-Q4_K_M.gguf", "y.gguf") == ["x.i1-Q4_K_M.gguf"]


@pytest.mark.parametrize("tag", ["Q5_K_M", "K_M.gguf", "Q4_K", "4_K_M", "Q4"])
def test_unknown_tags_list_what_there_is(tag):
    error = refused(f"o/r:{tag}", *MANY)
    assert error.code == "hub_no_tag"
    for told in ("IQ4_XS", "Q4_K_M", "UD-Q4_K_XL", "Q8_0", "F16"):
        assert told in str(error)


def test_long_lists_of_tags_are_cut():
    error = refused("o/r:none", *(f"x{n}-Q4_0.gguf" for n in range(2000)))
    assert "and 1960 more" in str(error)


@pytest.mark.parametrize(
    ("paths", "path"),
    [
        (MANY, "x-Q4_K_M.gguf"),
        (["x-Q8_0.gguf", "x-UD-Q4_K_XL.gguf"], "x-UD-Q4_K_XL.gguf"),
        (["x-F16.gguf", "x-Q8_0.gguf"], "x-Q8_0.gguf"),
        (["x-F16.gguf", "x-Q3_K_M.gguf", "x-Q2_K.gguf"], "x-Q3_K_M.gguf"),
        (["x-IQ2_M.gguf", "x-Q3_K_S.gguf"], "x-Q3_K_S.gguf"),
        (["x.gguf", "x-F32.gguf"], "x-F32.gguf"),
        (["x.gguf"], "x.gguf"),
        (["mmproj-Q4_K_M.gguf", "x-Q8_0.gguf"], "x-Q8_0.gguf"),
    ],
)
def test_without_a_tag_it_is_q4_k_m_or_near(paths, path):
    assert chosen("o/r", *paths) == [path]


@pytest.mark.parametrize(("paths", "word"), [([], "no GGUF"), (["mmproj-F16.gguf"], "model")])
def test_repositories_without_builds(paths, word):
    error = refused("o/r", *paths)
    assert error.code == "hub_no_builds"
    assert word in str(error)
    assert "-GGUF" in str(error)


def test_a_part_of_a_set_means_the_set():
    parts = [f"d/x-Q8_0-{n:05}-of-00002.gguf" for n in (1, 2)]
    address = f"https://huggingface.co/o/r/resolve/main/{parts[1]}?download=true"
    assert chosen(address, *parts, "x-Q4_0.gguf") == parts
    assert chosen("o/r:x-Q8_0-00001-of-00002.gguf", *parts) == parts


QUANTS = st.sampled_from(["Q4_K_M", "Q8_0", "UD-Q4_K_XL", "F16", "BF16", "IQ4_XS", "x", "mmproj"])
STEMS = st.sampled_from(["a", "b-7B", "Q8_0/a", "d/e", "日本", "a b"])


@given(st.sets(st.builds("{}-{}.gguf".format, STEMS, QUANTS), max_size=12))
def test_every_build_is_found_by_its_name(paths):
    found = listed(*sorted(paths))
    for build in found.builds:
        assert choose(found, parse_name(build.name)) == build
    assert len({build.name for build in found.builds}) == len(found.builds)


@given(st.text(max_size=80), st.sampled_from(["", "-00001-of-00001"]))
def test_any_name_is_grouped(text, part):
    listed(f"{text}{part}.gguf", "x-Q4_0.gguf")


def test_what_is_written_is_found_on_the_hub():
    content = {f"x-{q}.gguf": random.Random(q).randbytes(50) for q in ("Q8_0", "Q4_K_M")}
    with hub_server(o__r=Repo(content, {"id": "O/R"})) as server, Hub(server.url) as hub:
        server.repos["O/R"] = server.repos["o/r"]
        build = find(hub, "hf.co/o/r:q8_0")
        (wanted,) = hub.wanted(build)
        assert find(hub, "o/r").quantization == "Q4_K_M"
        old = listing(hub, BuildName("o", "r", revision=COMMIT))
        assert len(old.builds) == 2
    assert build.name == "hf.co/O/R:Q8_0"
    assert build.repository.commit == COMMIT
    assert wanted.url == f"{server.url}/O/R/resolve/{COMMIT}/x-Q8_0.gguf"
    assert (wanted.size_bytes, wanted.name) == (50, "x-Q8_0.gguf")
    assert wanted.sha256 == build.files[0].sha256
    assert server.asked[1][0].startswith(f"/api/models/O/R/tree/{COMMIT}?")


@pytest.mark.parametrize("text", ["x.gguf", "/a/b", ""])
def test_paths_are_not_looked_for(text):
    with hub_server() as server, Hub(server.url) as hub, pytest.raises(BuildError) as caught:
        find(hub, text)
    assert caught.value.code == "build_not_found"
    assert server.asked == []


def test_names_are_of_the_repository_that_answered():
    facts = replace(FACTS, owner="New", repo="Name")
    assert group(facts, files("x-Q8_0.gguf")).builds[0].name == "hf.co/New/Name:Q8_0"


def test_a_listing_knows_how_it_was_asked_for():
    with hub_server(o__r=Repo()) as server, Hub(server.url) as hub:
        server.canned["/api/models/Old/r"] = [Canned(307, headers={"Location": "/api/models/o/r"})]
        assert listing(hub, BuildName("Old", "r")).asked_as == "Old/r"
        server.repos["O/R"] = Repo(told={"id": "o/r"})
        assert listing(hub, BuildName("O", "R")).asked_as is None
        asked = [
            listing(hub, BuildName("o", "r", revision=told)) for told in (COMMIT, "main", None)
        ]
    assert [one.revision for one in asked] == [COMMIT, None, None]
    assert [one.asked_as for one in asked] == [None, None, None]
