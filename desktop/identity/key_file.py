"""A signing key in a file of its own, for servers without a keychain.

On POSIX the file must be readable by its owner only (mode 0600 or less). Windows has no such bits:
there the folder's access list protects it, and the check is skipped.
"""

import contextlib
import os
import secrets
import stat
from pathlib import Path

from desktop.errors import KeyUnavailableError
from desktop.identity.key_text import new_key_text, read_key_text
from desktop.identity.signer import Signer

_MAX_BYTES = 4096
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
# os.open refuses to wait at a named pipe, and on Windows does not translate line ends
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def load_or_create(path: Path) -> Signer:
    """The key in the file, made first when there is none. Its folder must be there.

    Two processes at once end with the same key: the file appears whole and is never overwritten.
    A symbolic link is followed.

    Raises:
        KeyUnavailableError: `key_file_open` (others may read it), `key_file_bad` (damaged or
            unreadable), `key_file_write` (it cannot be created).
    """
    target = Path(os.path.realpath(path))
    found = _load(target)
    if found is not None:
        return found
    try:
        _create(target, new_key_text() + "\n")
    except OSError as e:
        raise KeyUnavailableError("key_file_write", name=str(path), detail=_said(e)) from e
    kept = _load(target)
    if kept is None:
        raise KeyUnavailableError("key_file_write", name=str(path), detail="it vanished again")
    return kept


def check_key_file(path: Path) -> None:
    """Look whether the key of the file that is there could be used; nothing is made.

    Raises:
        KeyUnavailableError: `key_file_open`, `key_file_bad`.
    """
    _load(Path(os.path.realpath(path)))


def _load(path: Path) -> Signer | None:
    try:
        text = _read(path)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as e:
        raise KeyUnavailableError("key_file_bad", name=str(path), detail=_said(e)) from e
    try:
        return read_key_text(text)
    except ValueError as e:
        raise KeyUnavailableError("key_file_bad", name=str(path), detail=str(e)) from e


def _read(path: Path) -> str:
    descriptor = os.open(path, _READ)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise KeyUnavailableError("key_file_bad", name=str(path), detail="it is not a file")
        if os.name == "posix" and mode & _OTHERS:
            shown = f"{stat.S_IMODE(mode):04o}"
            raise KeyUnavailableError("key_file_open", name=str(path), mode=shown)
        return os.read(descriptor, _MAX_BYTES).decode("utf-8")
    finally:
        os.close(descriptor)


def _create(path: Path, text: str) -> None:
    """Write beside it, then give it its name unless another process was first."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        _write(beside, text.encode("utf-8"))
        with contextlib.suppress(FileExistsError):
            _name(beside, path)
        _sync_folder(path.parent)
    finally:
        beside.unlink(missing_ok=True)


def _write(path: Path, data: bytes) -> None:
    with os.fdopen(os.open(path, _CREATE, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _name(beside: Path, path: Path) -> None:
    """Neither call overwrites: a POSIX rename would, a Windows rename does not."""
    if os.name == "posix":
        os.link(beside, path)
    else:
        beside.rename(path)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _said(error: OSError | UnicodeDecodeError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not text"
    return (error.strerror or type(error).__name__).lower()
