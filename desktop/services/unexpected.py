"""What a person is told of a failure that nobody expected."""

import logging

from desktop.errors import GramError, Reason
from desktop.paths import Paths


def reason_of(error: BaseException, paths: Paths, log: logging.Logger, what: str) -> Reason:
    """The error's own reason; of one that nobody expected that it is in the log, where it then is.

    Args:
        error: what was raised.
        paths: the profile whose log is named.
        log: the module's that tells it.
        what: failed, for the log: `a download`.
    """
    if isinstance(error, GramError):
        return error.reason
    log.error("%s failed in an unexpected way", what, exc_info=error)
    detail = f"{type(error).__name__}: {error}"
    return Reason("unexpected", {"detail": detail, "log": paths.log.name})
