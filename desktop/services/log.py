"""The log file: rotating, on this machine only."""

import logging
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from desktop.errors import Reason
from desktop.own_files import never_a_pipe
from desktop.paths import Paths

MAX_BYTES = 1_000_000
KEPT = 3


def log_to(paths: Paths) -> Reason | None:
    """Send this program's log to the profile's log file; returns why there is none, if so.

    A read-only or full disk must not keep anybody from looking: an error comes from what really
    needs the folder.
    """
    root = logging.getLogger()
    if any(isinstance(h, RotatingFileHandler) for h in root.handlers):
        return None
    try:
        check_log_file(paths.log)
        handler = _LogFile(
            paths.log, maxBytes=MAX_BYTES, backupCount=KEPT, encoding="utf-8", delay=True
        )
    except OSError as e:
        # else Python prints warnings on stderr, among what people read
        root.addHandler(logging.NullHandler())
        return Reason("no_log", {"detail": e.strerror or str(e)})
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    # a full disk is told by whoever needs the disk, not by tracebacks of the log
    logging.raiseExceptions = False
    logging.captureWarnings(capture=True)
    # tells at length, at each run, what this system cannot do
    logging.getLogger("wakepy").setLevel(logging.WARNING)
    return None


def check_log_file(file: Path) -> None:
    """Make the file where there is none, and its folder.

    Raises:
        OSError: it cannot be written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    open(file, "ab", opener=never_a_pipe).close()


class _LogFile(RotatingFileHandler):
    """Opened anew after each rotation, and a pipe may have come into its place."""

    def _open(self) -> TextIOWrapper:
        file = open(self.baseFilename, "ab", opener=never_a_pipe)  # noqa: SIM115 - the handler closes it
        return TextIOWrapper(file, encoding=self.encoding)
