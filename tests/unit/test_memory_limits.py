"""machine.memory: a container's limit is the machine, as far as memory goes."""

import pytest

from desktop.machine.memory import memory_bytes
from desktop.machine.parse_cgroup import memory_limit
from desktop.sources import cgroups

GIB = 2**30


def group(root, path, **files):
    folder = root / "sys/fs/cgroup" / path
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def member(root, line):
    (root / "proc/self").mkdir(parents=True, exist_ok=True)
    (root / "proc/self/cgroup").write_text(line)


def test_version_2_the_tightest_of_all_groups_above(tmp_path):
    member(tmp_path, "0::/docker/abc\n")
    group(tmp_path, "docker", memory__max=f"{2 * GIB}\n", memory__current=f"{GIB}\n")
    stat = f"anon 1\ninactive_file {GIB // 4}\nactive_file {GIB // 4}\n"
    group(
        tmp_path,
        "docker/abc",
        memory__max=f"{GIB}\n",
        memory__current=f"{GIB * 3 // 4}\n",
        memory__stat=stat,
    )
    assert memory_limit(cgroups.read_memory(tmp_path)) == (GIB, GIB * 3 // 4)


def test_version_1_has_files_of_other_names(tmp_path):
    member(tmp_path, "7:cpu,cpuacct:/x\n5:memory:/x\n")
    group(
        tmp_path,
        "memory/x",
        memory__limit_in_bytes=f"{4 * GIB}",
        memory__usage_in_bytes=f"{3 * GIB}",
        memory__stat=f"total_inactive_file {GIB}\ntotal_active_file 0\ninactive_file 7\n",
    )
    assert memory_limit(cgroups.read_memory(tmp_path)) == (4 * GIB, 2 * GIB)


@pytest.mark.parametrize("limit", ["max", "9223372036854771712", "nonsense", ""])
def test_no_limit_leaves_the_machines_memory(tmp_path, limit):
    member(tmp_path, "0::/\n")
    group(tmp_path, "", memory__max=limit, memory__current="1000")
    total, available = memory_bytes(tmp_path)
    unlimited = memory_bytes(tmp_path / "nothing here")
    assert total == unlimited[0]
    assert 0 < available <= total


def test_a_limit_below_the_machines_memory_counts(tmp_path):
    member(tmp_path, "0::/\n")
    group(tmp_path, "", memory__max=str(64 << 20), memory__current=str(60 << 20))
    assert memory_bytes(tmp_path) == (64 << 20, 4 << 20)


def test_more_used_than_allowed_leaves_nothing():
    assert memory_limit(["100 250 20"]) == (100, 0)
