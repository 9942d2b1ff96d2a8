"""What is signed of a build's name tells of nobody's own machines, registries and repositories."""

import hashlib
import json
import os
from datetime import UTC, datetime

import pytest

from desktop.builds import public_names
from desktop.builds.grouping import group
from desktop.builds.library import Library
from desktop.builds.listings import Listings
from desktop.builds.names import BuildName
from desktop.builds.public_names import PublicNames
from desktop.builds.shipped import shipped_builds, shipped_sums
from desktop.records.offers import GRAM
from desktop.records.on_disk import FoundPlace
from desktop.records.remote import RemoteFile, RepositoryFacts
from desktop.services.profiles import models
from tests.unit.gguf_files import gguf_bytes
from tests.unit.hub_routes import Repo, hub_server
from tests.unit.named import named_build
from tests.unit.test_fetching import fetch

NOW = datetime(2026, 12, 1, tzinfo=UTC)
SUM = "ab" * 32


@pytest.fixture(autouse=True)
def person(tmp_path, monkeypatch):
    for name in tuple(os.environ):
        if name.startswith(("HF_", "HUGGINGFACE_", "OLLAMA_", "LLAMA_", "XDG_")):
            monkeypatch.delenv(name)
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    return tmp_path


@pytest.fixture
def model(tmp_path):
    return gguf_bytes(tmp_path, 1)


def listed(home, sha256=SUM, *, private=False):
    facts = RepositoryFacts("o", "r", "1" * 40, None, gated=False, private=private)
    Listings(home.data).keep(group(facts, [RemoteFile("x-Q4_0.gguf", 9, sha256)]), NOW)


def allows(home, program, name, sha256=SUM):
    place = FoundPlace(program, name, home.data / "blob", sha256)
    return PublicNames(home.data).allows(place, sha256)


@pytest.mark.parametrize(
    ("program", "name", "allowed"),
    [
        ("Ollama", "llama3.2:1b", True),
        ("Ollama", "someone/smollm2:135m", True),
        ("Ollama", "build-box.corp.example:5000/jane.doe/secret:latest", False),
        ("Ollama", "build-box/jane/secret:latest", False),
        ("Ollama", "hf.co/corp/secret:Q4_0", False),
        ("Hugging Face", "hf.co/corp/secret:Q4_0", False),
        ("LM Studio", "someone/smollm2:135m", False),
        ("Jan", "jane.doe/secret", False),
        ("GPT4All", "C:\\Users\\jane\\x.gguf", False),
        ("own folder", "tiny-Q4_0.gguf", True),
        ("own folder", "tiny\u202e.gguf", False),
        ("own folder", "x" * 201, False),
        (GRAM, "hf.co/o/r:Q4_0", True),
    ],
)
def test_by_their_form(home, program, name, allowed):
    assert allows(home, program, name) is allowed


@pytest.mark.parametrize("private", [False, True, None])
def test_a_name_on_the_hub_that_is_known_to_be_everybody_s(home, private):
    listed(home, private=private)
    everybody_s = private is False
    assert allows(home, "Hugging Face", "hf.co/O/r:Q4_0") is everybody_s
    assert allows(home, "Ollama", "hf.co/o/r:x-Q4_0.gguf") is everybody_s
    # another file of that name, or another repository
    assert not allows(home, "Hugging Face", "hf.co/o/r:Q4_0", "cd" * 32)
    assert not allows(home, "Hugging Face", "hf.co/o/s:Q4_0")


def test_what_is_shipped_is_known_without_asking(home):
    build = next(b for b in shipped_builds(models()) if b.files and len(b.files) == 1)
    assert build.sha256 in shipped_sums(build.repository.upper())
    assert allows(home, "Hugging Face", build.name, build.sha256)
    assert not allows(home, "Hugging Face", build.name)


def test_what_is_not_needed_is_not_read(home, monkeypatch):
    monkeypatch.setattr(public_names, "Listings", None)
    assert allows(home, "Ollama", "llama3.2:1b")


def in_ollama(tmp_path, data, *steps):
    sha256 = hashlib.sha256(data).hexdigest()
    store = tmp_path / ".ollama" / "models"
    blob, manifest = store / "blobs" / f"sha256-{sha256}", store.joinpath("manifests", *steps)
    for path in (blob, manifest):
        path.parent.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(data)
    layer = {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{sha256}"}
    manifest.write_text(json.dumps({"layers": [layer]}))
    return blob


def test_a_company_s_registry_is_named_here_and_not_in_what_is_signed(home, tmp_path, model):
    host = "build-box.corp.example"
    blob = in_ollama(tmp_path, model, host, "jane.doe", "secret", "latest")
    local = named_build(home, f"{host}/jane.doe/secret")
    assert (local.path, local.build.name) == (blob, blob.name)


def test_a_private_repository_in_the_hub_s_cache(home, tmp_path, model):
    repo = tmp_path / ".cache" / "huggingface" / "hub" / "models--o--r"
    sha256 = hashlib.sha256(model).hexdigest()
    snapshot = repo / "snapshots" / "0123"
    for folder in (snapshot, repo / "blobs"):
        folder.mkdir(parents=True)
    (repo / "blobs" / sha256).write_bytes(model)
    (snapshot / "x-Q4_0.gguf").symlink_to(repo / "blobs" / sha256)
    assert named_build(home, "o/r:Q4_0").build.name == "x-Q4_0.gguf"
    listed(home, sha256)
    assert named_build(home, "o/r:Q4_0").build.name == "hf.co/o/r:Q4_0"


@pytest.mark.parametrize("told", [False, True, None])
def test_what_gram_fetched_of_a_private_repository_has_its_file_s_name(home, model, told):
    repo = Repo({"x-Q4_0.gguf": model}, told={"private": told})
    with hub_server(o__r=repo) as hub:
        held = fetch(hub, home, name="o/r").run().held
    assert held.name == "hf.co/o/r:Q4_0"
    [row] = [Library(home).row(entry.sha256) for entry in Library(home).entries().entries]
    assert row.private is (told is not False)
    found = named_build(home, str(BuildName("o", "r", "Q4_0")))
    assert found.build.name == ("hf.co/o/r:Q4_0" if told is False else "x-Q4_0.gguf")
    assert Listings(home.data).of("o/r").listing.repository.private is told
