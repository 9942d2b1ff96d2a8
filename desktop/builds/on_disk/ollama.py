"""Ollama: `manifests/<host>/<namespace>/<model>/<tag>` names the layers in `blobs/sha256-<hex>`.

`OLLAMA_MODELS`, else `~/.ollama/models`, or the service's `/usr/share/ollama/.ollama/models`. Newer
versions have `manifests-v2`, whose entries may be links to blobs, and lists of manifests, one for
each runner. Sources: ollama, `manifest/manifest.go`, `manifest/paths.go`, `envconfig/config.go`
(`Models`), `types/model/name.go` (`DisplayShortest`), `docs/faq.md` ("Where are models stored?").
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from desktop.builds.on_disk.here import Here, is_file, once, variable
from desktop.builds.on_disk.look import Look
from desktop.builds.on_disk.tables import read_json
from desktop.records.on_disk import FoundFile

PROGRAM: Final = "Ollama"
_MODEL: Final = "application/vnd.ollama.image.model"
_DIGEST: Final = re.compile(r"sha256[:-](?P<sha256>[0-9a-fA-F]{64})")
_NAME_PARTS: Final = 4
_DEFAULT_HOST: Final = "registry.ollama.ai"
_DEFAULT_NAMESPACE: Final = "library"
_MOST_CHILDREN: Final = 16


def find_ollama(here: Here, look: Look) -> Iterator[FoundFile]:
    """Builds that Ollama's manifests name, `llama3.2:1b`; a blob once for each of its names."""
    for store in _stores(here):
        seen: set[str] = set()
        for manifests in (store / "manifests-v2", store / "manifests"):
            for path in look.files(manifests, depth=_NAME_PARTS - 1):
                name = _shortest(path.relative_to(manifests).parts)
                if name is None or name in seen:
                    continue
                seen.add(name)
                yield from _named(name, path, store, look)


def _stores(here: Here) -> list[Path]:
    chosen = variable(here, "OLLAMA_MODELS")
    own = here.home / ".ollama" / "models"
    service = here.root / "usr" / "share" / "ollama" / ".ollama" / "models"
    return once((chosen, own, service if here.system == "linux" else None))


def _shortest(parts: tuple[str, ...]) -> str | None:
    """What `ollama list` shows; None of a file that is no name's."""
    if len(parts) != _NAME_PARTS:
        return None
    host, namespace, model, tag = parts
    if host.lower() != _DEFAULT_HOST:
        return f"{host}/{namespace}/{model}:{tag}"
    if namespace.lower() != _DEFAULT_NAMESPACE:
        return f"{namespace}/{model}:{tag}"
    return f"{model}:{tag}"


def _named(name: str, path: Path, store: Path, look: Look) -> Iterator[FoundFile]:
    table = read_json(look, path)
    if table is None:
        return
    layers = [layer for child in _children(table, store, look) for layer in _layers(child)]
    if not layers:
        look.tell("on_disk_manifest", path, detail="it names no layers")
    for layer in layers:
        if layer.get("mediaType") != _MODEL:
            continue
        found = _DIGEST.fullmatch(str(layer.get("digest")))
        if found is None:
            look.tell("on_disk_manifest", path, detail="a layer has no sha256")
            continue
        sha256 = found["sha256"].lower()
        yield from look.found(_blob(store, sha256), name, sha256)


def _children(table: Mapping[str, Any], store: Path, look: Look) -> Iterator[Mapping[str, Any]]:
    """The manifest itself, or those of a list, in it or in blobs of their own."""
    children = table.get("manifests")
    if not isinstance(children, list):
        yield table
        return
    for child in children[:_MOST_CHILDREN]:
        if not isinstance(child, dict):
            continue
        found = _DIGEST.fullmatch(str(child.get("digest")))
        if found is None or _layers(child):
            yield child
        elif resolved := read_json(look, _blob(store, found["sha256"].lower())):
            yield resolved


def _layers(table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    layers = table.get("layers")
    return [x for x in layers if isinstance(x, dict)] if isinstance(layers, list) else []


def _blob(store: Path, sha256: str) -> Path:
    """As it is called today, or as before 0.1.30 on Linux and macOS."""
    blob = store / "blobs" / f"sha256-{sha256}"
    older = store / "blobs" / f"sha256:{sha256}"
    return older if not is_file(blob) and is_file(older) else blob
