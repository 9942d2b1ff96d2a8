"""Numbers of a GGUF header that decide memory, each within bounds: headers come from strangers."""

from dataclasses import dataclass
from typing import Final

from desktop.errors import GramError
from desktop.estimate.layers import MAX_LAYERS
from desktop.records.build import Header
from desktop.rules.header_keys import is_read

MAX_SIZE: Final = 1 << 20
"""Of widths, heads and windows; the widest feed-forward part today has 0.2 million."""
MAX_VOCABULARY: Final = 1 << 24
MAX_EXPERTS: Final = 1 << 12
MAX_CONTEXT: Final = 1 << 30
_EMBEDDING: Final = "token_embd.weight"


@dataclass(frozen=True, slots=True)
class Fields:
    """A header, read number by number.

    Keys that the engine does not read for the file's architecture count as not there.
    """

    header: Header

    @property
    def name(self) -> str:
        """What the file calls itself, printable and short; else its architecture."""
        told = self.header.metadata.get("general.name")
        text = told if isinstance(told, str) else self.header.architecture
        return "".join(c if c.isprintable() else " " for c in text).strip()[:120] or "model"

    def number(self, key: str, limit: int = MAX_SIZE) -> int | None:
        """One number of the architecture; None when it is not there.

        Raises:
            GramError: `header_absurd` when it is not a number from 0 to `limit`.
        """
        value = self._told(key)
        return None if value is None else self._bounded(key, value, limit)

    def required(self, key: str, limit: int = MAX_SIZE) -> int:
        """As `number`, and it has to be there and not 0.

        Raises:
            GramError: `header_lacks`, `header_absurd`.
        """
        value = self.number(key, limit)
        if value is None:
            raise self.lacks(key)
        if value == 0:
            raise self.absurd(key, 0)
        return value

    def by_layer(self, key: str, layers: int, limit: int = MAX_SIZE) -> tuple[int, ...] | None:
        """One number a layer: the header has one for all, or an array of `layers` numbers.

        Raises:
            GramError: `header_absurd`.
        """
        value = self._told(key)
        if value is None:
            return None
        if not isinstance(value, tuple):
            return (self._bounded(key, value, limit),) * layers
        if len(value) != layers:
            raise self.absurd(key, f"{len(value)} numbers")
        return tuple(self._bounded(key, number, limit) for number in value)

    def array(self, key: str, layers: int) -> tuple[int, ...] | None:
        """As `by_layer`, but only where the header has an array; it may be longer than needed.

        Raises:
            GramError: `header_absurd`.
        """
        value = self._told(key)
        if not isinstance(value, tuple):
            return None
        if not layers <= len(value) <= MAX_LAYERS:
            raise self.absurd(key, f"{len(value)} numbers")
        return tuple(self._bounded(key, number, MAX_SIZE) for number in value[:layers])

    def vocabulary(self) -> int:
        """Rows of the embedding, else what the header says of its tokens.

        Raises:
            GramError: `header_lacks`, `header_absurd`.
        """
        for tensor in self.header.tensors:
            if tensor.name == _EMBEDDING and len(tensor.shape) > 1:
                return self._bounded(_EMBEDDING, tensor.shape[1], MAX_VOCABULARY)
        told = self.number("vocab_size", MAX_VOCABULARY)
        if told is not None:
            return told
        tokens = self.header.metadata.get("tokenizer.ggml.tokens")
        length = len(tokens) if isinstance(tokens, tuple) else getattr(tokens, "length", None)
        if length is None:
            raise self.lacks("vocab_size")
        return self._bounded("tokenizer.ggml.tokens", length, MAX_VOCABULARY)

    def _told(self, key: str) -> object:
        architecture = self.header.architecture
        read = is_read(architecture, key)
        return self.header.metadata.get(f"{architecture}.{key}") if read else None

    def lacks(self, key: str) -> GramError:
        """The error of a header that does not say `key`."""
        return GramError("header_lacks", name=self.name, key=key)

    def absurd(self, key: str, found: object) -> GramError:
        """The error of a header that says nonsense of `key`."""
        return GramError("header_absurd", name=self.name, key=key, found=str(found)[:40])

    def _bounded(self, key: str, value: object, limit: int) -> int:
        if not isinstance(value, int) or not 0 <= value <= limit:  # a truth value counts as 0 or 1
            raise self.absurd(key, value)
        return int(value)
