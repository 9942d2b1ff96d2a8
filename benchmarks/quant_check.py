"""Does the rule of types choose as the engine's own quantizer does?

For a small model of every architecture that is covered, with whole and with odd widths, and for
every model of the catalogue: each tensor's type in each kind of file, with and without an
importance matrix, against a dry run of the engine; and the engine's loader has to find the tensors
it wants, of the shapes it wants, and no others. The files have a header and no weights.

    python benchmarks/quant_check.py [--catalogue [ID...]]

Prints one line a model, and ends with 1 if anything differs.
"""

import dataclasses
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from desktop import resources
from desktop.estimate.catalogue import read_models
from desktop.records.model import Model
from desktop.rules.quant_mix import FILE_TYPES_COVERED, types_of
from desktop.rules.tensor_shapes import tensors_of
from desktop.rules.tensor_table import RECIPES
from devtools.ask_engine import check_tensors, engine_types
from devtools.sparse_gguf import write_sparse
from devtools.tiny_models import tiny

KINDS = sorted(FILE_TYPES_COVERED - {"F32", "F16", "BF16"})


def main() -> int:
    """Check all; the exit code."""
    ids = sys.argv[2:] if sys.argv[1:2] == ["--catalogue"] else None
    wanted = _small() if ids is None else _catalogue(ids)
    results = [_check(name, model, load=load) for name, model, load in wanted]
    print(f"{len(results)} models, {results.count(False)} of them differ")
    return int(False in results)


def _small() -> Iterator[tuple[str, Model, bool]]:
    for architecture in RECIPES:
        for experts in (8, 16) if tiny(architecture).is_mixture else (0,):
            yield f"{architecture}, {experts} experts", tiny(architecture, experts=experts), True
            yield f"{architecture}, odd", tiny(architecture, whole=False, experts=experts), False


def _catalogue(ids: list[str]) -> Iterator[tuple[str, Model, bool]]:
    for model in read_models(resources.text("catalogue/models.jsonl")):
        if ids and model.id not in ids:
            continue
        if tensors_of(model) is None:
            print(f"{model.id:40} {model.architecture} is not covered")
            continue
        # as if it had been published unquantized: the dry run does not ask what may be requantized
        yield model.id, dataclasses.replace(model, native_precision=None, predict_layers=0), True


def _check(name: str, model: Model, *, load: bool) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.gguf"
        try:
            write_sparse(path, model, "BF16")
            differing, compared = _compare(path, model)
            if load:  # odd widths are no shapes that a graph could use
                check_tensors(path)
        except RuntimeError as e:
            print(f"{name:40} the engine refused it: {str(e).splitlines()[-1]}")
            return False
    print(f"{name:40} {compared} types compared, {len(differing)} differ {differing[:1]}")
    return not differing


def _compare(path: Path, model: Model) -> tuple[list[str], int]:
    names = [name for name, _ in tensors_of(model) or ()]
    found = engine_types(path, [*KINDS, *(f"{kind}+matrix" for kind in KINDS)])
    differing, compared = [], 0
    for wanted, theirs in found.items():
        kind, _, matrix = wanted.partition("+")
        ours = types_of(model, kind, matrix=bool(matrix)) or ()
        for name, own in zip(names, ours, strict=True):
            compared += 1
            if theirs[name] != own:
                differing.append(f"{wanted} {name}: {own}, the engine {theirs[name]}")
    return differing, compared


if __name__ == "__main__":
    raise SystemExit(main())
