"""Names of builds as users write them, and back."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, urlsplit

HUB: Final = "https://huggingface.co"
_HOSTS: Final = ("hf.co", "huggingface.co", "www.huggingface.co")
_NAME: Final = re.compile(
    r"(?P<owner>[A-Za-z0-9][\w.-]{0,95})/(?P<repo>[A-Za-z0-9][\w.-]{0,95})"
    r"(?::(?P<tag>[A-Za-z0-9][\w.-]{0,127}))?",
    re.ASCII,
)
_GGUF: Final = ".gguf"


@dataclass(frozen=True, slots=True)
class BuildName:
    """A build on Hugging Face; `str()` gives `hf.co/owner/repo:Q4_K_M`."""

    owner: str
    repo: str
    quantization: str | None = None
    """As written, `Q4_K_M`; None: not said."""
    file: str | None = None
    """The file inside the repository, folders with forward slashes."""
    revision: str | None = None
    """Branch or commit; None: the main branch."""

    def __str__(self) -> str:
        """The name as users write it."""
        tag = self.quantization or (self.file or "").rpartition("/")[2]
        base = f"hf.co/{self.owner}/{self.repo}"
        return f"{base}:{tag}" if tag else base

    def same_build(self, other: "BuildName") -> bool:
        """Whether both name the same thing; capitals do not count."""
        return str(self).casefold() == str(other).casefold()

    def url(self, endpoint: str = HUB) -> str | None:
        """Where its file is downloaded; None while the file is not known."""
        if self.file is None:
            return None
        revision = quote(self.revision or "main", safe="")
        base = f"{endpoint.rstrip('/')}/{self.owner}/{self.repo}"
        return f"{base}/resolve/{revision}/{quote(self.file)}"


def parse_name(text: str) -> BuildName | Path:
    """Read what a user wrote: a name, a Hugging Face address, or else a path (`~` expanded).

    `owner/repo` reads as a name: whoever has a folder of that name looks on the disk first.
    """
    text = text.strip()
    short = _without_host(text)
    if short.startswith(("http://", "https://")):
        return Path(text)
    found = _NAME.fullmatch(short)
    if found and (found["tag"] or not found["repo"].lower().endswith(_GGUF)):
        return _from_tag(found["owner"], found["repo"], found["tag"])
    return (_from_address(short) if short != text else None) or _path(text)


def _without_host(text: str) -> str:
    parts = urlsplit(text) if text.startswith(("http://", "https://")) else None
    if parts is not None:
        return unquote(parts.path).strip("/") if parts.hostname in _HOSTS else text
    host, slash, rest = text.partition("/")
    return rest if slash and host.lower() in _HOSTS else text


def _from_tag(owner: str, repo: str, tag: str | None) -> BuildName:
    if tag and tag.lower().endswith(_GGUF):
        return BuildName(owner, repo, file=tag)
    return BuildName(owner, repo, tag)


def _from_address(path: str) -> BuildName | None:
    """`owner/repo/blob/main/folder/file.gguf`, as the site's addresses are."""
    parts = path.split("/")
    if len(parts) < 4 or not _NAME.fullmatch("/".join(parts[:2])):  # noqa: PLR2004
        return None
    owner, repo, verb, revision = parts[:4]
    if verb not in {"resolve", "blob", "tree", "raw"}:
        return None
    file = "/".join(parts[4:]) or None
    return BuildName(owner, repo, file=file, revision=None if revision == "main" else revision)


def _path(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # `~somebody` who is not a user here
        return Path(text)
