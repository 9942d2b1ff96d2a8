"""The line that moves while `gram fits` works: on a terminal only, and gone at the end."""

from typing import Final

from desktop.cli.live import LiveLine
from desktop.cli.tables import console
from desktop.services.estimates import FitsWork

_READING: Final = "Reading what this machine is"
_WORKING_OUT: Final = "Working out what fits"


class FitsLine(LiveLine):
    """A context manager: first what is read, which has no known end, then the share worked out.

    It measures nothing, so its phases are worth no line where there is no terminal.
    """

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(quiet=quiet or not console(stderr=True).is_terminal)

    def reading(self) -> None:
        """The engine is asked and the ledger read."""
        self._update(description=_READING)

    def finish(self, work: FitsWork) -> None:
        """Work out all of it, and show how much is done.

        Raises:
            GramError: as `FitsWork.go_on`.
        """
        while work.go_on():
            self._update(description=_WORKING_OUT, completed=work.fraction)
