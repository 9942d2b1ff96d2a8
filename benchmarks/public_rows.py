"""Public measurements as what the estimator is asked: a model, a quantization, a device, a depth.

The file of measurements is not a part of this repository. Its columns: `device`, `backend`,
`engine_build`, `model`, `quant`, `file_size_gib`, `depth`, `pp_n`, `pp_tps`, `tg_n`, `tg_tps`,
`flash_attn`, `mem_bandwidth_gbps`, `flags`.

A device is looked up in the catalogue by the words of its name; where the file's bandwidth differs,
the catalogue's counts. A device that is not there is taken with the file's bandwidth and the class
that its name tells.
"""

import csv
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from desktop import resources
from desktop.estimate.cache import cache_read_bytes
from desktop.estimate.catalogue import MODELS, QUANTS, read_configurations, read_models, read_quants
from desktop.estimate.sizes import weights_of
from desktop.estimate.speed import DeviceWork
from desktop.estimate.work import device_work, prompt_work
from desktop.records.estimate import Configuration, Efficiency, Interval, Use
from desktop.records.model import Model, Quant, Weights
from desktop.rules.catalogue import RESOURCE as DEVICES
from desktop.rules.device_names import words_of

GIB: Final = 2**30
MODEL_IDS: Final = {
    "Llama-2-7B": "llama-2-7b-chat",
    "qwen2 7B": "qwen2.5-coder-7b-instruct",
    "gemma3 4B": "gemma-3-4b-it",
    "nemotron 4B": "nemotron-3-nano-4b",
    "Qwen3.5-9B": "qwen3.5-9b",
    "gpt-oss 20B": "gpt-oss-20b",
    "gpt-oss 120B": "gpt-oss-120b",
    "qwen3moe 30B.A3B": "qwen3-30b-a3b",
    "deepseek2 30B.A3B": "glm-4.7-flash",
    "Meta-Llama-3.1-8B-Instruct": "llama-3.1-8b-instruct",
    "Llama-3.2-1B-Instruct": "llama-3.2-1b-instruct",
    "Qwen2.5-14B-Instruct": "qwen2.5-14b-instruct",
}
"""The file's names, without the quantization that some of them end with."""
QUANT_IDS: Final = {"F16": "fp16", "MXFP4 MoE": "mxfp4"}
BACKENDS: Final = {"MTL,BLAS": "Metal", "": "llamafile"}
CLASS_WORDS: Final = (
    (r"titan xp|gtx 10|quadro p|p4000|p5000|p6000", "nvidia-pascal"),
    (r"p100", "nvidia-pascal-hbm"),
    (r"gtx 9|gtx titan|m40|m60|quadro m", "nvidia-maxwell"),
    (r"v100|titan v", "nvidia-volta-hbm"),
    (r"rtx 20|quadro rtx|gtx 16|titan rtx|\bt4\b|t1000|t2000|t600", "nvidia-turing"),
    (r"\ba100\b|\ba30\b|\ba800\b", "nvidia-ampere-hbm"),
    (r"rtx 30|rtx a\d|\ba40\b|\ba10g?\b|\ba16\b|\ba2\b|cmp 1", "nvidia-ampere"),
    (r"rtx 40|ada|\bl4\b|l40|l20", "nvidia-ada"),
    (r"h100|h200|h800|h20|gh200", "nvidia-hopper-hbm"),
    (r"rtx 50|rtx pro", "nvidia-blackwell"),
    (r"b200|b300|gb200", "nvidia-blackwell-hbm"),
    (r"gb10|orin|spark|thor|xavier", "nvidia-unified"),
    (r"ryzen|780m|760m|680m|660m|890m|880m|8060s|8050s|strix|z1|vega [3-9]\b", "amd-unified"),
    (r"mi300|mi325|mi350|mi355", "amd-cdna3-hbm"),
    (r"mi100|mi210|mi250", "amd-cdna-hbm"),
    (r"mi50|mi60|mi25|radeon vii|pro vii|vega|fury", "amd-gcn-hbm"),
    (r"rx 9|r9700", "amd-rdna4"),
    (r"rx 7|w7|v710", "amd-rdna3"),
    (r"rx 6|w6|v620", "amd-rdna2"),
    (r"rx 5[3-7]00|w5", "amd-rdna1"),
    (r"rx [45]|wx|firepro", "amd-gcn"),
    (r"arc pro b|arc b|b580|b570", "intel-battlemage"),
    (r"arc pro a|arc a|a770|a750|a380", "intel-alchemist"),
    (r"core ultra|iris|uhd|140v|130v|xe", "intel-unified"),
    (r"m[1-6] ultra", "apple-m1-ultra"),
    (r"m1", "apple-m1"),
    (r"m2", "apple-m2"),
    (r"m3", "apple-m3"),
    (r"m4", "apple-m4"),
    (r"m5", "apple-m5"),
)
"""By the words of names that the catalogue does not have; the first that fits."""
FIRST_BUILD_OF_2026: Final = 7600
NEAR_BANDWIDTH: Final = 0.03
NOTHING: Final = Efficiency(Interval(1, 1), Interval(0, 0), Interval(0, 0))


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement, as asked and as measured."""

    device: str
    """Which device: rows of one device are never split."""
    configuration: Configuration
    backend: str
    model: Model
    quant: Quant
    weights: Weights
    work: DeviceWork
    """Without its efficiency."""
    prompt: DeviceWork
    prompt_tokens: int | None
    tok_s: float
    prompt_tok_s: float | None
    flash_attention: bool
    file_bytes: int
    file_bandwidth_bytes_s: float
    kind: str
    """`dense`, `moe`, `llamafile`."""
    recent: bool
    """Of an engine of 2026: by its build, or since device or model are not older."""


@lru_cache
def models() -> dict[str, Model]:
    """The catalogue's, by id."""
    return {model.id: model for model in read_models(resources.text(MODELS))}


