"""GGUF files that have a header and no weights: any model's shapes, in no room on the disk.

The engine reads hyperparameters, names and shapes from them; what is behind is a hole in the file.
"""

import math
from collections.abc import Mapping
from pathlib import Path

import gguf
import numpy as np

from desktop.records.model import Model
from desktop.rules.ggml_types import BLOCKS, size_bytes
from desktop.rules.model_metadata import Value, metadata_of
from desktop.rules.quant_mix import types_of
from desktop.rules.tensor_shapes import tensors_of


def write_sparse(path: Path, model: Model, file_type: str = "F16") -> None:
    """Write a file of `model` with the types of `file_type` at `path`, as long as the real one.

    Raises:
        ValueError: the architecture or the file type are not covered.
    """
    tensors, types = tensors_of(model), types_of(model, file_type)
    if tensors is None or types is None:
        raise ValueError(f"{model.architecture} in {file_type} is not covered")
    writer = gguf.GGUFWriter(path, model.architecture)
    metadata = metadata_of(model)
    blocks = f"{model.architecture}.block_count"
    _add_metadata(writer, metadata | {blocks: model.layers + model.predict_layers})
    if model.predict_layers:  # they are counted, and their tensors are left out
        writer.add_uint32(f"{model.architecture}.nextn_predict_layers", model.predict_layers)
    if model.architecture == "apertus":  # its activation has numbers of its own in each layer
        for key in ("alpha_p", "alpha_n", "beta", "eps"):
            writer.add_array(f"xielu.{key}", [0.5] * model.layers)
    for (name, shape), kind in zip(tensors, types, strict=True):
        size = size_bytes(kind, math.prod(shape))
        row = shape[0] // BLOCKS[kind].block_elements * BLOCKS[kind].block_bytes
        rows = (*reversed(shape[1:]), row)
        raw = gguf.GGMLQuantizationType[kind]
        writer.add_tensor_info(name, rows, np.dtype(np.uint8), size, raw_dtype=raw)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    end = sum(-(-size_bytes(k, math.prod(s)) // 32) * 32
              for (_, s), k in zip(tensors, types, strict=True))  # fmt: skip
    writer.close()
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size + 32 + end)


def _add_metadata(writer: gguf.GGUFWriter, metadata: Mapping[str, Value]) -> None:
    for key, value in metadata.items():
        if key == "general.architecture":
            continue  # the writer's own
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
