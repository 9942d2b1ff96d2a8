"""What the window needs of the services; the composition root hands it in."""

from collections.abc import Sequence
from typing import Protocol

from desktop.records.fits import FitsRequest
from desktop.records.parts import PartsRequest
from desktop.records.rehearsal import RehearsalRequest
from desktop.records.request import Curves, RunRequest
from desktop.records.run import Run


class Services(Protocol):
    """The services as the window sees them. Every call returns at once."""

    def start(self, request: RunRequest) -> None:
        """Begin a run; `RunEvent`s follow through the bridge."""

    def start_parts(self, request: PartsRequest) -> None:
        """Measure the machine's parts; `PartDone`s follow, then `PartsFinished` or `RunFailed`."""

    def start_rehearsal(self, request: RehearsalRequest) -> None:
        """Rehearse a build that is not here; `RehearsalFinished` or `RunFailed` follows."""

    def stop(self) -> None:
        """End what is measured, if anything is; `RunFailed(cancelled=True)` follows."""

    @property
    def running(self) -> bool:
        """Whether a run is going on."""

    def curves(self) -> Curves:
        """The live graph's data; cheap, pulled by a timer."""

    def refresh_machine(self) -> None:
        """Detect; `MachineKnown` follows twice, the second with the engine, or `CallFailed`."""

    def refresh_parts(self) -> None:
        """Read the newest parts that were kept; `PartsKnown` or `CallFailed` follows."""

    def refresh_costs(self, run: Run) -> None:
        """Derive the run's price and carbon; `CostsKnown` or `CallFailed` follows."""

    def refresh_results(self) -> None:
        """Read the ledger; `ResultsKnown` or `CallFailed` follows."""

    def refresh_fits(self, requests: Sequence[FitsRequest]) -> None:
        """Work out what fits here, for several contexts; `FitsKnown`s or `FitsFailed` follow.

        What was asked for before and is not answered yet is dropped.
        """

    def open_model(self, model_id: str, position: int) -> None:
        """Make a model's page; `ModelPageKnown` or `PageFailed` follows, for the newest asked."""

    def open_device(
        self, model_id: str, device_id: str, position: int, quant_id: str | None
    ) -> None:
        """Make the page of one device; `DevicePageKnown` or `PageFailed` follows, as above."""

    def open_here(self, model_id: str, position: int) -> None:
        """Every quantization of a model here; `HerePageKnown` or `PageFailed` follows, as above."""
