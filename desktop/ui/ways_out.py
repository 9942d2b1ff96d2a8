"""The buttons below an error that has another way to the same result."""

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication

from desktop.errors import Reason
from desktop.ui import messages
from desktop.ui.components import Action

Do = Callable[[], None]


def ways_out(reason: Reason, *, with_file: Do, unsigned: Do, after: Do) -> tuple[Action, ...]:
    """Without a keychain: a key file, or no signature. While another measures: after it."""
    if reason.code in messages.KEY_CODES:
        return (
            Action(_tr("Keep the key in a file"), with_file),
            Action(_tr("Measure without signing"), unsigned),
        )
    if reason.code == "busy":
        return (Action(_tr("Measure after it"), after),)
    return ()


def _tr(text: str) -> str:
    return QCoreApplication.translate("WaysOut", text)
