"""What an examination finds of one thing: a row of `gram doctor`."""

from dataclasses import dataclass
from typing import Final

FAULTS: Final = frozenset({"missing", "unusable", "damaged"})
"""States without which Gram cannot measure or sign: not there, refused as it is, or broken."""
FOLDER_FIRST: Final = "Let Gram write in the folder, or choose another with GRAM_HOME."


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the examination."""

    what: str
    state: str
    """`ok`, `optional` (goes without), or one of `FAULTS`."""
    detail: str
    advice: str = ""
