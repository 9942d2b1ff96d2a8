"""Writing a file whole or not at all."""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PART: Final = ".part"
_STALE_S: Final = 24 * 3600


@contextlib.contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Give a temporary path beside `target`; when the body ends well, it takes its place.

    Whatever the body raises, the temporary file is removed. Parts that a killed process left here
    more than a day ago are swept.

    Raises:
        OSError: the folder cannot be written, or the disk is full.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    _sweep(target.parent)
    descriptor, name = tempfile.mkstemp(suffix=PART, prefix=".", dir=target.parent)
    os.close(descriptor)
    part = Path(name)
    try:
        yield part
        _flush(part)
        part.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def _flush(path: Path) -> None:
    with path.open("rb+") as file:  # Windows flushes only what is open for writing
        os.fsync(file.fileno())


def _sweep(folder: Path) -> None:
    for part in folder.glob(f".*{PART}"):
        with contextlib.suppress(OSError):
            if time.time() - part.stat().st_mtime > _STALE_S:
                part.unlink()
