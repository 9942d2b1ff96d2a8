"""What the window needs of the services; the composition root hands it in."""

from collections.abc import Sequence
from typing import Protocol

from desktop.records.fits import FitRow, Fits, FitsRequest
from desktop.records.offers import FetchRequest
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

    def refresh_shelf(self) -> None:
        """Look what is on this machine; `ShelfKnown` or `BuildCallFailed` follows."""

    def refresh_offers(self, fits: Fits, *, ask: bool) -> None:
        """Work out what can be had, by the rows of `fits`; `OffersKnown` follows.

        `ask` asks the hub anew for the repositories that are shown.
        """

    def add_repository(self, name: str) -> None:
        """Add a repository, named as users write it; `OffersKnown` or `BuildCallFailed` follows."""

    def search_hub(self, words: str) -> None:
        """Look for repositories; `OffersKnown` with those that were found, or `BuildCallFailed`."""

    def fetch(self, request: FetchRequest) -> None:
        """Download a build; `FetchStep`s follow, then `FetchEnded`."""

    def pause_fetch(self, name: str) -> None:
        """Hold a download up; a `FetchStep` follows. `name` is as it was asked for."""

    def resume_fetch(self, name: str) -> None:
        """Let it go on."""

    def stop_fetch(self, name: str) -> None:
        """End it; what has come stays. `FetchEnded(stopped=True)` follows."""

    def limit_fetches(self, bytes_s: float | None) -> None:
        """All downloads together take no more than this; None: what the settings say."""

    def delete_build(self, sha256: str) -> None:
        """Remove one of Gram's own; `BuildRemoved` or `BuildCallFailed` follows."""

    def pin_build(self, sha256: str, pinned: bool) -> None:  # noqa: FBT001 - as the record has it
        """Keep one whatever the budget says, or no longer; `ShelfKnown` or `BuildCallFailed`."""

    def verify_build(self, sha256: str) -> None:
        """Read one again; `FetchStep`s, then `BuildChecked` or `BuildCallFailed` follows."""

    def use_build(self, name: str, fit: FitRow | None) -> None:
        """Tell how to run one best here; `UseKnown` or `BuildCallFailed` follows."""

    def refresh_hub(self) -> None:
        """Tell which hub is asked; `HubKnown` follows, nothing where its address cannot be used."""

    def refresh_token(self) -> None:
        """Look whether a token is sent to the hub; `TokenKnown` or `TokenFailed` follows."""

    def keep_token(self, token: str) -> None:
        """Keep the hub's token in the keychain; `TokenKept` or `TokenFailed` follows."""
