"""What the window needs of the services; the composition root hands it in."""

from typing import Protocol

from desktop.records.request import Curves, RunRequest


class Services(Protocol):
    """The services as the window sees them. Every call returns at once."""

    def start(self, request: RunRequest) -> None:
        """Begin a run; `RunEvent`s follow through the bridge."""

    def stop(self) -> None:
        """End the run, if there is one; `RunFailed(cancelled=True)` follows."""

    @property
    def running(self) -> bool:
        """Whether a run is going on."""

    def curves(self) -> Curves:
        """The live graph's data; cheap, pulled by a timer."""

    def refresh_machine(self) -> None:
        """Detect the machine; `MachineKnown` or `CallFailed` follows."""

    def refresh_results(self) -> None:
        """Read the ledger; `ResultsKnown` or `CallFailed` follows."""
