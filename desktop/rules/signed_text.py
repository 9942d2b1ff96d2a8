"""Text that may be signed: no folders, no addresses or serials by their shape, no control signs.

The allow-list of fields is the first guard; this is the second, for what a driver or the author of
a GGUF file may have put into an allowed field.
"""

import re

MAX_CHARACTERS = 256
_MAX_RAW = 4096
_HUB_NAME = re.compile(r"hf\.co/[\w.-]+/[\w.-]+(:[\w.-]+)?")
_DRIVE = re.compile(r"[A-Za-z]:")
# the folders of a path: from a root, a home, a drive or a share up to the last separator
_FOLDERS = re.compile(
    r"(?:"
    r"(?<![\w.)\]])/(?=\S)"  # with spaces around it parts two names
    r"|(?<!\w)~[\w.-]*[\\/]"  # ~/x, ~bob/x
    r"|(?<![\w.])\.{1,2}[\\/]"  # ./x, ../x
    r"|(?<![\w.-])(?:home|[Uu]sers)[\\/]"  # wherever it stands: another name comes next
    r"|\b[A-Za-z]:(?:[\\/]|(?=[^\\/\s:]+[\\/]))"  # C:\x, C:folder\x
    r"|\\\\"
    r")(?:[^\\/]*[\\/])*"
)
# a home's own name, where it is the last of its path
_HOME = re.compile(
    r"(?<![\w-])(?:[A-Za-z]:)?[\\/]*(?:home|[Uu]sers)[\\/]+[^\\/\s]+(?![^\\/]*[\\/])(?!\S)"
)
_HEX = "[0-9A-Fa-f]"
_GROUPS = rf"{_HEX}{{1,4}}(?::{_HEX}{{1,4}}){{0,6}}"
_ADDRESSES = re.compile(
    r"\[(?:[0-9A-Fa-f.]*:){2,8}[0-9A-Fa-f.]*(?:%\w{1,32})?\](?::\d{1,5})?"  # IPv6
    r"|\[[^\[\]\s]{1,255}:\d{1,5}\]"  # host and port, as RPC devices are named
    rf"|\b(?:{_HEX}{{2}}[:-]){{5,7}}{_HEX}{{2}}\b"  # MAC, EUI-64
    rf"|(?<![\w:.])(?:(?:{_HEX}{{1,4}}:){{7}}{_HEX}{{1,4}}|{_GROUPS}::(?:{_GROUPS})?|::{_GROUPS})"
    r"(?:\.\d{1,3}){0,3}(?:%\w{1,32})?(?![\w:])"  # IPv6 without brackets
    rf"|\b(?:GPU-|MIG-)?{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}\b"  # UUID
    rf"|\b(?:{_HEX}{{4,8}}:)?{_HEX}{{2}}:{_HEX}{{2}}\.[0-7]\b"  # PCI
    r"|\b\d{1,3}(?:\.\d{1,3}){3}(?![\d.]):\d{1,5}(?!\w)"  # IPv4 with a port; without, a version
    r"|(?<![\w.+-])[\w.+-]+@[A-Za-z][\w.-]*:?"  # a user at a host, mail
    r"|(?<![\w.-])[A-Za-z][\w-]*(?:\.[\w-]+)*\.(?:local|localdomain|lan|internal)\b(?::\d{1,5})?"
    r"|(?<![\w.-])[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)+:\d{1,5}(?!\w)"  # host.name:port
    r"|(?<![\w./-])[A-Za-z][\w-]*:\d{4,5}(?!\w)"  # host:port; fewer digits are a number of ours
)
_SEPARATORS = re.compile(r"[\\/]")
_LEAST_OF_A_PATH = 2
"""Separators: one is an owner's and a model's, or part of a product's name."""


def clean(text: str) -> str:
    """`text` without folders of paths, homes, hosts, hardware addresses and control characters.

    Raises:
        ValueError: longer than `MAX_CHARACTERS`.
    """
    short = _without_places(text)
    if len(short) > MAX_CHARACTERS:
        raise ValueError(f"a text is longer than {MAX_CHARACTERS} characters")
    return short


def shortened(text: str) -> str:
    """As `clean`, but cut after `MAX_CHARACTERS`; `unknown` for what is no name of anything.

    For what a system or a driver tells: it must not cost a whole measurement.
    """
    short = short_or_none(text)
    return short if short is not None else "unknown"


def short_or_none(text: str | None) -> str | None:
    """As `shortened`; None stays None, and is what is no name of anything."""
    if text is None or len(text) > _MAX_RAW:
        return None
    # cut last: half an address would not be known for one
    return _without_places(text)[:MAX_CHARACTERS].rstrip() or None


def build_name(name: str) -> str:
    """`hf.co/owner/repo:TAG` as it is, of everything else what comes after the last separator.

    Raises:
        ValueError: nothing is left of it, or it is too long.
    """
    if _HUB_NAME.fullmatch(name) and is_clean(name):
        return name
    if _looks_like_path(name):
        name = _DRIVE.sub("", _SEPARATORS.split(name)[-1], count=1)
    short = clean(name)
    if not short:
        raise ValueError("the build has no name")
    return short


def model_title(title: str | None) -> str | None:
    """What a file says that its model is called; of a path the last part. None stays None.

    Converters write the folder that they were given where nobody gave them a name.

    Raises:
        ValueError: it is too long.
    """
    if title is None:
        return None
    parts = _SEPARATORS.split(title.rstrip("\\/"))
    return clean(parts[-1] if len(parts) > _LEAST_OF_A_PATH else title)


def is_clean(text: str) -> bool:
    """Whether a text that was read could have been written by `clean`."""
    return len(text) <= MAX_CHARACTERS and text.isprintable()


def _without_places(text: str) -> str:
    if len(text) > _MAX_RAW:
        raise ValueError(f"a text is longer than {_MAX_RAW} characters")
    shown = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(_ADDRESSES.sub("", _FOLDERS.sub("", _HOME.sub("", shown))).split())


def _looks_like_path(name: str) -> bool:
    return "/" in name or "\\" in name or _DRIVE.match(name) is not None
