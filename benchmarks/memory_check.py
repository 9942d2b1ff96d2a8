"""Does the estimate of memory say what the engine would allocate?

For models of the catalogue: a file with their header, their tensors in Q4_K_M and holes for weights
is loaded by the engine, which counts and allocates nothing; and contexts are made of it. The file's
header goes through the product's own reader and estimate.

    python benchmarks/memory_check.py [--all] [--each] [MODEL...]

Prints a line a model (with --each, one a use as well), and ends with 1 if a total is off by more
than 2 % and more than 64 MiB.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from desktop import resources
from desktop.errors import GramError
from desktop.estimate.catalogue import read_models
from desktop.records.estimate import Use
from desktop.records.model import Model
from desktop.rules.tensor_shapes import tensors_of
from devtools.compare_memory import Compared, OneSidedError, compare_model

MIB = 1 << 20
CONTEXTS = (2048, 8192, 32768, 131072)
WITHOUT_FLASH = (2048, 16384)
PICKED = (
    "llama-3.2-1b-instruct", "llama-4-scout-17b-16e-instruct",
    "mistral-small-3.1-24b-instruct-2503",
    "qwen2.5-7b-instruct", "qwen3-30b-a3b", "qwen3-next-80b-a3b-instruct", "qwen3.5-9b",
    "gemma-2-9b-it", "gemma-3-27b-it", "gemma-3n-e4b-it", "gemma-4-e4b-it", "phi-4",
    "gpt-oss-20b", "deepseek-v2-lite-chat", "glm-4.5-air", "granite-4.0-h-tiny", "mamba-2.8b",
    "jamba-reasoning-3b", "falcon-h1-7b-instruct", "nemotron-nano-9b-v2", "lfm2-8b-a1b",
    "command-r7b-12-2024", "olmo-2-1124-7b-instruct", "exaone-4.0-32b",
)  # fmt: skip


def uses(trained: int) -> Iterator[Use]:
    """The uses that are compared, up to the context that the model was trained for."""
    for context in sorted({min(context, trained) for context in CONTEXTS}):
        yield Use(context)
        yield Use(context, micro_batch=2048)
        yield Use(context, cache_key_type="Q8_0", cache_value_type="Q8_0")
    for context in sorted({min(context, trained) for context in WITHOUT_FLASH}):
        yield Use(context, flash_attention=False)


def main() -> int:
    """Check all; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="every model of the catalogue")
    parser.add_argument("--each", action="store_true", help="a line for each use as well")
    parser.add_argument("models", nargs="*")
    asked = parser.parse_args()
    models = read_models(resources.text("catalogue/models.jsonl"))
    wanted = asked.models or PICKED
    print("| model | architecture | uses | GiB | cache | scratch | total |")
    print("|---|---|---|---|---|---|---|")
    picked = [model for model in models if asked.all or model.id in wanted]
    results = [_check(model, each=asked.each) for model in picked]
    rows = [row for found in results if found for row in found]
    outside = sum(not row.within for row in rows)
    compared = sum(found is not None for found in results)
    print(f"\n{compared} models, {len(rows)} uses, {outside} of them outside; "
          f"{len(results) - compared} models could not be compared")  # fmt: skip
    return int(outside > 0)


def _check(model: Model, *, each: bool) -> list[Compared] | None:
    if tensors_of(model) is None:
        print(f"| {model.id} | {model.architecture} | its tensors are not known |")
        return None
    try:
        rows = compare_model(model, tuple(uses(model.context_trained or CONTEXTS[-1])))
    except (GramError, OneSidedError, RuntimeError) as e:
        print(f"| {model.id} | {model.architecture} | {_why(e)} |")
        return None
    _print(model, rows, each=each)
    return rows


def _why(error: Exception) -> str:
    """The last line, without the folder of the engine's source that it may begin with."""
    return str(error).strip().splitlines()[-1].rpartition("/")[2][:90]


def _print(model: Model, rows: Sequence[Compared], *, each: bool) -> None:
    sizes = [row.engines.total_bytes / (1 << 30) for row in rows]
    cache = [row.ours.cache_bytes - row.engines.cache_bytes for row in rows]
    scratch = [row.ours.compute_bytes - row.engines.compute_bytes for row in rows]
    total = max((row.off_bytes / row.engines.total_bytes for row in rows), key=abs)
    print(f"| {model.id} | {model.architecture} | {len(rows)} "
          f"| {min(sizes):.2f} … {max(sizes):.2f} | {_span(cache)} | {_span(scratch)} "
          f"| {100 * total:+.2f} % |")  # fmt: skip
    for row in rows if each else ():
        use, mine, other = row.use, row.ours, row.engines
        print(f"|  | {use.context:,} of {use.micro_batch:,}, {use.cache_key_type}"
              f"{'' if use.flash_attention else ', no flash attention'} | "
              f"| {mine.total_bytes / MIB:,.0f}, the engine {other.total_bytes / MIB:,.0f} "
              f"| {mine.cache_bytes / MIB:,.1f}, {other.cache_bytes / MIB:,.1f} "
              f"| {mine.compute_bytes / MIB:,.1f}, {other.compute_bytes / MIB:,.1f} "
              f"| {row.off_bytes / MIB:+,.1f} MiB |")  # fmt: skip


def _span(bytes_off: Sequence[int]) -> str:
    """The lowest and the highest difference in MiB; 0 where all are less than the log's digits."""
    low, high = (round(pick(bytes_off) / MIB, 1) + 0.0 for pick in (min, max))
    return f"{low:+.1f} … {high:+.1f}" if low or high else "0"


if __name__ == "__main__":
    raise SystemExit(main())
