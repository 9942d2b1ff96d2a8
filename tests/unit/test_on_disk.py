"""Builds that other programs keep: every captured folder, traps included, and what is made of it."""

import hashlib
import json
import os
import re
import sys
from pathlib import Path

import pytest

from desktop.builds.hashes import Hashes
from desktop.builds.memory import Memory
from desktop.builds.on_disk.find import find_on_disk, here_now
from desktop.builds.on_disk.here import Here
from desktop.builds.on_disk.identify import identified
from desktop.builds.on_disk.limits import Limits
from desktop.builds.public_names import PublicNames
from desktop.errors import BuildError
from tests.unit.gguf_files import gguf_bytes
from tests.unit.test_builds import write_gguf

NOBODY = PublicNames(Path("nowhere"))
"""No repository was asked."""
CAPTURES = Path(__file__).parents[1] / "captures" / "model_folders"
SYSTEMS = {"linux": "linux", "macos": "darwin", "windows": "win32"}
FILLED = re.compile(r"\{(sha256|size|path|json|slashes):([^{}]+)\}")


class Capture:
    """A captured folder, made below `root`."""

    def __init__(self, name: str, root: Path) -> None:
        self.table = json.loads((CAPTURES / f"{name}.json").read_text(encoding="utf-8"))
        self.root = root
        for part in ("HOME", "DISK", "ROOT"):
            (root / part).mkdir(parents=True)
        self.made: dict[str, bytes] = {}
        tree = self.table["tree"]
        for entry in tree:
            if facts := entry.get("gguf"):
                self.made[str(facts["seed"])] = gguf_bytes(
                    root, facts["seed"], facts.get("is"), facts.get("split")
                )
        self.texts = {e["id"]: e["text"] for e in tree if "id" in e}
        # links last: they may lead to folders
        for entry in sorted(tree, key=lambda e: e["kind"] == "link"):
            self.make(entry)

    def filled(self, text: str) -> str:
        return FILLED.sub(lambda found: self.fill(found[1], found[2]), text)

    def fill(self, what: str, of: str) -> str:
        if what in {"path", "json", "slashes"}:
            path = str(self.root / of) if of.startswith(("HOME", "DISK", "ROOT")) else of
            return json.dumps(path)[1:-1] if what == "json" else path
        if of in self.texts:
            self.made[of] = self.filled(self.texts[of]).encode()
        data = self.made[of]
        return str(len(data)) if what == "size" else hashlib.sha256(data).hexdigest()

    def path(self, text: str) -> Path:
        return self.root / self.filled(text)

    def make(self, entry) -> None:
        path = self.path(entry["path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        if entry["kind"] == "folder":
            path.mkdir(parents=True, exist_ok=True)
        elif entry["kind"] == "link":
            path.symlink_to(self.filled(entry["target"]))
        elif facts := entry.get("gguf"):
            data = self.made[str(facts["seed"])]
            cut = {True: len(data) * 2 // 3, "header": 40}.get(facts.get("cut"), len(data))
            path.write_bytes(data[:cut])
        else:
            path.write_bytes(self.filled(entry["text"]).encode())

    @property
    def here(self) -> Here:
        environment = {k: str(self.path(v)) for k, v in self.table["environment"].items()}
        system = SYSTEMS[self.table["os"]]
        return Here(self.root / "HOME", environment, system, self.root / "ROOT")

    @property
    def folders(self) -> tuple[str, ...]:
        return tuple(str(self.path(folder)) for folder in self.table.get("folders", ()))


def snapshot(root: Path) -> list[tuple[object, ...]]:
    """All that lies below `root`, as it lies there."""
    found = []
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            s = (Path(folder) / name).lstat()
            found.append((folder, name, s.st_mode, s.st_size, s.st_mtime_ns, s.st_ino, s.st_nlink))
    return sorted(found)


def real(path: Path | str) -> str:
    return os.path.realpath(path)


NAMES = sorted(path.stem for path in CAPTURES.glob("*.json"))


@pytest.mark.skipif(sys.platform == "win32", reason="links and names that Windows refuses")
@pytest.mark.parametrize("name", NAMES)
def test_captured_folders(name, tmp_path):
    capture = Capture(name, tmp_path / "disk")
    before = snapshot(capture.root)
    hashes = Hashes(tmp_path / "hashes.json")
    for build in find_on_disk(capture.here, folders=capture.folders).builds:
        if len(build.files) == 1:
            assert hashes.sha256(build.files[0])
    found = find_on_disk(capture.here, folders=capture.folders, hashes=hashes)
    assert snapshot(capture.root) == before

    at = {real(place.path): build for build in found.builds for place in build.places}
    allowed = {real(capture.path(e["path"])) for e in capture.table.get("either", ())}
    for wanted in capture.table["expected"]:
        build = at.get(real(capture.path(wanted["path"])))
        assert build is not None, (wanted["path"], [r.text() for r in found.told])
        names = {p.name.casefold() for p in build.places}
        if wanted["name"] is not None:
            right = {n.casefold() for n in (wanted["name"], *wanted.get("also_named", ()))}
            assert build.name.casefold() in right
            assert right <= names
        if wanted["program"] in {p.program for b in found.builds for p in b.places}:
            assert build.places[0].program == wanted["program"]
        parts = [real(capture.path(p)) for p in wanted.get("parts", ())]
        assert [real(p) for p in build.files[1:]] == parts
        allowed |= {real(capture.path(p)) for p in (wanted["path"], *wanted.get("also", ()))}
    for wrong in capture.table["not_expected"]:
        path = real(capture.path(wrong["path"]))
        assert path not in at or path in allowed, wrong
    assert set(at) <= allowed
    for reason in found.told:
        assert str(tmp_path) not in reason.text()


def own(folder: Path, **limits):
    """What is found in one folder that a person added."""
    here = Here(folder.parent / "nobody")
    found = find_on_disk(here, folders=(str(folder),), limits=Limits(**limits))
    return [b.name for b in found.builds], [r.code for r in found.told]


@pytest.fixture
def model(tmp_path) -> bytes:
    return gguf_bytes(tmp_path, 1)


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


def test_nothing_is_there(tmp_path):
    for system in SYSTEMS.values():
        found = find_on_disk(Here(tmp_path / "nobody", {}, system, tmp_path))
        assert (found.builds, found.told) == ((), ())


def test_an_added_folder_that_is_not_there_is_told(tmp_path):
    assert own(tmp_path / "gone") == ([], ["on_disk_no_folder"])
    (tmp_path / "file").write_text("x")
    assert own(tmp_path / "file") == ([], ["on_disk_no_folder"])


def test_folders_are_read_as_people_write_them(tmp_path, folder, model):
    (folder / "a.gguf").write_bytes(model)
    for text in (
        "~/models",
        ' "~/models/" ',
        str(folder),
        "models",
    ):
        assert len(find_on_disk(Here(tmp_path), folders=(text,)).builds) == 1
    assert find_on_disk(Here(tmp_path), folders=("a\0b", "")).builds == ()


def test_links_of_both_kinds_and_copies(tmp_path, folder, model):
    (folder / "a.gguf").write_bytes(model)
    os.link(folder / "a.gguf", folder / "hard.gguf")
    (folder / "soft.gguf").symlink_to("a.gguf")
    (folder / "copy.gguf").write_bytes(model)
    (folder / "other.gguf").write_bytes(gguf_bytes(tmp_path, 2))
    here, hashes = Here(tmp_path / "nobody"), Hashes(tmp_path / "hashes.json")

    first = find_on_disk(here, folders=(str(folder),), hashes=hashes).builds
    assert [len(b.places) for b in first] == [3, 1, 1]
    assert {b.sha256 for b in first} == {None}
    for build in first:
        hashes.sha256(build.files[0])
    then = find_on_disk(here, folders=(str(folder),), hashes=hashes).builds
    assert [(b.name, len(b.places)) for b in then] == [("a.gguf", 4), ("other.gguf", 1)]
    assert then[0].sha256 == hashlib.sha256(model).hexdigest()


def test_one_blob_in_two_programs(tmp_path, model):
    sha256 = hashlib.sha256(model).hexdigest()
    store = tmp_path / ".ollama" / "models"
    blob = store / "blobs" / f"sha256-{sha256}"
    manifest = store / "manifests" / "registry.ollama.ai" / "library" / "tiny" / "1b"
    linked = tmp_path / ".lmstudio" / "models" / "owner" / "repo" / "tiny-Q4_0.gguf"
    for path in (blob, manifest, linked):
        path.parent.mkdir(parents=True)
    blob.write_bytes(model)
    layer = {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{sha256}"}
    manifest.write_text(json.dumps({"layers": [layer]}))
    linked.symlink_to(blob)
    (build,) = find_on_disk(Here(tmp_path)).builds
    assert [p.program for p in build.places] == ["LM Studio", "Ollama"]
    assert (build.sha256, build.claimed_sha256) == (None, sha256)
    assert build.name == "hf.co/owner/repo:Q4_0"
    # LM Studio's folders prove nothing, Ollama's name of the blob does
    assert (
        identified(build, Hashes(tmp_path / "h.json"), public=NOBODY.allows).build.name == "tiny:1b"
    )


def test_what_a_program_says_is_verified(tmp_path, model):
    store = tmp_path / ".ollama" / "models"
    manifests = store / "manifests" / "registry.ollama.ai" / "library" / "tiny"
    manifests.mkdir(parents=True)
    (store / "blobs").mkdir()
    for tag, sha256 in (("true", hashlib.sha256(model).hexdigest()), ("lie", "0" * 64)):
        layer = {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{sha256}"}
        (manifests / tag).write_text(json.dumps({"layers": [layer]}))
        (store / "blobs" / f"sha256-{sha256}").write_bytes(model)
    lie, true = find_on_disk(Here(tmp_path)).builds
    assert (lie.name, true.name) == ("tiny:lie", "tiny:true")
    hashes = Hashes(tmp_path / "hashes.json")
    assert identified(true, hashes, public=NOBODY.allows).build.name == "tiny:true"
    (manifests / "true").rename(manifests / "t\u202ee")
    hidden = find_on_disk(Here(tmp_path)).builds[1]
    assert identified(hidden, hashes, public=NOBODY.allows).build.name.startswith("sha256-")
    with pytest.raises(BuildError) as caught:
        identified(lie, hashes, public=NOBODY.allows)
    assert caught.value.code == "on_disk_claim_wrong"


def test_a_name_without_proof_is_not_signed(folder, tmp_path, model):
    linked = tmp_path / ".lmstudio" / "models" / "owner" / "repo" / "tiny-Q4_0.gguf"
    linked.parent.mkdir(parents=True)
    linked.write_bytes(model)
    (build,) = find_on_disk(Here(tmp_path)).builds
    assert (
        identified(build, Hashes(tmp_path / "h.json"), public=NOBODY.allows).build.name
        == "tiny-Q4_0.gguf"
    )


def test_a_split_set_is_one_build(folder, tmp_path):
    for n in range(2):
        data = gguf_bytes(tmp_path, n, split=(n, 2))
        (folder / f"a-Q4_0-0000{n + 1}-of-00002.gguf").write_bytes(data)
    (build,) = find_on_disk(Here(tmp_path / "nobody"), folders=(str(folder),)).builds
    assert [p.name for p in build.files] == [f"a-Q4_0-0000{n}-of-00002.gguf" for n in (1, 2)]
    build.files[0].unlink()
    assert own(folder) == ([], ["on_disk_parts"])


def test_later_parts_of_a_set_are_whole_too(folder, tmp_path):
    first, second = (gguf_bytes(tmp_path, n, split=(n, 2)) for n in range(2))
    (folder / "a-00001-of-00002.gguf").write_bytes(first)
    for wrong in (second[: len(second) * 2 // 3], b"GGUF" + bytes(100), b"no"):
        (folder / "a-00002-of-00002.gguf").write_bytes(wrong)
        assert own(folder) == ([], ["on_disk_bad", "on_disk_parts"])


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_links_to_elsewhere_are_followed_and_links_up_are_not(folder, model, tmp_path):
    (tmp_path / "outside.gguf").write_bytes(model)
    drive = tmp_path / "drive" / "shelf"
    drive.mkdir(parents=True)
    (drive / "a.gguf").write_bytes(gguf_bytes(tmp_path, 2))
    (drive / "back").symlink_to(folder)
    (folder / "up").symlink_to(tmp_path)
    (folder / "all").symlink_to("/")
    (folder / "shelf").symlink_to(drive)
    assert own(folder) == (["a.gguf"], [])


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_folder_has_its_own_name_and_not_that_of_a_link_to_it(tmp_path, model):
    models = tmp_path / ".lmstudio" / "models"
    repo = models / "owner" / "repo"
    repo.mkdir(parents=True)
    (repo / "tiny-Q4_0.gguf").write_bytes(model)
    (models / "a-link").symlink_to("owner")
    (build,) = find_on_disk(Here(tmp_path)).builds
    assert build.name == "hf.co/owner/repo:Q4_0"


def test_limits_end_a_search_and_are_told(folder, model):
    for n in range(30):
        (folder / f"{n:02}.gguf").write_bytes(model if n < 5 else b"no")
    names, told = own(folder, entries=3, complaints=100)
    assert (len(names) + told.count("on_disk_bad"), told.count("on_disk_limit")) == (3, 1)
    names, told = own(folder, complaints=4)
    assert (len(names), told) == (5, ["on_disk_bad"] * 4 + ["on_disk_more"])
    assert "on_disk_limit" in own(folder, complaints=0, entries=3)[1]
    ticks = iter(range(10_000))
    names, told = own(folder, seconds=33.0, now=lambda: float(next(ticks)))
    assert (names, told) == (["00.gguf", "01.gguf", "02.gguf"], ["on_disk_limit"])
    deep = folder / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (deep / "deep.gguf").write_bytes(model)
    assert "on_disk_deep" in own(folder, depth=2, complaints=100)[1]
    assert "deep.gguf" in own(folder, depth=3)[0]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes in folders")
def test_pipes_are_not_waited_for(folder, model):
    os.mkfifo(folder / "pipe.gguf")
    (folder / "a.gguf").write_bytes(model)
    assert own(folder) == (["a.gguf"], ["on_disk_unreadable"])


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads all")
def test_closed_folders_and_files(folder, model, tmp_path):
    closed = folder / "closed"
    closed.mkdir()
    (folder / "a.gguf").write_bytes(model)
    (folder / "b.gguf").write_bytes(model)
    (folder / "b.gguf").chmod(0)
    closed.chmod(0)
    try:
        assert own(folder) == (["a.gguf"], ["on_disk_unreadable"] * 2)
        here = Here(tmp_path, {"OLLAMA_MODELS": str(closed), "LLAMA_CACHE": str(closed)})
        assert {r.code for r in find_on_disk(here).told} == {"on_disk_unreadable"}
    finally:
        closed.chmod(0o700)


def test_gram_s_own_folder_is_left_out(folder, tmp_path, model):
    builds = folder / "builds"
    builds.mkdir()
    (builds / "mine.gguf").write_bytes(model)
    (folder / "theirs.gguf").write_bytes(gguf_bytes(tmp_path, 2))
    here = Here(tmp_path / "nobody", own=builds)
    found = find_on_disk(here, folders=(str(folder),))
    assert [b.name for b in found.builds] == ["theirs.gguf"]


def test_headers_are_read_once_until_a_file_changes(folder, model, tmp_path):
    (folder / "a.gguf").write_bytes(model)
    (folder / "b.gguf").write_bytes(gguf_bytes(tmp_path, 2, "adapter"))
    here, file = Here(tmp_path / "nobody"), tmp_path / "cache" / "headers.json"

    def names() -> list[str]:
        found = find_on_disk(here, folders=(str(folder),), headers=Memory(file))
        return [b.name for b in found.builds]

    assert names() == names() == ["a.gguf"]
    assert str(tmp_path) not in file.read_text()
    # what is remembered is believed
    file.write_text(file.read_text().replace("other", "build"))
    assert names() == ["a.gguf", "b.gguf"]
    (folder / "b.gguf").write_bytes(gguf_bytes(tmp_path, 3, "adapter"))
    assert names() == ["a.gguf"]


def test_the_quantization_is_the_header_s_and_remembered(folder, model, tmp_path):
    file = tmp_path / "cache" / "headers.json"
    write_gguf(folder / "a-Q8_0.gguf", file_type=15, llama__block_count=1)
    (folder / "b.gguf").write_bytes(model)
    for _ in range(2):
        found = find_on_disk(
            Here(tmp_path / "nobody"), folders=(str(folder),), headers=Memory(file)
        )
        assert [b.quantization for b in found.builds] == ["Q4_K_M", "F16"]
    assert sorted(json.loads(file.read_text()).values()) == ["build F16", "build Q4_K_M"]


def test_this_machine_can_be_looked_at(home):
    here = here_now(home)
    assert (here.system, here.own) == (sys.platform, home.builds)
