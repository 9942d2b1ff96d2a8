"""Files that are Gram's own to write: whole or not at all, and never waiting at a pipe."""

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_PART: Final = ".part"
_OWNERS_ONLY: Final = 0o600
_PERMISSIONS: Final = 0o777
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


def never_a_pipe(path: str, flags: int) -> int:
    """An `opener` for `open`: a pipe is refused, which would hold its reader or writer for ever.

    Files and devices (the null device as a log) are opened; a new file is as `open` makes it.

    Raises:
        OSError: it is neither file nor device, or it cannot be opened.
    """
    try:
        descriptor = os.open(path, flags | _NO_WAIT, 0o666)
    except OSError as e:
        # a pipe that nobody reads
        raise _no_file(path) if e.errno == errno.ENXIO else e from e
    mode = os.fstat(descriptor).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode)):
        os.close(descriptor)
        raise _no_file(path)
    return descriptor


def _no_file(path: str) -> OSError:
    return OSError(errno.EINVAL, "it is not a file", path)


@contextlib.contextmanager
def written_beside(path: Path, data: bytes) -> Iterator[Path]:
    """Give a file beside `path` that holds `data`, for the body to rename to `path`.

    It is on the disk, and has the owner and the mode of the file that it is to replace, where the
    system allows; without one, it is its folder's owner's alone. Whatever the body does, nothing
    of it is left beside. What a killed program left is removed: call it under a lock.

    Raises:
        OSError: it cannot be written.
    """
    _sweep(path)
    descriptor, name = tempfile.mkstemp(suffix=_PART, prefix=f".{path.name}.", dir=path.parent)
    beside = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            _like(path, file.fileno())
            os.fsync(file.fileno())
        yield beside
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()


def give_to_folders_owner(path: Path) -> None:
    """A file that root made in another's folder becomes that one's; else nothing. Never raises."""
    if os.name != "posix" or os.geteuid() != 0:
        return
    with contextlib.suppress(OSError):
        folder = path.parent.stat()
        if path.lstat().st_uid != folder.st_uid:
            os.chown(path, folder.st_uid, folder.st_gid, follow_symlinks=False)


def _like(path: Path, descriptor: int) -> None:
    """Owner and mode as of `path`; of a new file, its folder's owner and for them alone."""
    if os.name != "posix":
        return
    try:
        before = path.stat()
        mode = stat.S_IMODE(before.st_mode) & _PERMISSIONS
    except FileNotFoundError:
        before, mode = path.parent.stat(), _OWNERS_ONLY
        if before.st_uid == os.geteuid():
            return
    # only root may give a file away; its group may be another of the writer's
    for owner in (before.st_uid, -1):
        with contextlib.suppress(OSError):
            os.fchown(descriptor, owner, before.st_gid)
            break
    with contextlib.suppress(OSError):
        os.fchmod(descriptor, mode)


def _sweep(path: Path) -> None:
    for left in path.parent.glob(f".{_literal(path.name)}.*{_PART}"):
        with contextlib.suppress(OSError):
            left.unlink()


def _literal(name: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)
