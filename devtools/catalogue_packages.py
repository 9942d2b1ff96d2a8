"""What the packages named in the catalogue's README hold, read from their downloaded files."""

import json
import re
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

Config: TypeAlias = Mapping[str, Any]
"""A model's config.json."""
_TABLE_START = b'[\n  {\n    "name": "'
_SPEC = re.compile(r'^\t+"?([A-Z][^"\n:{]*?)"?: \{\n(.*?)\n\t+\},', re.MULTILINE | re.DOTALL)
_FIGURE = re.compile(r"(tflops|msrp|power|releaseYear): ([\d_.]+)")
_MEMORY = re.compile(r"memory: \[([\d., ]+)\]")


@dataclass(frozen=True, slots=True)
class Hardware:
    """One entry of `@huggingface/tasks`."""

    memory_gb: tuple[float, ...]
    power_w: float | None
    price_usd: float | None
    year: int | None


def published_models(folder: Path) -> dict[str, Config]:
    """The table in llmfit's program, by repository; empty when the package is not there."""
    found: dict[str, Config] = {}
    for wheel in folder.glob("llmfit-*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            program = next(n for n in archive.namelist() if n.endswith("/scripts/llmfit"))
            text = archive.read(program)
        start = text.index(_TABLE_START)
        rows, _ = json.JSONDecoder().raw_decode(text[start:].decode("utf-8", "replace"))
        found |= {row["name"]: row for row in rows}
    return found


def configs(folder: Path) -> dict[str, Config]:
    """Copies of config.json in aiconfigurator, by repository; the text part where there is one."""
    found: dict[str, Config] = {}
    for wheel in folder.glob("aiconfigurator_core-*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                stem = Path(name).name.removesuffix("_config.json")
                if "/model_configs/" in name and name.endswith("_config.json"):
                    config = json.loads(archive.read(name))
                    found[stem.replace("--", "/", 1)] = config.get("text_config") or config
    return found


def hardware(folder: Path) -> dict[str, Hardware]:
    """The devices of `@huggingface/tasks`, by its name of each."""
    found: dict[str, Hardware] = {}
    for archive in folder.glob("huggingface-tasks-*.tgz"):
        for text in _sources(archive):
            found |= {name: _hardware(body) for name, body in _SPEC.findall(text)}
    return found


def _sources(path: Path) -> Iterator[str]:
    with tarfile.open(path) as archive:
        for member in archive:
            if re.fullmatch(r"package/src/hardware(-\w+)?\.ts", member.name):
                file = archive.extractfile(member)
                if file is not None:
                    yield file.read().decode()


def _hardware(body: str) -> Hardware:
    figures = {name: float(value.replace("_", "")) for name, value in _FIGURE.findall(body)}
    memory = _MEMORY.search(body)
    year = figures.get("releaseYear")
    return Hardware(
        memory_gb=tuple(float(m) for m in memory.group(1).split(",")) if memory else (),
        power_w=figures.get("power"),
        price_usd=figures.get("msrp"),
        year=int(year) if year else None,
    )
