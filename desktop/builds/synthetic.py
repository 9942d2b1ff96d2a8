"""Synthetic builds: the shapes of a real build with seeded random weights.

They exist so that speeds can be measured and compared where the real file cannot be had: the bytes
are the same on every platform.
"""

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import gguf
import numpy as np

from desktop.builds.blocks import MAKERS, Bytes, random_bytes
from desktop.builds.describe import SYNTHETIC_KEY
from desktop.builds.files import whole_file
from desktop.builds.hashes import Progress
from desktop.builds.header import shown_name
from desktop.errors import BuildError
from desktop.rules.ggml_types import FILE_TYPES, size_bytes


@dataclass(frozen=True, slots=True)
class Shapes:
    """A llama-architecture model's measures; the embedding is also the output (tied).

    Raises:
        ValueError: rows are no whole blocks of 32, heads do not divide, or a type has no writer.
    """

    label: str
    embedding: int
    layers: int
    feed_forward: int
    heads: int
    kv_heads: int
    vocabulary: int
    context: int
    rope_base: float
    matrix_type: str
    """ggml's name of the type of all matrices but the embedding; also the quantization's name."""
    embedding_type: str

    def __post_init__(self) -> None:
        """Refuse shapes that no file can hold."""
        if self.embedding % 32 or self.feed_forward % 32:
            raise ValueError("rows must be whole blocks of 32 elements")
        if self.embedding % self.heads or self.heads % self.kv_heads:
            raise ValueError("heads must divide the embedding, and K/V heads the heads")
        if not {self.matrix_type, self.embedding_type} <= set(MAKERS):
            raise ValueError("there is no block writer for this type")

    @property
    def head_size(self) -> int:
        """Elements of one attention head."""
        return self.embedding // self.heads

    def tensors(self) -> Iterator[tuple[str, tuple[int, ...], str]]:
        """Name, shape (rows first) and type of each tensor, in the reference build's order."""
        kv, n, ff = self.kv_heads * self.head_size, self.embedding, self.feed_forward
        kind = self.matrix_type
        yield "token_embd.weight", (self.vocabulary, n), self.embedding_type
        for layer in sorted(range(self.layers), key=str):  # 0, 1, 10, 11 …, as the real file
            block = f"blk.{layer}."
            yield f"{block}attn_norm.weight", (n,), "F32"
            yield f"{block}ffn_down.weight", (n, ff), kind
            yield f"{block}ffn_gate.weight", (ff, n), kind
            yield f"{block}ffn_up.weight", (ff, n), kind
            yield f"{block}ffn_norm.weight", (n,), "F32"
            yield f"{block}attn_k.weight", (kv, n), kind
            yield f"{block}attn_output.weight", (n, n), kind
            yield f"{block}attn_q.weight", (n, n), kind
            yield f"{block}attn_v.weight", (kv, n), kind
        yield "output_norm.weight", (n,), "F32"


SMOLLM2_135M: Final = Shapes(
    "SmolLM2 135M Q4_1", 576, 30, 1536, 9, 3, 49152, 8192, 100_000.0, "Q4_1", "Q8_0"
)
"""The reference build's shapes and types."""
HALF_BILLION_Q4_0: Final = Shapes(
    "0.5B Q4_0", 896, 24, 4864, 14, 2, 151_936, 32_768, 1_000_000.0, "Q4_0", "Q4_0"
)
"""About half a billion parameters in the shapes of Qwen2.5 0.5B, for benchmarks."""


def make_synthetic(path: Path, shapes: Shapes, progress: Progress | None = None) -> None:
    """Write the synthetic build of `shapes` to `path`, whole or not at all.

    Raises:
        BuildError: `build_write` when the folder cannot be written or the disk is full.
    """
    try:
        with whole_file(path) as part:
            _write(part, shapes, progress)
    except OSError as e:
        detail = e.strerror or str(e)
        raise BuildError("build_write", name=shown_name(path), detail=detail) from e


def _write(path: Path, shapes: Shapes, progress: Progress | None) -> None:
    writer = gguf.GGUFWriter(path, "llama")
    try:
        _add_metadata(writer, shapes)
        tensors = tuple(shapes.tensors())
        sizes = [_size(shape, kind) for _, shape, kind in tensors]
        for (name, shape, kind), size in zip(tensors, sizes, strict=True):
            _announce(writer, name, shape, kind, size)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        done = 0
        for (name, shape, kind), size in zip(tensors, sizes, strict=True):
            writer.write_tensor_data(_content(name, shape, kind, size))
            done += size
            if progress is not None:
                progress(done, sum(sizes))
    finally:
        writer.close()


def _add_metadata(writer: gguf.GGUFWriter, shapes: Shapes) -> None:
    writer.add_name(f"Synthetic {shapes.label}")
    writer.add_bool(SYNTHETIC_KEY, val=True)
    writer.add_context_length(shapes.context)
    writer.add_embedding_length(shapes.embedding)
    writer.add_block_count(shapes.layers)
    writer.add_feed_forward_length(shapes.feed_forward)
    writer.add_head_count(shapes.heads)
    writer.add_head_count_kv(shapes.kv_heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(shapes.rope_base)
    writer.add_rope_dimension_count(shapes.head_size)
    writer.add_vocab_size(shapes.vocabulary)
    writer.add_file_type(_FILE_TYPE_NUMBERS[shapes.matrix_type])
    writer.add_quantization_version(2)
    writer.add_tokenizer_model("none")  # the engine makes a vocabulary of that size without texts


def _announce(
    writer: gguf.GGUFWriter, name: str, shape: tuple[int, ...], kind: str, size: int
) -> None:
    rows = (*shape[:-1], size // (math.prod(shape) // shape[-1]))  # the writer wants bytes per row
    raw = gguf.GGMLQuantizationType[kind]
    writer.add_tensor_info(name, rows, np.dtype(np.uint8), size, raw_dtype=raw)


def _size(shape: tuple[int, ...], kind: str) -> int:
    return size_bytes(kind, math.prod(shape))


def _content(name: str, shape: tuple[int, ...], kind: str, size: int) -> Bytes:
    if len(shape) == 1:  # norms
        return np.frombuffer(struct.pack("<f", 1.0) * shape[0], np.uint8)
    return MAKERS[kind](random_bytes(name, size))


_FILE_TYPE_NUMBERS: Final = {FILE_TYPES[n]: n for n in FILE_TYPES}
