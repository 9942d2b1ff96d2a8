"""What was worked out of a large record is kept by the record itself, not by what is in it.

To hash a model takes longer than most of what is worked out of it, as it has many layers.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Same(Generic[T]):
    """An object as a key: equal to itself only. Whoever keeps the key keeps the object."""

    it: T

    def __hash__(self) -> int:
        return id(self.it)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.it is self.it
