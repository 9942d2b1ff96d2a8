"""Names of builds as users write them, and back."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from desktop.errors import is_hidden

HUB: Final = "https://huggingface.co"
_HOSTS: Final = ("hf.co", "huggingface.co", "www.huggingface.co")
_REPOSITORY: Final = r"(?P<owner>[A-Za-z0-9][\w.-]{0,95})/(?P<repo>[A-Za-z0-9][\w.-]{0,95})"
_NAME: Final = re.compile(
    _REPOSITORY + r"(?::(?:(?P<tag>[A-Za-z0-9][\w.-]{0,127})|(?P<file>[^:?#]{1,1024})))?", re.ASCII
)
_GGUF: Final = ".gguf"
_VERBS: Final = frozenset({"resolve", "blob", "tree", "raw"})
_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{kind}{n}" for kind in ("com", "lpt") for n in range(10))}
)
"""Names that Windows keeps for itself, whatever follows a dot."""
_MAX_PATH: Final = 1024
_MAX_STEP: Final = 255


def is_repository(text: str) -> bool:
    """Whether it is `owner/repo`."""
    return len(text) <= _MAX_STEP and re.fullmatch(_REPOSITORY, text, re.ASCII) is not None


def is_safe_path(path: str) -> bool:
    """Whether a path of a repository can be shown, and be kept below a folder of any system.

    Not so are paths that leave the folder, hidden files, names that a system keeps for itself, and
    characters that are not shown or turn writing.
    """
    steps = path.split("/")
    return (
        len(path) <= _MAX_PATH
        and not any(is_hidden(c) or c in '\\:*?"<>|' for c in set(path))
        and all(s == s.strip(" .") for s in steps)
        and all(0 < len(s.encode("utf-8", "replace")) <= _MAX_STEP for s in steps)
        and not any(is_device(s) for s in steps)
    )


def is_device(step: str) -> bool:
    """Whether Windows keeps the name of a file or folder for itself."""
    return step.partition(".")[0].casefold() in _DEVICES


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

    @property
    def repository(self) -> str:
        """`owner/repo`."""
        return f"{self.owner}/{self.repo}"

    def __str__(self) -> str:
        """The name as users write it; the web address where that cannot say it all.

        With a quantization it is the short one: a revision beside it is not shown.
        """
        base = f"hf.co/{self.owner}/{self.repo}"
        if self.quantization:
            return f"{base}:{self.quantization}"
        if self.file is None and self.revision is None:
            return base
        short = f"{base}:{self.file}"
        return short if parse_name(short) == self else self._address()

    def _address(self) -> str:
        verb = "tree" if self.file is None else "blob"
        revision = quote(self.revision or "main", safe="")
        file = "" if self.file is None else f"/{quote(self.file)}"
        return f"{HUB}/{self.owner}/{self.repo}/{verb}/{revision}{file}"

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
    steps = _steps(text)
    found = _NAME.fullmatch("/".join(steps or []))
    if found and (named := _from_tag(found, hosted=_with_host(text))):
        return named
    address = steps if steps is not None and _with_host(text) else None
    return (_from_address(address) if address else None) or _path(text)


def _steps(text: str) -> list[str] | None:
    """What follows the host, at its slashes; None for an address of another host."""
    if text.startswith(("http://", "https://")):
        try:
            parts = urlsplit(text)
        except ValueError:
            return None
        path = parts.path.strip("/")
        return [unquote(s) for s in path.split("/")] if parts.hostname in _HOSTS else None
    return (text.partition("/")[2] if _with_host(text) else text).split("/")


def _with_host(text: str) -> bool:
    host, slash, _ = text.partition("/")
    return (slash != "" and host.lower() in _HOSTS) or text.startswith(("http://", "https://"))


def _from_tag(found: re.Match[str], *, hosted: bool) -> BuildName | None:
    owner, repo, tag, file = found.group("owner", "repo", "tag", "file")
    told = tag or file
    if told and told.lower().endswith(_GGUF):
        return BuildName(owner, repo, file=told) if is_safe_path(told) else None
    if file or (not tag and not hosted and repo.lower().endswith(_GGUF)):
        return None
    return BuildName(owner, repo, tag)


def _from_address(steps: list[str]) -> BuildName | None:
    """`owner/repo/blob/main/folder/file.gguf`, as the site's addresses are."""
    if len(steps) < 4 or not is_repository("/".join(steps[:2])):  # noqa: PLR2004
        return None
    owner, repo, verb, revision = steps[:4]
    file = "/".join(steps[4:]) or None
    if verb not in _VERBS or not is_safe_path(revision) or (file and not is_safe_path(file)):
        return None
    return BuildName(owner, repo, file=file, revision=None if revision == "main" else revision)


def _path(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # `~somebody` who is not a user here
        return Path(text)
