"""The line that moves while a run goes on: a bar, the phase, tok/s, watts, time left."""

from collections import deque
from collections.abc import Callable
from typing import Final, Self

from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn

from desktop.cli.tables import cell, console
from desktop.clock import now_ns
from desktop.errors import visible_text
from desktop.records.events import AppEvent, Phase, Power, Steps
from desktop.records.events import Progress as RunProgress

REFRESHES_PER_S: Final = 2
"""Drawing takes milliseconds of the cores that are being measured: no oftener than this."""
WORDS: Final = {
    Phase.PREPARING: "Preparing",
    Phase.LOADING: "Loading the build",
    Phase.WARMUP: "Warming up",
    Phase.MEASURING: "Measuring",
    Phase.SIGNING: "Signing",
}
_TESTS: Final = {"pp": "prompt", "tg": "generation"}


class LiveLine:
    """A context manager. Without a terminal it prints a line a phase; `quiet` prints nothing."""

    def __init__(self, *, quiet: bool, clock: Callable[[], int] = now_ns) -> None:
        self._clock = clock
        self._console = console(stderr=True)
        self._lines = not quiet and not self._console.is_terminal
        self._last = ""
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f} %", markup=False),
            TextColumn("{task.fields[live]}", markup=False),
            console=self._console,
            refresh_per_second=REFRESHES_PER_S,
            transient=True,
            disable=quiet or self._lines,
        )
        self._task: TaskID | None = None
        self._recent: deque[float] = deque(maxlen=64)
        self._power: Power | None = None
        self._left = ""

    def __enter__(self) -> Self:
        self._progress.start()
        self._task = self._progress.add_task(WORDS[Phase.PREPARING], total=1.0, live="")
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def say(self, text: str) -> None:
        """A line that stays, above the moving one."""
        self._console.print(cell(text), soft_wrap=True)

    def take(self, event: AppEvent) -> None:
        """Show what the event changes."""
        match event:
            case RunProgress():
                self._at(event)
            case Steps(end_ns=ends, tokens_per_step=tokens) if len(ends) > 1:
                seconds = (ends[-1] - ends[0]) / 1e9
                self._rate = tokens * (len(ends) - 1) / seconds if seconds else 0.0
                self._update(live=self._live())
            case Power():
                self._power = event
                self._update(live=self._live())
            case _:
                pass

    def words(self, event: RunProgress) -> str:
        """What the line says of a step: `Measuring generation (tg128)`."""
        words = WORDS[event.phase]
        if event.test:
            words += f" {_TESTS.get(event.test[:2], '')} ({event.test})"
        return words

    _rate = 0.0

    def _at(self, event: RunProgress) -> None:
        words = visible_text(self.words(event))
        if self._lines and words != self._last:
            self._last = words
            self.say(f"{words} …")
        left = event.time_left_s
        self._left = f"about {left:.0f} s left" if left is not None else ""
        self._update(description=words, completed=event.fraction, live=self._live())

    def _live(self) -> str:
        rate = f"{self._rate:.1f} tok/s" if self._rate else ""
        return "  ".join(part for part in (rate, self._watts(), self._left) if part)

    def _watts(self) -> str:
        """Those of now: none of a meter that has fallen silent."""
        told = self._power
        if told is None or self._clock() - told.sample.at_ns > told.good_ns:
            return ""
        return f"{told.sample.watts_w:.0f} W {told.meter.source}"

    def _update(self, **fields: object) -> None:
        if self._task is not None:
            self._progress.update(self._task, **fields)  # type: ignore[arg-type]
