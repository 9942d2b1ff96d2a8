"""Whether a build is called as a model of the catalogue is: finetunes have its shape, too."""

import re
from collections.abc import Iterable
from typing import Final

from desktop.records.build import Build
from desktop.records.model import Model

_WORD: Final = re.compile(r"[a-z0-9.+]+")
_REPOSITORY: Final = re.compile(r"^hf\.co/[^/]*/")
_SPLIT_SET: Final = re.compile(r"-\d{5}-of-\d{5}")
_MARKS: Final = re.compile(r"\.gguf\b|[.-]i1\b|[.-]imatrix\b|[.-]imat\b|:latest\b")
"""Of the file and of how its quantization was made, not of the model."""
_NEUTRAL: Final = frozenset((
    "gguf", "ggml", "org", "model", "bartowski", "unsloth", "mradermacher", "lmstudio",
    "community", "thebloke", "quantfactory", "maziyarpanahi", "second", "state", "hf",
))  # fmt: skip
"""What says of no model which one it is: formats and packagers."""
_VARIANTS: Final = frozenset((
    "base", "pt", "chat", "instruct", "inst", "it", "abliterated", "uncensored", "heretic",
    "reasoning", "reasoner", "thinking", "think", "plus", "coder", "code", "math", "distill",
    "r1", "z1", "vl", "vision", "omni", "qat", "dpo", "sft", "rl", "lora", "merge", "merged",
    "finetune", "finetuned", "tuned", "mini", "lite", "flash", "air", "next", "nano", "super",
    "roleplay", "rp", "medical", "guard", "embedding", "reranker", "beta",
))  # fmt: skip
"""What makes a model of the same shape another one."""
_LEAST_GLUED: Final = 3


def likeliest(alike: Iterable[Model], build: Build) -> Model:
    """The one of several models of a build's shape whose id goes best with its words."""
    told = _words(_file_text(build)) | _words(_header_text(build))

    def likeness(model: Model) -> tuple[int, int]:
        words = _words(model.id)
        return len(words & told), -len(words - told)

    return max(alike, key=likeness)


def is_named(model: Model, build: Build) -> bool:
    """Whether a build's file or header names the model, and neither another of its shape.

    A file that names it has no further words but those of publishers and packagers; the header of
    such a file, which some leave full of chance words, has none that is known to make another
    model. Of a file that does not name it, the header has to, as strictly, and the file's words
    have to be the model's (`llama3.2`).
    """
    publishers = {w for alias in model.aliases if "/" in alias for w in _words(_owner(alias))}
    neutral = _NEUTRAL | publishers
    file, header = _words(_file_text(build)), _words(_header_text(build))
    return any(
        (_is_whole(name, file, neutral) and not (header - name) & _VARIANTS)
        or (_is_whole(name, header, neutral) and _is_of(name, file - neutral))
        for name in _names(model)
    )


def _names(model: Model) -> tuple[frozenset[str], ...]:
    ends = (alias.rpartition("/")[2] for alias in model.aliases)
    return tuple(_words(name) for name in (model.id, model.name, *ends))


def _is_whole(name: frozenset[str], told: frozenset[str], neutral: frozenset[str]) -> bool:
    return name <= told and told - name <= neutral


def _is_of(name: frozenset[str], told: frozenset[str]) -> bool:
    """Whether each of the words is one of the name's, or several of them without a gap."""
    glued = {one + other for one in name for other in name if len(one + other) >= _LEAST_GLUED}
    return told <= name | glued


def _owner(alias: str) -> str:
    return alias.rpartition("/")[0]


def _file_text(build: Build) -> str:
    """A build's name without owner and quantization."""
    name, label = _REPOSITORY.sub("", build.name.casefold()), (build.quantization or "").casefold()
    name = name.replace(label, " ") if label else name
    return _MARKS.sub(" ", _SPLIT_SET.sub(" ", name))


def _header_text(build: Build) -> str:
    return (build.model_name or "").casefold()


def _words(text: str) -> frozenset[str]:
    """Versions stay whole: `3.1` is not `3`."""
    return frozenset(word.strip(".") for word in _WORD.findall(text.casefold())) - {""}
