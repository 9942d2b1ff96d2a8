"""The part of the fake services that the page *Builds* asks."""

from desktop.records.fits import FitRow, Fits
from desktop.records.offers import FetchRequest


class FakeBuilds:
    """Records what is asked of builds, in its order."""

    def __init__(self) -> None:
        self.builds: list[tuple[object, ...]] = []

    def of(self, kind: str) -> list[tuple[object, ...]]:
        """What was asked of one kind, without its name."""
        return [asked[1:] for asked in self.builds if asked[0] == kind]

    def refresh_shelf(self) -> None:
        self.builds.append(("shelf",))

    def refresh_offers(self, fits: Fits, *, ask: bool) -> None:
        self.builds.append(("offers", fits, ask))

    def add_repository(self, name: str) -> None:
        self.builds.append(("add", name))

    def search_hub(self, words: str) -> None:
        self.builds.append(("search", words))

    def fetch(self, request: FetchRequest) -> None:
        self.builds.append(("fetch", request))

    def pause_fetch(self, name: str) -> None:
        self.builds.append(("pause", name))

    def resume_fetch(self, name: str) -> None:
        self.builds.append(("resume", name))

    def stop_fetch(self, name: str) -> None:
        self.builds.append(("stop", name))

    def limit_fetches(self, bytes_s: float | None) -> None:
        self.builds.append(("limit", bytes_s))

    def delete_build(self, sha256: str) -> None:
        self.builds.append(("delete", sha256))

    def pin_build(self, sha256: str, pinned: bool) -> None:  # noqa: FBT001 - as the services
        self.builds.append(("pin", sha256, pinned))

    def verify_build(self, sha256: str) -> None:
        self.builds.append(("verify", sha256))

    def use_build(self, name: str, fit: FitRow | None) -> None:
        self.builds.append(("use", name, fit))

    def refresh_hub(self) -> None:
        self.builds.append(("hub",))

    def refresh_token(self) -> None:
        self.builds.append(("token",))

    def keep_token(self, token: str) -> None:
        self.builds.append(("keep", token))
