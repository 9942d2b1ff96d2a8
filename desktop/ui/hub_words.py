"""What people call the hub that is asked: Hugging Face, or the host of its mirror."""

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QCoreApplication

HUGGING_FACE: Final = "Hugging Face"
_HOST: Final = "huggingface.co"
_CONTEXT: Final = "Hub"
_SHORT: Final = 20
_TOKENS: Final = "/settings/tokens"


@dataclass(frozen=True, slots=True)
class HubName:
    """Which one is asked."""

    address: str = f"https://{_HOST}"
    host: str = _HOST

    @property
    def name(self) -> str:
        """As it is called in sentences and on buttons."""
        return HUGGING_FACE if self.host == _HOST else self.host

    @property
    def short(self) -> str:
        """The same for a button."""
        return self.name if len(self.name) <= _SHORT else _tr("the mirror")

    @property
    def explained(self) -> str:
        """What it is."""
        if self.host == _HOST:
            return _tr("Hugging Face (where most builds are published)")
        return _tr("{host} (a mirror of Hugging Face)").format(host=self.host)

    @property
    def tokens_page(self) -> str:
        """Where a token is made."""
        return f"{self.address}{_TOKENS}"

    def page(self, repository: str) -> str:
        """The address of a repository's page."""
        return f"{self.address}/{repository}"


def _tr(text: str) -> str:
    return QCoreApplication.translate(_CONTEXT, text)
