"""What a native build depends on besides its flags: processor, system and C library."""

import hashlib
import os
import platform
import subprocess
import sys
from pathlib import Path

CPUINFO_KEYS = ("vendor_id", "cpu family", "model", "flags", "CPU implementer", "CPU part",
                "Features")  # fmt: skip


def cpu_features(cpuinfo: str) -> str:
    """The lines of /proc/cpuinfo's first processor that decide what `-march=native` means."""
    first = cpuinfo.split("\n\n", 1)[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return "\n".join(
        f"{key.strip()}={value.strip()}" for key, _, value in pairs if key.strip() in CPUINFO_KEYS
    )


def native_tag() -> str:
    """`linux-x86_64-1a2b3c4d`: system, machine, and a hash of processor and C library."""
    text = f"{_cpu()}\n{_libc()}"
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{sys.platform}-{platform.machine()}-{digest}"


def _cpu() -> str:
    if sys.platform == "win32":
        return os.environ.get("PROCESSOR_IDENTIFIER", "")
    if sys.platform == "darwin":
        argv = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout
    return cpu_features(Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace"))


def _libc() -> str:
    """A library linked on a newer system does not load on an older one."""
    if sys.platform == "win32":
        return ""
    if sys.platform == "darwin":
        return platform.release()
    return os.confstr("CS_GNU_LIBC_VERSION") or ""
