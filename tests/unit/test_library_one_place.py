"""One sha256 has one place in the library, under whatever names it is asked for; cut files."""

import hashlib
import json
from datetime import UTC, datetime, timedelta

import pytest

from desktop.builds.library import LIST, Library
from desktop.builds.library_care import Care
from desktop.builds.reference import obtain_reference, reference, stored_reference
from desktop.paths import Paths
from desktop.records.library import Kept
from tests.unit.gguf_files import gguf_bytes
from tests.unit.named import named_build

NAME = "hf.co/o/a:Q4_0"


@pytest.fixture
def content(tmp_path) -> bytes:
    return gguf_bytes(tmp_path, 1)


@pytest.fixture
def library(home) -> Library:
    return Library(home)


def sum_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def fetched(library: Library, content: bytes, file: str = "a.gguf", name: str = NAME) -> str:
    sha256 = sum_of(content)
    (target,) = library.expect(name, {file: sha256}, None, {file: len(content)})
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(content)
    return sha256


def test_under_a_second_name_it_lies_where_it_lay(library, content):
    sha256 = sum_of(content)
    first = library.expect(NAME, {"a.gguf": sha256}, "https://x/a")
    second = library.expect("hf.co/o/b:Q4_0", {"folder/b.gguf": sha256}, "https://x/b")
    assert first == second == library.places({"c.gguf": sha256})
    row = library.row(sha256)
    assert (row.name, row.url) == ("hf.co/o/b:Q4_0", "https://x/b")
    assert dict(row.files) == {"a.gguf": sha256}


def test_the_parts_of_a_set_keep_the_names_by_which_the_engine_finds_them(library):
    sums = [str(n) * 64 for n in (1, 2)]
    names = [f"a-0000{n}-of-00002.gguf" for n in (1, 2)]
    first = library.expect(NAME, dict(zip(names, sums, strict=True)), None)
    others = [name.replace("a-", "b-") for name in names]
    changed = dict(zip(others, [sums[0], "3" * 64], strict=True))
    assert library.expect(NAME, changed, None) == first == library.places(changed)
    assert list(library.row(sums[0]).files.values()) == [sums[0], "3" * 64]


def test_another_number_of_files_is_another_build_of_files(library):
    library.expect(NAME, {"a.gguf": "1" * 64}, None)
    files = {"b-1.gguf": "1" * 64, "b-2.gguf": "2" * 64}
    assert [p.name for p in library.expect(NAME, files, None)] == ["b-1.gguf", "b-2.gguf"]


def test_the_reference_lies_under_its_own_name_whoever_fetches_it(library):
    facts = reference()
    (target,) = library.expect(NAME, {"Model.Q4_1.gguf": facts.sha256}, None)
    assert target.name == facts.stored_as


@pytest.mark.parametrize("size", [0, 100])
def test_a_cut_file_is_not_whole(library, home, content, size):
    sha256 = fetched(library, content)
    assert library.entry(sha256).kept is Kept.WHOLE
    library.entry(sha256).path.write_bytes(content[:size])
    assert library.entry(sha256).kept is Kept.DAMAGED
    told = Care(library, home).check(sha256).told
    assert told is not None
    assert told.code == "library_damaged"


def test_sizes_are_of_all_files_or_not_known(library, content):
    sha256 = fetched(library, content)
    assert library.entry(sha256).whole_bytes == len(content)
    library.expect(NAME, {"a.gguf": sha256}, None)
    assert library.entry(sha256).whole_bytes is None


@pytest.mark.parametrize(
    "sizes", [None, [], "a.gguf", {"a.gguf": "9"}, {"a.gguf": True}, {"x.gguf": 9}]
)
def test_a_list_without_sizes_or_with_none_is_read_as_before(library, home, content, sizes):
    sha256 = fetched(library, content)
    file = home.data / LIST
    table = json.loads(file.read_text())
    row = table["builds"][sha256]
    row.pop("sizes") if sizes is None else row.update(sizes=sizes)
    file.write_text(json.dumps(table))
    entry = library.entry(sha256)
    assert (entry.kept, entry.ours, entry.whole_bytes) == (Kept.WHOLE, True, None)


