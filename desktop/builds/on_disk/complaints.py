"""Why files are not used: the first few, and how many more."""

from pathlib import Path

from desktop.builds.header import shown_name
from desktop.errors import Param, Reason


class Complaints:
    """Of one program's folders."""

    def __init__(self, program: str, most: int) -> None:
        self.program = program
        self._most = most
        self._told: list[Reason] = []
        self._untold = 0

    @property
    def told(self) -> tuple[Reason, ...]:
        """What could not be used, and why."""
        if not self._untold:
            return tuple(self._told)
        more = Reason("on_disk_more", {"program": self.program, "count": self._untold})
        return (*self._told, more)

    def tell(self, code: str, path: Path, **params: Param) -> None:
        """Note why something is not used; only the first few are kept, the others counted.

        That a limit ended the search is always kept.
        """
        if len(self._told) >= self._most and code != "on_disk_limit":
            self._untold += 1
            return
        said = {"program": self.program, "name": shown_name(path), **params}
        self._told.append(Reason(code, said))
