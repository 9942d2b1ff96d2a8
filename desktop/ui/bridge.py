"""The only crossing from other threads into Qt's."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    # the records take 20 ms to import, and the first paint needs none of them
    from desktop.services.estimate_events import WindowEvent


class Bridge(QObject):
    """Hands events of any thread to the UI thread.

    Lives on the UI thread. Connect bound methods of objects that live there: Qt then queues each
    event for that thread, whichever thread posted it.
    """

    # not named `event`: that would hide QObject.event
    received = Signal(object)

    def post(self, event: "WindowEvent") -> None:
        """Deliver `event` on the UI thread; callable from any thread, returns at once."""
        self.received.emit(event)
