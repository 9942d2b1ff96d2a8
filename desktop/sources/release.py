"""Which system this is."""

import platform
import sys
from pathlib import Path

from desktop.sources import files


def read_os_release(root: Path = Path("/")) -> str | None:
    """`os-release` of a Linux distribution."""
    return files.read_text(root / "etc/os-release") or files.read_text(root / "usr/lib/os-release")


def read_kernel() -> str:
    """The kernel's release, `6.1.0-18-amd64`."""
    return platform.release()


def read_architecture() -> str:
    """The processor architecture in the system's own words, `x86_64`, `AMD64`, `aarch64`."""
    return platform.machine()


def read_mac_version() -> str | None:
    """`15.3.1`; None elsewhere."""
    return platform.mac_ver()[0] or None


def read_windows_build() -> tuple[int, int, int] | None:
    """Major, minor, build; None elsewhere."""
    build: tuple[int, int, int] | None = None
    if sys.platform == "win32":
        version = sys.getwindowsversion()
        build = version.major, version.minor, version.build
    return build