@lru_cache
def quants() -> dict[str, Quant]:
    """By id."""
    return {quant.id: quant for quant in read_quants(resources.text(QUANTS))}


@lru_cache
def configurations() -> tuple[Configuration, ...]:
    """The catalogue's."""
    return read_configurations(resources.text(DEVICES))


def read_rows(path: Path) -> tuple[list[Row], list[str]]:
    """The measurements, and what was left out or corrected, in words."""
    rows, notes = [], []
    with path.open(encoding="utf-8", newline="") as file:
        for number, raw in enumerate(csv.DictReader(file), 2):
            model = _model_id(raw["model"])
            if model is None or model not in models() or not raw["tg_tps"]:
                notes.append(f"line {number}: no model like {raw['model']!r}, left out")
                continue
            rows.append(_row(raw, models()[model], notes))
    return rows, list(dict.fromkeys(notes))


def _row(raw: Mapping[str, str], model: Model, notes: list[str]) -> Row:
    name = raw["quant"] or raw["model"].removeprefix(_stem(raw["model"])).strip()
    quant = quants()[QUANT_IDS.get(name, name.lower())]
    file_bytes = round(float(raw["file_size_gib"]) * GIB)
    weights = weights_of(model, quant, file_bytes=file_bytes)
    device, configuration = configuration_of(raw, notes)
    depth = int(float(raw["depth"] or 0))
    generated = int(raw["tg_n"]) if raw["tg_n"].isdigit() else 512
    use = Use(context=1 << 18, depth=depth + generated // 2)
    work = device_work(model, weights, cache_read_bytes(model, use), configuration, NOTHING)
    tokens = int(raw["pp_n"]) if raw["pp_n"].isdigit() else None
    # in the middle of the prompt
    asked = replace(use, depth=2 * depth + (tokens or 512))
    flags = raw["flags"].strip()
    return Row(
        device=device,
        configuration=configuration,
        backend=BACKENDS.get(raw["backend"], raw["backend"]),
        model=model,
        quant=quant,
        weights=weights,
        work=work,
        prompt=prompt_work(work, model, weights, asked),
        prompt_tokens=tokens,
        tok_s=float(raw["tg_tps"]),
        prompt_tok_s=float(raw["pp_tps"]) if raw["pp_tps"] else None,
        flash_attention=raw["flash_attn"] == "1",
        file_bytes=file_bytes,
        file_bandwidth_bytes_s=float(raw["mem_bandwidth_gbps"]) * 1e9,
        kind=flags or "dense",
        recent=_recent(raw["engine_build"], configuration, model),
    )


def _recent(build: str, configuration: Configuration, model: Model) -> bool:
    numbered = re.search(r"\bb(\d{4,5})\b", build)
    if numbered:
        return int(numbered.group(1)) >= FIRST_BUILD_OF_2026
    return (configuration.year or 0) >= 2026 or (model.released or "") >= "2026"


def configuration_of(raw: Mapping[str, str], notes: list[str]) -> tuple[str, Configuration]:
    """The key of the device, and its configuration."""
    name, cores = _plain(raw["device"])
    wanted = float(raw["mem_bandwidth_gbps"]) * 1e9
    found = _named(name, wanted)
    if cores:
        found = [c for c in found if c.gpu_cores in {None, cores}] or found
    if not found:
        notes.append(f"{raw['device']}: not in the catalogue, taken as {_class(name)}")
        return name, _unlisted(name, wanted)
    best = max(found, key=lambda c: (-_off(c, wanted), c.gpu_cores or 0))
    if best.bandwidth_bytes_s is None:
        best = replace(best, bandwidth_bytes_s=wanted)
    elif _off(best, wanted) > 0.005:
        ours, file = best.bandwidth_bytes_s / 1e9, wanted / 1e9
        notes.append(f"{raw['device']}: {file:g} GB/s in the file, {ours:g} in the catalogue")
    return re.sub(r"(,| \d+ GB).*", "", best.name), best


def _off(configuration: Configuration, wanted: float) -> float:
    """How far the file's bandwidth is from the catalogue's; 9 where that is not known."""
    known = configuration.bandwidth_bytes_s
    return abs(known / wanted - 1) if known else 9.0


def _named(name: str, wanted: float) -> list[Configuration]:
    """Those of that name; else those whose name has one more word, and the file's bandwidth."""
    words = words_of(name)
    if not words:
        return []
    extra = {
        c.id: min((len(w - words) for w in _words(c) if words <= w), default=99)
        for c in configurations()
    }
    exact = [c for c in configurations() if extra[c.id] == 0]
    return exact or [
        c for c in configurations() if extra[c.id] == 1 and _off(c, wanted) < NEAR_BANDWIDTH
    ]


@lru_cache(4096)
def _words(configuration: Configuration) -> tuple[frozenset[str], ...]:
    names = (*configuration.aliases, *_listed().get(configuration.id, ()))
    return tuple(words_of(name) for name in names)


@lru_cache
def _listed() -> dict[str, tuple[str, ...]]:
    """The names of the rows of devices: configurations keep only those that no other has."""
    rows = csv.DictReader(resources.text(DEVICES).splitlines())
    found: dict[str, tuple[str, ...]] = {}
    for row in rows:
        for size in (row["memory_gib"] or row["system_memory_gb"]).split("|"):
            names = (row["name"], *filter(None, row["also"].split("|")))
            found[row["id"].replace("{gb}", f"{float(size):g}")] = names
    return found


def _plain(name: str) -> tuple[str, int | None]:
    """The name without counts of cores, and the GPU cores that it tells."""
    cores = re.search(r"(\d+)GPU\b|(\d+)-core", name)
    text = re.sub(r"(\d+P\+)?(\d+E\+)?\d+GPU\b|\d+-core|\d+\s?GB\b|-\d+gb\b", " ", name)
    text = re.sub(r"\(.*?\)|\bwith Max-Q Design\b", " ", text).replace(" Al Max", " AI Max")
    text = text.replace("-", " ") if "-" in text and " " not in text.strip() else text
    count = next((int(c) for c in cores.groups() if c), None) if cores else None
    return " ".join(text.split()), count


def _unlisted(name: str, bandwidth: float) -> Configuration:
    return Configuration(
        id=name, name=name, vendor="", device_class=_class(name), memory_bytes=1 << 50,
        usable_bytes=1 << 50, bandwidth_bytes_s=bandwidth, fp16_flops=None,
    )  # fmt: skip


def _class(name: str) -> str:
    lower = name.lower()
    return next((code for pattern, code in CLASS_WORDS if re.search(pattern, lower)), "unknown")


def _model_id(name: str) -> str | None:
    return MODEL_IDS.get(_stem(name))


def _stem(name: str) -> str:
    return max((stem for stem in MODEL_IDS if name.startswith(stem)), key=len, default="")


def by_device(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows of each device together."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.device, []).append(row)
    return found
