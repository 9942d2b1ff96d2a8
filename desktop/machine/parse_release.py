"""The system's version in words, without anything that its owner may have written."""

import re
from typing import Final

from desktop.machine.names import cut

_WINDOWS_11_BUILD: Final = 22000
_ARCHITECTURES: Final = {"amd64": "x86_64", "x64": "x86_64", "aarch64": "arm64", "i686": "x86"}


def linux_version(os_release: str | None, kernel: str) -> str:
    """`Debian GNU/Linux 12 (bookworm), kernel 6.1.0`.

    Only the numbers of the kernel's release: the rest of it may be the builder's own words.
    """
    name = _field(os_release or "", "PRETTY_NAME") or _field(os_release or "", "NAME")
    numbers = re.match(r"\d+(?:\.\d+)*", kernel)
    parts = [name, f"kernel {numbers.group()}" if numbers else None]
    return ", ".join(part for part in parts if part) or "unknown"


def windows_version(build: tuple[int, int, int] | None) -> str:
    """`11 (build 26100)`; Windows 11 still calls itself 10.0."""
    if build is None:
        return "unknown"
    major = 11 if build[0] == 10 and build[2] >= _WINDOWS_11_BUILD else build[0]  # noqa: PLR2004
    return f"{major} (build {build[2]})"


def architecture(told: str) -> str:
    """One word for one thing: `AMD64` and `x86_64`, `aarch64` and `arm64` are the same."""
    return _ARCHITECTURES.get(told.lower(), told.lower()) or "unknown"


def _field(text: str, key: str) -> str | None:
    found = re.search(rf"^{key}=(.*)$", text, re.MULTILINE)
    return (cut(found.group(1)).strip().strip("\"'") or None) if found else None
