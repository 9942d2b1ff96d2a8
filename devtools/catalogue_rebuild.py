"""Rebuilds from downloaded packages what they hold of the catalogue, and compares."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from desktop.estimate.catalogue import DEVICES, MODELS, read_models
from desktop.estimate.device_row import COLUMNS
from desktop.records.model import LayerGroup, Model
from desktop.rules.device_names import words_of
from desktop.rules.table_rows import numbered_rows
from devtools.catalogue_config import groups_of
from devtools.catalogue_packages import (
    Config,
    Hardware,
    configs,
    hardware,
    published_models,
)

SUM_SHARE = 0.0005
"""Norms and small tables that llama.cpp leaves out, or counts besides."""
EXPLAINED = {
    ("nemotron-mini-4b-instruct", "parameters"): "3.8 billion there; the tensors' sum is 4.19",
    ("nemotron-nano-12b-v2", "parameters"): "counted twice there",
    ("mixtral-8x22b-instruct-v0.1", "vocabulary"): "that is the base model's",
    ("glm-4-9b-chat", "kv_heads"): "its config.json has them as multi_query_group_num",
    ("llama-3.3-nemotron-super-49b-v1", "kv_heads"): "its config.json has them by layer",
}
"""Differences whose reason is known; the README tells them too."""
ANOTHERS_CONFIG = {
    "Qwen/Qwen3.6-27B": "nvidia/Qwen3.6-27B-NVFP4",
    "Qwen/Qwen3.6-35B-A3B": "nvidia/Qwen3.6-35B-A3B-NVFP4",
    "google/gemma-4-31B-it": "nvidia/Gemma-4-31B-IT-NVFP4",
    "google/gemma-4-26B-A4B-it": "google/gemma-4-26B-A4B",
    "meta-llama/Llama-3.1-8B-Instruct": "meta-llama/Meta-Llama-3.1-8B",
    "meta-llama/Llama-3.1-70B-Instruct": "meta-llama/Meta-Llama-3.1-70B",
    "meta-llama/Llama-3.1-405B-Instruct": "meta-llama/Meta-Llama-3.1-405B",
    "mistralai/Mixtral-8x7B-Instruct-v0.1": "mistralai/Mixtral-8x7B-v0.1",
    "mistralai/Mixtral-8x22B-Instruct-v0.1": "mistralai/Mixtral-8x22B-v0.1",
    "moonshotai/Kimi-K2-Instruct-0905": "moonshotai/Kimi-K2-Instruct",
    "moonshotai/Kimi-K2-Thinking": "moonshotai/Kimi-K2-Instruct",
    "deepseek-ai/DeepSeek-V3-0324": "deepseek-ai/DeepSeek-V3",
    "deepseek-ai/DeepSeek-R1-0528": "deepseek-ai/DeepSeek-R1",
    "deepseek-ai/DeepSeek-V3.1": "deepseek-ai/DeepSeek-V3",
}
"""Same layers, other weights: where the package has that one only."""


def differences(resources: Path, folder: Path) -> tuple[str, ...]:
    """What the tables have otherwise than the packages in `folder`, one sentence each.

    Prints how many rows each package could be compared with.
    """
    models = read_models((resources / MODELS).read_text(encoding="utf-8"))
    devices = (resources / DEVICES).read_text(encoding="utf-8")
    return (
        *_from_configs(models, configs(folder)),
        *_from_published(models, published_models(folder)),
        *_from_hardware(devices, hardware(folder)),
    )


def _from_configs(models: tuple[Model, ...], known: Mapping[str, Config]) -> Iterator[str]:
    compared = 0
    for model in models:
        config = next((c for name in model.aliases if (c := _config(name, known))), None)
        groups = groups_of(config) if config else None
        if config is None or groups is None:
            if known and "aiconfigurator" in model.sources:
                yield f"{model.id}: names aiconfigurator, which does not have it"
            continue
        compared += 1
        yield from _unlike(model, "hidden", config["hidden_size"], model.hidden)
        yield from _unlike(model, "vocabulary", config["vocab_size"], model.vocabulary)
        yield from _unlike(model, "groups", _sorted(groups), _sorted(model.groups))
    print(f"{compared} models rebuilt from config.json")


def _config(name: str, known: Mapping[str, Config]) -> Config | None:
    return known.get(name) or known.get(ANOTHERS_CONFIG.get(name, ""))


def _sorted(groups: tuple[LayerGroup, ...]) -> list[LayerGroup]:
    """By their layers; a single group needs none told."""
    if len(groups) == 1:
        return [replace(groups[0], indices=())]
    return sorted(groups, key=lambda group: group.indices)


def _from_published(models: tuple[Model, ...], known: Mapping[str, Config]) -> Iterator[str]:
    compared = 0
    for model in models:
        row = next((known[name] for name in model.aliases if name in known), None)
        if row is not None and "llmfit" in model.sources:
            compared += 1
            yield from _unlike_published(model, row)
    print(f"{compared} models compared with the published counts")


def _unlike_published(model: Model, row: Config) -> Iterator[str]:
    found = row["parameters_raw"]
    twice = model.vocabulary * model.hidden if model.tied else 0
    besides = (0, twice, model.extra_parameters or 0)
    wanted = [model.parameters + number for number in besides]
    if not any(abs(found - n) <= SUM_SHARE * n for n in wanted):
        yield from _unlike(model, "parameters", found, model.parameters)
    if not row.get("num_hidden_layers"):
        return
    of_layers: dict[str, tuple[object, object]] = {
        "layers": (row["num_hidden_layers"], model.layers),
        "hidden": (row["hidden_size"], model.hidden),
        "vocabulary": (row["vocab_size"], model.vocabulary),
    }
    attention = next((g for g in model.groups if g.heads and not g.latent_size), None)
    if attention and row["num_attention_heads"]:
        of_layers["heads"] = (row["num_attention_heads"], attention.heads)
        of_layers["kv_heads"] = (row["num_key_value_heads"], attention.kv_heads)
    for name, (there, here) in of_layers.items():
        if there:
            yield from _unlike(model, name, there, here)


def _unlike(model: Model, name: str, there: object, here: object) -> Iterator[str]:
    if there != here and (model.id, name) not in EXPLAINED:
        yield f"{model.id}: {name} is {here}, the package has {there}"


def _from_hardware(devices: str, known: Mapping[str, Hardware]) -> Iterator[str]:
    named = [(words_of(name.replace("Mobile", "Laptop GPU")), h) for name, h in known.items()]
    compared = 0
    for _, row in numbered_rows(DEVICES, devices, COLUMNS):
        words = {words_of(name) for name in (row["name"], *filter(None, row["also"].split("|")))}
        found = [h for w, h in named if w in words and _has_memory(h, row["memory_gib"])]
        if found and row["source"] == "hf":
            compared += 1
            yield from _unlike_hardware(row, found[0])
    print(f"{compared} devices compared")


def _has_memory(found: Hardware, memory_gib: str) -> bool:
    return not (memory_gib and found.memory_gb) or float(memory_gib) in found.memory_gb


def _unlike_hardware(row: Mapping[str, str], found: Hardware) -> Iterator[str]:
    for column, there in (
        ("power_w", found.power_w), ("price_usd", found.price_usd), ("year", found.year),
    ):  # fmt: skip
        if row[column] and there != float(row[column]):
            yield f"{row['id']}: {column} is {row[column]}, the package has {there}"
