"""Reads the fields of the API's answers: nothing in them is trusted.

Fields as of huggingface_hub's `RepoFile` and `ModelInfo` (src/huggingface_hub/hf_api.py) and of
@huggingface/hub's `ListFileEntry` (packages/hub/src/lib/list-files.ts): a file has `type`, `path`,
`size` and, where it is large, `lfs.oid` (its sha256) and `lfs.size`; a model has `id`, `sha`,
`gated` (false, `auto` or `manual`), `private`, `cardData`, `tags`, and `gguf.architecture` and
`gguf.context_length`.
"""

import re
from typing import Final

from desktop.builds.hashes import is_sha256
from desktop.builds.names import is_repository, is_safe_path
from desktop.errors import visible_text
from desktop.records.remote import RemoteFile, RepositoryFacts

MAX_FILE_BYTES: Final = 1 << 46
MAX_CONTEXT: Final = 1 << 30
_MAX_TAGS: Final = 200
_MAX_TEXT: Final = 200
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_ARCHITECTURE: Final = re.compile(r"[\w.-]{1,64}", re.ASCII)


def read_files(value: object) -> tuple[RemoteFile, ...]:
    """The GGUF files of one page of a tree, without those whose path no folder here should hold.

    Raises:
        ValueError: it is no such page, or a size or checksum is none; fit for people.
    """
    if not isinstance(value, list):
        raise ValueError("it is no list of files")  # noqa: TRY004 - one kind of error for callers
    files = (_file(entry) for entry in value)
    return tuple(file for file in files if file is not None)


def read_facts(value: object) -> RepositoryFacts:
    """What the API says of a model.

    Raises:
        ValueError: it names no repository; fit for people.
    """
    told = _object(value)
    name = told.get("id") or told.get("modelId")
    if not isinstance(name, str) or not is_repository(name):
        raise ValueError("it names no repository")
    owner, _, repo = name.partition("/")
    card, gguf, tags = _object(told.get("cardData")), _object(told.get("gguf")), _tags(told)
    return RepositoryFacts(
        owner=owner,
        repo=repo,
        commit=_matching(told.get("sha"), _COMMIT),
        license=_license(card, tags),
        gated=told.get("gated") is not None and told.get("gated") is not False,
        base_models=_base_models(card),
        tags=tags,
        architecture=_matching(gguf.get("architecture"), _ARCHITECTURE),
        context_trained=_whole(gguf.get("context_length"), MAX_CONTEXT),
        downloads=_whole(told.get("downloads"), 1 << 53),
        private=_flag(told.get("private")),
    )


def _file(value: object) -> RemoteFile | None:
    """None: a folder, another kind of file, or a path that is not safe."""
    entry = _object(value)
    path = entry.get("path")
    if not isinstance(path, str):
        raise ValueError("a file in it has no path")  # noqa: TRY004
    if entry.get("type") != "file" or not path.lower().endswith(".gguf") or not is_safe_path(path):
        return None
    lfs = entry.get("lfs")
    size = _size(entry.get("size"))
    if lfs is None:
        return RemoteFile(path, size, None)
    declared = _object(lfs)
    sha256 = declared.get("oid")
    if not is_sha256(sha256):
        raise ValueError("the checksum of a file in it is none")
    if _size(declared.get("size")) != size:
        raise ValueError("it gives two sizes for one file")
    return RemoteFile(path, size, sha256)


def _size(value: object) -> int:
    size = _whole(value, MAX_FILE_BYTES)
    if size is None:
        raise ValueError("the size of a file in it is none")
    return size


def _whole(value: object, most: int) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most
    return value if whole and isinstance(value, int) else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _matching(value: object, pattern: re.Pattern[str]) -> str | None:
    return value if isinstance(value, str) and pattern.fullmatch(value) else None


def _object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _tags(told: dict[str, object]) -> tuple[str, ...]:
    return tuple(filter(None, map(_text, _list(told.get("tags")))))[:_MAX_TAGS]


def _license(card: dict[str, object], tags: tuple[str, ...]) -> str | None:
    """`license: other` has its name beside it."""
    declared = [_text(text) for text in _list(card.get("license"))]
    if declared == ["other"]:
        declared = [_text(card.get("license_name")) or "other"]
    by_tag = [tag.partition(":")[2] for tag in tags if tag.startswith("license:")]
    return ", ".join(filter(None, declared[:4] or by_tag[:4])) or None


def _base_models(card: dict[str, object]) -> tuple[str, ...]:
    told = (_text(text) for text in _list(card.get("base_model")))
    return tuple(name for name in told if name and is_repository(name))[:8]


def _list(value: object) -> list[object]:
    if isinstance(value, list):
        return value[:_MAX_TAGS]
    return [] if value is None else [value]


def _text(value: object) -> str | None:
    """A short text fit to be shown; None: it is none."""
    return (
        visible_text(value) or None if isinstance(value, str) and len(value) <= _MAX_TEXT else None
    )
