"""Small real GGUF files."""

from pathlib import Path

import gguf
import numpy as np

KINDS = {"mmproj": "clip", "adapter": "llama", "imatrix": None, "image": "flux", None: "llama"}


def gguf_bytes(folder: Path, seed: int, kind: str | None = None, split=None) -> bytes:
    """A small real file; statistics have no architecture, later parts of a set neither."""
    path = folder / f"made-{seed}.gguf"
    writer = gguf.GGUFWriter(path, KINDS[kind] or "llama")
    if KINDS[kind] is None or (split and split[0]):
        for table in writer.kv_data:
            table.pop("general.architecture")
    if kind is None and not (split and split[0]):
        writer.add_block_count(1)
    if kind in {"mmproj", "adapter", "imatrix"}:
        writer.add_type(kind)
    if split:
        writer.add_uint16("split.no", split[0])
        writer.add_uint16("split.count", split[1])
    values = np.random.default_rng(seed).standard_normal((4, 32)).astype(np.float16)
    writer.add_tensor("token_embd.weight", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    data = path.read_bytes()
    path.unlink()
    return data


def gguf_set(folder: Path, stem: str, tensors: int = 3) -> list[Path]:
    """A small real split set as gguf's own writer splits it, one tensor in each file."""
    writer = gguf.GGUFWriter(folder / f"{stem}.gguf", "llama", split_max_tensors=1)
    writer.add_name("Tiny")
    writer.add_block_count(1)
    writer.add_context_length(64)
    for n in range(tensors):
        values = np.random.default_rng(n).standard_normal((4, 32)).astype(np.float16)
        writer.add_tensor(f"blk.0.{n}.weight", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return sorted(folder.glob(f"{stem}-*-of-*.gguf"))
