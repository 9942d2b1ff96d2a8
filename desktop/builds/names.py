"""Names of builds as users write them, and back."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from desktop.builds.addresses import NotSecureError, origin
from desktop.errors import BuildError, is_hidden

HUB: Final = "https://huggingface.co"
SHORT_HOST: Final = "hf.co/"
"""What users write before `owner/repo`."""
_HOSTS: Final = ("hf.co", "huggingface.co", "www.huggingface.co")
_REPOSITORY: Final = r"(?P<owner>[A-Za-z0-9][\w.-]{0,95})/(?P<repo>[A-Za-z0-9][\w.-]{0,95})"
_NAME: Final = re.compile(
    _REPOSITORY + r"(?::(?:(?P<tag>[A-Za-z0-9][\w.-]{0,127})|(?P<file>[^:?#]{1,1024})))?", re.ASCII
)
_GGUF: Final = ".gguf"
_WORDS: Final = re.compile(r"\d+(?:\.\d+)*[^\W\d_]*|[^\W\d_]+")
"""`llama`, `3.2` and `1b` of `llama3.2:1b`: what packagers write apart, others write together."""
_MOST_WORDS: Final = 8
_VERBS: Final = frozenset({"resolve", "blob", "tree", "raw"})
_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{kind}{n}" for kind in ("com", "lpt") for n in range(10))}
)
"""Names that Windows keeps for itself, whatever follows a dot."""
_MAX_PATH: Final = 1024
_MAX_STEP: Final = 255


def hosted(text: str) -> "BuildName | None":
    """The name of a build that is written with its host; `a/b` alone may be a folder's."""
    found = parse_name(text) if text.startswith(SHORT_HOST) else None
    return found if isinstance(found, BuildName) else None


def folded(name: str) -> str:
    """A name in small letters without the host, as names are compared."""
    return name.casefold().removeprefix(SHORT_HOST)


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


def parse_name(text: str, mirror: str = HUB) -> BuildName | Path:
    """Read what a user wrote: a name, a Hugging Face address, or else a path (`~` expanded).

    `owner/repo` and `owner/repo/file.gguf` read as names: whoever has such a folder or file looks
    on the disk first.

    Args:
        text: as the person wrote it.
        mirror: the address that is asked in place of Hugging Face's; its addresses count too.
    """
    text = _of_hub(text.strip(), mirror)
    hosted, steps = _with_host(text), _steps(text)
    found = _NAME.fullmatch("/".join(steps or []))
    if found and (named := _from_tag(found, hosted=hosted)):
        return named
    named = _from_address(steps) if hosted and steps else None
    return named or _from_path(steps or [], hosted=hosted) or _path(text)


def is_written_as_a_path(text: str) -> bool:
    """Whether it can be nothing else: it begins at the root, at the home, or at this folder."""
    begins = ("./", "../", "~", ".\\", "..\\")
    return os.path.isabs(text) or text.startswith(begins)  # noqa: PTH117


def no_name(text: str) -> BuildError:
    """The error for what is no name of a build that can be fetched: `build_no_name`."""
    last = text.rpartition("/")[2].removesuffix(_GGUF)
    words = " ".join(_WORDS.findall(last)[:_MOST_WORDS])
    return BuildError("build_no_name", name=text[:_MAX_PATH], words=words or "llama 3.2")


def _of_hub(text: str, mirror: str) -> str:
    """An address of the mirror as Hugging Face's own."""
    if mirror == HUB or not _is_address(text):
        return text
    try:
        same = origin(text) == origin(mirror)
        path, base = urlsplit(text).path, urlsplit(mirror).path.rstrip("/")
    except (NotSecureError, ValueError):
        return text
    return f"{HUB}{path.removeprefix(base)}" if same and path.startswith(f"{base}/") else text


def _steps(text: str) -> list[str] | None:
    """What follows the host, at its slashes; None for an address of another host."""
    if _is_address(text):
        try:
            parts = urlsplit(text)
        except ValueError:
            return None
        path = parts.path.strip("/")
        return [unquote(s) for s in path.split("/")] if parts.hostname in _HOSTS else None
    return (text.partition("/")[2] if _with_host(text) else text).split("/")


def _is_address(text: str) -> bool:
    return text.lower().startswith(("http://", "https://"))


def _with_host(text: str) -> bool:
    host, slash, _ = text.partition("/")
    return (slash != "" and host.lower() in _HOSTS) or _is_address(text)


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


def _from_path(steps: list[str], *, hosted: bool) -> BuildName | None:
    """`owner/repo/file.gguf`, and without a host with folders, as the site shows it at a file."""
    file = "/".join(steps[2:])
    if not file.lower().endswith(_GGUF) or not is_repository("/".join(steps[:2])):
        return None
    if steps[2] in _VERBS and len(steps) > 4:  # noqa: PLR2004
        return _from_address(steps)
    if (hosted and "/" in file) or not is_safe_path(file):
        return None
    return BuildName(steps[0], steps[1], file=file)


def _path(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # `~somebody` who is not a user here
        return Path(text)
