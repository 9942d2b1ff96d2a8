"""Files for rehearsals: a model's shapes with random weights, some of its layers only.

They lie in a folder of their own in the cache and are removed when a rehearsal ends. What a killed
program left there is swept before the next one: there is never more than one at a time.
"""

import math
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import gguf
import numpy as np

from desktop.builds.describe import REHEARSAL_KEY, SYNTHETIC_KEY
from desktop.builds.filler import can_fill, filling
from desktop.builds.hashes import Progress
from desktop.builds.header import DEFAULT_ALIGNMENT
from desktop.errors import BuildError
from desktop.paths import Paths
from desktop.records.model import Model
from desktop.rules.ggml_types import BLOCKS, size_bytes
from desktop.rules.model_metadata import Value, metadata_of
from desktop.rules.quant_mix import types_of
from desktop.rules.short_models import shortened
from desktop.rules.tensor_shapes import tensors_of

SPARE_BYTES: Final = 1 << 30
"""Left free on the disk, whatever a rehearsal would take."""
_NO_TEXTS: Final = "none"


def room_bytes(paths: Paths) -> int:
    """How much a rehearsal may write.

    Raises:
        BuildError: `build_write` when the disk does not tell.
    """
    try:
        return max(0, shutil.disk_usage(paths.cache).free - SPARE_BYTES)
    except OSError as e:
        raise BuildError("build_write", name="rehearsal", detail=e.strerror or str(e)) from e


def can_rehearse(model: Model, file_type: str | None) -> bool:
    """Whether such a file can be made: its tensors are known, and each one's type has a filling."""
    types = types_of(model, file_type) if file_type else None
    return types is not None and all(map(can_fill, set(types)))


def make_rehearsal(
    path: Path, model: Model, file_type: str, picked: Sequence[int], progress: Progress
) -> None:
    """Write the layers `picked` of `model`, and all that is outside its layers, in full size.

    Each layer has the types that it has in the whole model. A file that could not be written whole
    is removed.

    Raises:
        BuildError: `build_write`: the folder cannot be written, or the disk is full.
        ValueError: `can_rehearse` denies it.
        Whatever `progress` raises, to stop.
    """
    tensors = _tensors(model, file_type, picked)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_header(path, shortened(model, picked), tensors)
        _append(path, tensors, progress)
    except OSError as e:
        path.unlink(missing_ok=True)
        raise BuildError("build_write", name=path.name, detail=e.strerror or str(e)) from e
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _tensors(
    model: Model, file_type: str, picked: Sequence[int]
) -> list[tuple[str, tuple[int, ...], str]]:
    """Name, shape and type of each; the types are those of the same tensors of the whole model."""
    whole, types = tensors_of(model), types_of(model, file_type)
    if whole is None or types is None:
        raise ValueError(f"{model.id} in {file_type} cannot be rehearsed")
    by_name = {name: (shape, kind) for (name, shape), kind in zip(whole, types, strict=True)}
    found = [(name, *rest) for name, rest in by_name.items() if not name.startswith("blk.")]
    for new, old in enumerate(picked):
        start = f"blk.{old}."
        found += [
            (f"blk.{new}.{name.removeprefix(start)}", *rest)
            for name, rest in by_name.items()
            if name.startswith(start)
        ]
    return found


def _write_header(
    path: Path, model: Model, tensors: Sequence[tuple[str, tuple[int, ...], str]]
) -> None:
    writer = gguf.GGUFWriter(path, model.architecture)
    try:
        told = metadata_of(model) | {"tokenizer.ggml.model": _NO_TEXTS}
        _add(writer, told | {SYNTHETIC_KEY: True, REHEARSAL_KEY: True})
        for name, shape, kind in tensors:
            size = size_bytes(kind, math.prod(shape))
            row = shape[0] // BLOCKS[kind].block_elements * BLOCKS[kind].block_bytes
            rows = (*reversed(shape[1:]), row)
            raw = gguf.GGMLQuantizationType[kind]
            writer.add_tensor_info(name, rows, np.dtype(np.uint8), size, raw_dtype=raw)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
    finally:
        writer.close()


def _append(
    path: Path, tensors: Sequence[tuple[str, tuple[int, ...], str]], progress: Progress
) -> None:
    sizes = [size_bytes(kind, math.prod(shape)) for _, shape, kind in tensors]
    total, done = sum(sizes), 0
    with path.open("ab") as file:
        for (_, _, kind), size in zip(tensors, sizes, strict=True):
            file.write(b"\0" * (-file.tell() % DEFAULT_ALIGNMENT))
            for piece in filling(kind, size):
                file.write(piece)
                done += len(piece)
                progress(done, total)


def _add(writer: gguf.GGUFWriter, metadata: Mapping[str, Value]) -> None:
    for key, value in metadata.items():
        if key == "general.architecture":  # the writer adds it
            continue
        if isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, int):
            writer.add_uint32(key, value)
        elif isinstance(value, float):
            writer.add_float32(key, value)
        elif isinstance(value, str):
            writer.add_string(key, value)
        else:
            writer.add_array(key, value)
