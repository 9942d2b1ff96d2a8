"""Of questions that come faster than answers only the newest is answered."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


class Newest:
    """Counts questions of one kind. Somebody who drags a slider wants the last one answered."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.count = 0

    def ask(self) -> "Ask":
        """One question more; those before it need no answer any longer."""
        with self._lock:
            self.count += 1
            return Ask(self, self.count)

    def only(self, call: Callable[[], T]) -> Callable[[], T | None]:
        """`call`, which gives None once a newer question has come, before it or meanwhile."""
        ask = self.ask()

        def newest() -> T | None:
            made = call() if ask.holds else None
            return made if ask.holds else None

        return newest


@dataclass(frozen=True, slots=True)
class Ask:
    """One question."""

    of: Newest
    number: int

    @property
    def holds(self) -> bool:
        """Whether none has come after it."""
        return self.number == self.of.count
