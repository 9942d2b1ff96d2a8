"""Checks of builds that wait for their turn or go on, and which of them were stopped."""

import threading


class Check:
    """One of them."""

    def __init__(self, name: str | None) -> None:
        self.name = name
        """None: not known until it begins."""
        self.begun = False
        self.told = False
        """That it was stopped was said already."""
        self.stops: set[str] = set()
        """Names that were stopped since it was asked for."""

    @property
    def stopped(self) -> bool:
        """Whether it is to end."""
        return self.name in self.stops


class Checks:
    """All of them. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._checks: list[Check] = []

    def add(self, name: str | None) -> Check:
        """One that waits; of what name, where that is known."""
        check = Check(name)
        with self._lock:
            self._checks.append(check)
        return check

    def begin(self, check: Check, name: str) -> bool:
        """Its turn has come; `name` is what it is called. False: its end was told meanwhile."""
        with self._lock:
            check.name, check.begun = name, True
            return not check.told

    def drop(self, check: Check) -> None:
        """It is over."""
        with self._lock:
            if check in self._checks:
                self._checks.remove(check)

    def stop(self, name: str) -> tuple[bool, bool]:
        """Stop those of that name.

        Returns:
            Whether there is one; and whether one that waits ends with it, which the caller tells.
        """
        with self._lock:
            for check in self._checks:
                check.stops.add(name)
            mine = [check for check in self._checks if check.stopped]
            waiting = [check for check in mine if not check.begun and not check.told]
            for check in waiting:
                check.told = True
        return bool(mine), bool(waiting)
