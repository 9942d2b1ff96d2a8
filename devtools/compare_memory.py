"""The estimate of memory beside the engine's own count, for files that have a header only.

The file's header goes through the product's own reader; the engine loads the same file, counts and
allocates nothing.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from desktop.builds.header import read_header
from desktop.errors import GramError
from desktop.estimate.header_model import model_of
from desktop.estimate.memory import needs
from desktop.estimate.placement import ON_HOST
from desktop.estimate.sizes import from_header
from desktop.records.estimate import MemoryNeed, Use
from desktop.records.model import Model
from devtools.ask_memory import Refused, engine_memory
from devtools.sparse_gguf import write_sparse

SHARE: Final = 0.02
BYTES: Final = 64 << 20
"""A total may be off by the larger of them."""
FILE_TYPE: Final = "Q4_K_M"


class OneSidedError(Exception):
    """Only one of the two takes a use."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One use of one file: the estimate and the engine's count."""

    use: Use
    ours: MemoryNeed
    engines: MemoryNeed

    @property
    def off_bytes(self) -> int:
        """The estimate minus the engine's count."""
        return self.ours.total_bytes - self.engines.total_bytes

    @property
    def within(self) -> bool:
        """Whether the total is near enough."""
        return abs(self.off_bytes) <= max(SHARE * self.engines.total_bytes, BYTES)


def compare_model(model: Model, uses: Sequence[Use]) -> list[Compared]:
    """Every use that both take, of a file of the model's shapes.

    Raises:
        OneSidedError: only one of them takes a use.
        RuntimeError: the engine refuses the file.
        GramError: the file's header is not understood.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.gguf"
        write_sparse(path, model, FILE_TYPE)
        return compare_file(path, uses)


def compare_file(path: Path, uses: Sequence[Use]) -> list[Compared]:
    """Every use of a file that both take.

    Raises:
        OneSidedError, RuntimeError, GramError: as `compare_model`.
    """
    header, counts = read_header(path), engine_memory(path, uses)
    found, weights = model_of(header), from_header(header)
    rows = []
    for use, engines in zip(uses, counts, strict=True):
        try:
            ours = needs(found, weights, use, ON_HOST).host
        except GramError as e:
            if not isinstance(engines, Refused):
                raise OneSidedError(f"the engine takes {use}: {e}") from e
            continue
        if isinstance(engines, Refused):
            raise OneSidedError(f"the engine refuses {use}: {engines.why}")
        rows.append(Compared(use, ours, engines))
    return rows
