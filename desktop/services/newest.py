"""Of questions that come faster than answers only the newest is answered."""

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Newest:
    """Counts questions of one kind. Somebody who drags a slider wants the last one answered."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked = 0

    def only(self, call: Callable[[], T]) -> Callable[[], T | None]:
        """`call`, which gives None once a newer one has been asked for, before it or meanwhile."""
        with self._lock:
            self._asked += 1
            mine = self._asked

        def newest() -> T | None:
            if mine != self._asked:
                return None
            made = call()
            return made if mine == self._asked else None

        return newest
