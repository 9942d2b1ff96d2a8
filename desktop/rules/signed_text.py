"""Text that may be signed: no folders, no addresses or serials by their shape, no control signs.

The allow-list of fields is the first guard; this is the second, for what a driver or the author of
a GGUF file may have put into an allowed field.
"""

import re

MAX_CHARACTERS = 256
_MAX_RAW = 4096
_HUB_NAME = re.compile(r"hf\.co/[\w.-]+/[\w.-]+(:[\w.-]+)?")
_DRIVE = re.compile(r"[A-Za-z]:")
# the folders of an absolute path: from a root, a drive or a share up to the last separator
_FOLDERS = re.compile(r"(?:(?<![\w.)\]])~?/|\b[A-Za-z]:[\\/]|\\\\)(?:[^\\/]*[\\/])*")
_HEX = "[0-9A-Fa-f]"
_ADDRESSES = re.compile(
    rf"\b(?:{_HEX}{{2}}[:-]){{5,7}}{_HEX}{{2}}\b"  # MAC, EUI-64
    rf"|\b(?:GPU-|MIG-)?{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}\b"  # UUID
    rf"|\b(?:{_HEX}{{4,8}}:)?{_HEX}{{2}}:{_HEX}{{2}}\.[0-7]\b"  # PCI
    r"|\b\d{1,3}(?:\.\d{1,3}){3}(?![\d.])(?=:\d+\b)"  # IPv4 with a port; without, a version
)


def clean(text: str) -> str:
    """`text` without folders of absolute paths, hardware addresses and control characters.

    Raises:
        ValueError: longer than `MAX_CHARACTERS`.
    """
    if len(text) > _MAX_RAW:
        raise ValueError(f"a text is longer than {_MAX_RAW} characters")
    shown = "".join(c if c.isprintable() else " " for c in text)
    short = " ".join(_ADDRESSES.sub("", _FOLDERS.sub("", shown)).split())
    if len(short) > MAX_CHARACTERS:
        raise ValueError(f"a text is longer than {MAX_CHARACTERS} characters")
    return short


def build_name(name: str) -> str:
    """`hf.co/owner/repo:TAG` as it is, of everything else what comes after the last separator.

    Raises:
        ValueError: nothing is left of it, or it is too long.
    """
    if not _HUB_NAME.fullmatch(name):
        name = (
            _DRIVE.sub("", re.split(r"[\\/]", name)[-1], count=1)
            if _looks_like_path(name)
            else name
        )
    short = clean(name)
    if not short:
        raise ValueError("the build has no name")
    return short


def is_clean(text: str) -> bool:
    """Whether a text that was read could have been written by `clean`."""
    return len(text) <= MAX_CHARACTERS and text.isprintable()


def _looks_like_path(name: str) -> bool:
    return "/" in name or "\\" in name or _DRIVE.match(name) is not None