class FetchedSince(Library):
    """Another process notes the build while it is removed."""

    def __init__(self, paths: Paths) -> None:
        super().__init__(paths, lambda: datetime.now(UTC) + timedelta(days=1))

    def forget(self, sha256, as_noted):
        self.expect("hf.co/o/b:Q4_0", {"b.gguf": sha256}, None)
        super().forget(sha256, as_noted)


def test_a_download_that_began_meanwhile_keeps_its_note(home, library, content):
    sha256 = fetched(library, content)
    assert Care(FetchedSince(home), home).delete(sha256) == len(content)
    assert library.row(sha256).name == "hf.co/o/b:Q4_0"
    assert fetched(library, content) == sha256
    assert library.entry(sha256).ours


def test_what_is_freed_is_what_goes(library, home, content):
    sha256 = fetched(library, content)
    folder = library.entry(sha256).path.parent
    (folder / "mine.gguf").write_bytes(content)
    for left in (".old.gguf.partial", ".old.gguf.pieces", ".old.gguf.lock", "old.gguf.damaged"):
        (folder / left).write_bytes(b"x" * 4096)
    entry = library.entry(sha256)
    assert entry.freed_bytes >= len(content) + 4096  # pieces may take less than they seem to
    assert entry.size_bytes == entry.freed_bytes + len(content)
    assert Care(library, home).delete(sha256) == entry.freed_bytes
    assert [p.name for p in folder.iterdir()] == ["mine.gguf"]


def test_what_somebody_put_where_the_reference_lies_is_not_gram_s_to_remove(library, home):
    folder = home.builds / reference().sha256
    folder.mkdir()
    (folder / "mine.gguf").write_bytes(b"GGUF")
    entry = library.entry(reference().sha256)
    assert (entry.path.name, entry.ours, entry.kept) == ("mine.gguf", False, Kept.WHOLE)


# the reference build


def obtained(home, fetch=None):
    return obtain_reference(home, environment={}, progress=lambda *_: None, fetch=fetch)


def never(wanted, target, progress):
    raise AssertionError("nothing should be fetched")


@pytest.mark.parametrize("noted", [True, False])
def test_the_reference_is_its_bytes_under_any_name(home, library, reference_file, noted):
    folder = home.builds / reference().sha256
    folder.mkdir()
    file = folder / "Another-Name.gguf"
    file.symlink_to(reference_file)
    if noted:  # as lists tell that were written before all took one name
        library.expect(NAME, {"x.gguf": reference().sha256}, None)
        list_file = home.data / LIST
        list_file.write_text(list_file.read_text().replace(reference().stored_as, file.name))
    assert stored_reference(home) == file
    local, reason = obtained(home, never)
    assert (local.path, reason) == (file, None)
    assert (local.build.name, local.build.synthetic) == (str(reference().name), False)
    assert named_build(home, "reference").path == file


def test_bad_bytes_of_the_reference_stay_where_somebody_put_them(home, reference_file):
    folder = home.builds / reference().sha256
    folder.mkdir()
    (folder / "mine.gguf").write_bytes(b"GGUF")

    def fetch(wanted, target, progress):
        target.symlink_to(reference_file)

    local, reason = obtained(home, fetch)
    assert (local.path, reason) == (folder / reference().stored_as, None)
    assert (folder / "mine.gguf").read_bytes() == b"GGUF"


def test_the_reference_that_was_fetched_by_name_is_not_fetched_again(home, library, reference_file):
    facts = reference()
    (target,) = library.expect(
        "hf.co/o/mirror:Q4_1", {"m.gguf": facts.sha256}, None, {"m.gguf": facts.size_bytes}
    )
    target.parent.mkdir()
    target.write_bytes(reference_file.read_bytes())
    assert obtained(home, never)[0].path == target
    entry = library.entry(facts.sha256)
    assert (entry.kept, entry.ours, entry.freed_bytes) == (Kept.WHOLE, True, facts.size_bytes)
    assert Care(library, home).delete(facts.sha256) == facts.size_bytes
    assert not target.parent.exists()
