"""The log file: rotating, on this machine only."""

import logging
from logging.handlers import RotatingFileHandler

from desktop.paths import Paths

MAX_BYTES = 1_000_000
KEPT = 3


def log_to(paths: Paths) -> None:
    """Send this program's log to the profile's log file; without the file there is no log.

    A read-only or full disk must not keep anybody from measuring: the error comes from what really
    needs the folder.
    """
    root = logging.getLogger()
    if any(isinstance(h, RotatingFileHandler) for h in root.handlers):
        return
    try:
        paths.log_dir.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(
            paths.log, maxBytes=MAX_BYTES, backupCount=KEPT, encoding="utf-8", delay=True
        )
    except OSError:
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    # a full disk is told by whoever needs the disk, not by tracebacks of the log
    logging.raiseExceptions = False
    logging.captureWarnings(capture=True)
    # tells at length, at each run, what this system cannot do
    logging.getLogger("wakepy").setLevel(logging.WARNING)
