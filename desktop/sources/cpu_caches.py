"""The processor's last-level caches, where the system tells of them."""

import re
from pathlib import Path
from typing import Final

from desktop.sources.files import children, read_integer, read_line

ROOT: Final = Path("/sys/devices/system/cpu")
_SIZE: Final = re.compile(r"(\d{1,9})([KM]?)")
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20}
_MOST_BYTES: Final = 1 << 33


def last_level_cache_bytes(root: Path = ROOT) -> int | None:
    """All last-level caches together, each once; None where they are not told (not on Linux).

    Source: `cache/index*` of Linux's sysfs (Documentation/ABI/testing/sysfs-devices-system-cpu). A
    virtual machine tells what its host lets it see.
    """
    found: dict[tuple[int, str], int] = {}
    for cpu in children(root, "cpu[0-9]*"):
        for cache in children(cpu / "cache", "index[0-9]*"):
            level, shared = read_integer(cache / "level"), read_line(cache / "shared_cpu_list")
            size = _bytes(read_line(cache / "size") or "")
            if level and shared and size and read_line(cache / "type") != "Instruction":
                found[level, shared] = size
    if not found:
        return None
    last = max(level for level, _ in found)
    return sum(size for (level, _), size in found.items() if level == last)


def _bytes(text: str) -> int | None:
    match = _SIZE.fullmatch(text)
    size = int(match[1]) * _UNITS[match[2]] if match else 0
    return size if 0 < size <= _MOST_BYTES else None
