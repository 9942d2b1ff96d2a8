"""One window per profile: a second start brings the first to the front and ends."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QDeadlineTimer, QLockFile, QObject, QThread, Signal

from desktop.errors import GramError

if TYPE_CHECKING:
    from PySide6.QtNetwork import QLocalServer

_WAIT_MS: Final = 3000
_AGAIN_MS: Final = 50
_SHOW: Final = b"show\n"


class SingleInstance(QObject):
    """Holds a lock in the profile's folder and listens for later starts.

    The lock decides who is first, so that two starts at once cannot both be; the local socket
    only carries the wish to be shown. Qt's network module is imported once it is needed: not
    before the first paint.
    """

    show_asked = Signal()

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = QLockFile(str(folder / "window.lock"))
        # held for as long as the window lives; Qt still finds out when its holder has died
        self._lock.setStaleLockTime(0)
        self._folder = folder
        self._server: QLocalServer | None = None

    def claim(self) -> None:
        """Be the one window of this profile; `listen` follows after the first paint.

        Raises:
            GramError: `app_running` when another is, which was asked to show itself;
                `folder_read_only` when the folder takes no lock.
        """
        file = Path(self._lock.fileName())
        if file.exists() and not file.is_file():
            # Qt would wait at a pipe for ever
            raise GramError("folder_read_only", detail="its window lock is not a file")
        if self._lock.tryLock(0):
            return
        if self._lock.error() == QLockFile.LockError.LockFailedError:
            self._ask_to_show()
            raise GramError("app_running")
        raise GramError("folder_read_only", detail="its window lock cannot be written")

    def listen(self) -> None:
        """Fire `show_asked` whenever Gram is started again."""
        from PySide6.QtNetwork import QLocalServer  # noqa: PLC0415 - after the first paint

        # a crashed window leaves its socket behind
        QLocalServer.removeServer(self._name())
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._answer)
        self._server.listen(self._name())

    def _name(self) -> str:
        """The socket's: one a profile, short, and no path in it."""
        from hashlib import sha256  # noqa: PLC0415 - not before the first paint

        return f"gram-{sha256(str(self._folder).encode()).hexdigest()[:16]}"

    def release(self) -> None:
        """Let the next start be the one."""
        if self._server is not None:
            self._server.close()
        self._lock.unlock()

    def _ask_to_show(self) -> None:
        """The first may still be starting, so it is asked until it listens, a few seconds long."""
        from PySide6.QtNetwork import QLocalSocket  # noqa: PLC0415 - seldom needed

        deadline = QDeadlineTimer(_WAIT_MS)
        while not deadline.hasExpired():
            socket = QLocalSocket()
            socket.connectToServer(self._name())
            if socket.waitForConnected(_WAIT_MS):
                socket.write(_SHOW)
                socket.waitForBytesWritten(_WAIT_MS)
                socket.disconnectFromServer()
                return
            QThread.msleep(_AGAIN_MS)

    def _answer(self) -> None:
        while self._server is not None and self._server.hasPendingConnections():
            socket = self._server.nextPendingConnection()
            socket.disconnected.connect(socket.deleteLater)
            self.show_asked.emit()
