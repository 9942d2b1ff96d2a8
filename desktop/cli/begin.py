"""How a command of the terminal begins: with a log, or with a line that there is none."""

from desktop.cli.output import say_reason
from desktop.paths import Paths
from desktop.services.log import log_to


def begin_log(paths: Paths) -> None:
    """Start the log; where there can be none, say so on stderr and go on.

    Raises:
        OSError: stderr cannot be written.
    """
    why = log_to(paths)
    if why is not None:
        say_reason(why)
