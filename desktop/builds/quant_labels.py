"""The quantization that a GGUF file's name tells, as people write it, and what is no build."""

import re
from typing import Final

_LABEL: Final = re.compile(
    r"(?<![A-Z0-9])(?:UD-)?"
    r"(?:I?Q[1-9](?:_(?:[0-9]|K|NL|M|X?L|X{0,2}S))*|TQ[12]_0|(?:MX|NV)FP4(?:_MOE)?"
    r"|B?F16|FP16|F32|FP32)"
    r"(?![A-Z0-9])"
)
_SAME: Final = {"FP16": "F16", "FP32": "F32"}
_BESIDE: Final = re.compile(r"mmproj|imatrix|(?:^|[^a-z])(?:mtp|eagle3|dflash|dspark)-")
_BITS: Final = re.compile(r"\d+")
_NEAR: Final = (
    "Q4_K_M", "UD-Q4_K_XL", "Q4_K_L", "Q4_K_S", "Q4_K", "Q4_0", "Q4_1", "IQ4_NL", "IQ4_XS", "Q4",
    "MXFP4", "MXFP4_MOE", "Q5_K_M", "Q5_K_S", "Q5_K", "Q5_0", "Q6_K", "Q8_0",
)  # fmt: skip


def label_of(path: str) -> str | None:
    """The quantization of the file at `path`, by its name, else by its folder's.

    The last in the name counts: what comes before may be a part of the model's (as in
    `parseGGUFQuantLabel` of @huggingface/gguf). Upper case; FP16 is F16.
    """
    folders, _, name = path.rpartition("/")
    stem = name[: -len(".gguf")]
    for text in (stem, *reversed(folders.split("/"))):
        found: list[str] = _LABEL.findall(text.upper())
        if found:
            return _SAME.get(found[-1], found[-1])
    return None


def is_beside(path: str) -> bool:
    """Whether it is a file that goes with builds: a projector, an importance matrix, a draft head.

    As llama.cpp's `gguf_filename_is_model` (common/download.cpp).
    """
    return _BESIDE.search(path.rpartition("/")[2].lower()) is not None


def is_tag_of(tag: str, label: str | None, path: str) -> bool:
    """Whether `tag` of `hf.co/owner/repo:tag` means the file at `path` (of a set, without parts).

    It does by its label, and where the name or folder ends in it: `i1-Q4_K_M`, `Q4_K_XL` of
    `UD-Q4_K_XL`.
    """
    told = tag.casefold()
    if label is not None and told in {label.casefold(), *_otherwise(label)}:
        return True
    folders, _, name = path.casefold().rpartition("/")
    ends = (name.removesuffix(".gguf"), folders.rpartition("/")[2])
    return any(end == told or end.endswith(("-" + told, "." + told, "_" + told)) for end in ends)


def distance(label: str | None, size_bytes: int) -> tuple[int, int, int]:
    """Sorts builds for who names none: Q4_K_M first, as llama.cpp and Ollama take, then near it.

    What is not listed comes behind, by its bits, then its size. Sources: `find_best_model` of
    llama.cpp's common/download.cpp; huggingface.co/docs/hub/ollama.
    """
    place = _NEAR.index(label) if label in _NEAR else len(_NEAR)
    bits = _BITS.search(label) if label else None
    return place, abs(int(bits[0]) - 4) if bits else 99, size_bytes


def _otherwise(label: str) -> set[str]:
    return {other.casefold() for other, same in _SAME.items() if same == label}
