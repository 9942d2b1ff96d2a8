"""A real split set measured by the real engine, and an Ollama folder's build by Ollama's name."""

import hashlib
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import gguf
import pytest

from desktop.builds.hashes import sha256_of
from desktop.builds.library import Library
from desktop.builds.split_sets import sum_of
from desktop.clock import utc_text
from tests.unit.test_on_disk import snapshot

ROOT = Path(__file__).parents[2]
PARTS = 3
LONG_AGO = datetime(2026, 1, 2, tzinfo=UTC)
pytestmark = pytest.mark.engine


@pytest.fixture
def bench(home, tmp_path):
    """Run `gram bench` on a build in a person's home of its own; gives the run."""
    (tmp_path / "person").mkdir()
    place = str(tmp_path / "person")
    dropped = ("HF_", "HUGGINGFACE_", "OLLAMA_", "LLAMA_", "XDG_", "DBUS_", "GRAM_REFERENCE")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
    environment |= {"PYTHONPATH": str(ROOT), "HOME": place, "USERPROFILE": place}

    def run(build):
        command = [sys.executable, "-m", "desktop", "bench", build, "--unsigned", "--json"]
        command += ["--repetitions", "1", "--tests", "pp16,tg4"]
        done = subprocess.run(
            command,
            env=environment,
            cwd=home.data,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["run"]

    return run


def split(source, folder):
    """`source` as a split set, as gguf's own writer splits it."""
    read = gguf.GGUFReader(source)
    most = -(-len(read.tensors) // PARTS)
    writer = gguf.GGUFWriter(folder / "split-Q4_1.gguf", "llama", split_max_tensors=most)
    for field in read.fields.values():
        if not field.name.startswith(("GGUF.", "general.architecture")):
            inner = field.types[-1] if len(field.types) > 1 else None
            writer.add_key_value(field.name, field.contents(), field.types[0], sub_type=inner)
    for tensor in read.tensors:
        writer.add_tensor(
            tensor.name, tensor.data, raw_shape=tensor.data.shape, raw_dtype=tensor.tensor_type
        )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return sorted(folder.glob("split-*.gguf"))


def test_a_split_set_in_a_folder_of_the_person_is_measured(bench, home, reference_file, tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    parts = split(reference_file, folder)
    assert len(parts) == PARTS
    home.settings.write_text(f"[builds]\nfolders = [{json.dumps(str(folder))}]\n", encoding="utf-8")
    run = bench("split-Q4_1")
    build = run["build"]
    assert (build["name"], build["files"]) == ("split-Q4_1.gguf", PARTS)
    assert build["sha256"] == sum_of([sha256_of(part) for part in parts])
    assert build["size_bytes"] == sum(part.stat().st_size for part in parts)
    assert build["parameters"] == 134_515_008
    assert all(rate["median_tok_s"] > 0 for rate in run["rates"])
    assert bench(str(parts[1]))["build"] == build


def test_of_gram_s_own_it_is_noted_that_it_was_used(bench, home, reference_file):
    sha256 = sha256_of(reference_file)
    (path,) = Library(home, lambda: LONG_AGO).expect("hf.co/o/r:Q4_1", {"x.gguf": sha256}, None)
    path.parent.mkdir()
    path.symlink_to(reference_file)
    before = Library(home).entry(sha256).used_at
    assert before == utc_text(LONG_AGO)
    assert bench("o/r:q4_1")["build"]["sha256"] == sha256
    assert Library(home).entry(sha256).used_at > before


def test_ollama_s_build_is_measured_by_ollama_s_name_in_place(bench, tmp_path, reference_file):
    data = reference_file.read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    store = tmp_path / "person" / ".ollama" / "models"
    blob = store / "blobs" / f"sha256-{sha256}"
    manifest = store / "manifests" / "registry.ollama.ai" / "someone" / "smollm2" / "135m"
    for path in (blob, manifest):
        path.parent.mkdir(parents=True)
    blob.write_bytes(data)
    layer = {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{sha256}"}
    manifest.write_text(json.dumps({"layers": [layer]}))
    before = snapshot(store)
    run = bench("someone/smollm2:135m")
    assert run["build"]["sha256"] == sha256
    assert all(rate["median_tok_s"] > 0 for rate in run["rates"])
    assert snapshot(store) == before
