"""What must be so in the table of builds, beyond what its reader looks at."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from desktop.builds.shipped import ShippedFile, is_whole, read_files, sets_of
from desktop.estimate.sizes import is_size_of, weights_of
from desktop.records.model import Model, Quant


def build_problems(text: str, models: Sequence[Model], quants: Sequence[Quant]) -> Iterator[str]:
    """What is wrong with the table of that text, one sentence each."""
    files = read_files(text)
    known = {model.id: model for model in models}
    owners = {r.casefold(): m.id for m in models for r in m.repositories}
    mixes = {label: quant for quant in quants for label in (quant.label, quant.file_type)}
    yield from _of_sums(files)
    for parts in sets_of(files):
        name = f"{parts[0].repository}/{parts[0].path}"
        problems = _of_build(parts, known.get(parts[0].model), owners, mixes)
        yield from (f"{name}: {problem}" for problem in problems)


def _of_build(
    parts: tuple[ShippedFile, ...],
    model: Model | None,
    owners: Mapping[str, str],
    mixes: Mapping[str | None, Quant],
) -> Iterator[str]:
    first = parts[0]
    if model is None:
        yield f"no model is {first.model}"
        return
    if owners.get(first.repository.casefold(), model.id) != model.id:
        yield f"the repository is of {owners[first.repository.casefold()]}, not of {model.id}"
    if not is_whole(parts):
        yield f"{len(parts)} parts are not the whole set"
        return
    if len({(part.model, part.gated) for part in parts}) > 1:
        yield "its parts say different things"
    sizes = [part.size_bytes for part in parts if part.size_bytes is not None]
    quant = mixes.get(first.quantization)
    if quant is not None and len(sizes) == len(parts) and not _is_size(sum(sizes), model, quant):
        yield f"{sum(sizes)} bytes are not the size of {model.id} in {quant.label}"


def _is_size(file_bytes: int, model: Model, quant: Quant) -> bool:
    """Some packagers' files of models with tied embeddings hold an output matrix of its own."""
    ways = (model, replace(model, tied=False))
    return any(is_size_of(file_bytes, way, weights_of(way, quant)) for way in ways)


def _of_sums(files: Sequence[ShippedFile]) -> Iterator[str]:
    """One sum is one file: of one size, and of one model and quantization."""
    met: dict[str, ShippedFile] = {}
    for file in files:
        first = met.setdefault(file.sha256, file) if file.sha256 else file
        told = [(f.model, f.quantization, f.size_bytes) for f in (first, file)]
        if told[0] != told[1]:
            yield f"{file.repository}/{file.path}: its sum is that of {first.path}"
