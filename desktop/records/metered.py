"""Whether a connection costs by what goes over it."""

from dataclasses import dataclass
from enum import StrEnum


class MeteredState(StrEnum):
    """What a system says of its connection to the internet."""

    YES = "yes"
    NO = "no"
    GUESS_YES = "guess-yes"
    """The system takes it for metered by its kind: a telephone's, for example."""
    GUESS_NO = "guess-no"
    NOT_KNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Metered:
    """The state, and who told it."""

    state: MeteredState = MeteredState.NOT_KNOWN
    source: str | None = None
    """`NetworkManager`; None where nobody told."""

    @property
    def asks_first(self) -> bool:
        """Whether a large download should be asked about first.

        NetworkManager's guess counts like its yes, and what is not known like no, as its reference
        advises (libnm, `NMMetered`).
        """
        return self.state in {MeteredState.YES, MeteredState.GUESS_YES}
