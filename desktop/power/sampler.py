"""The one thread that reads the meter while a run goes on."""

import logging
import threading
from collections.abc import Callable
from typing import Protocol

from desktop.clock import now_ns
from desktop.power.integrate import power_samples
from desktop.power.meter import Meter, Reading
from desktop.records.energy import PowerSample

log = logging.getLogger(__name__)

THREAD_NAME = "power-sampler"
INTERVAL_S = 0.1
_JOIN_S = 2.0


class Waiter(Protocol):
    """What `threading.Event` offers here; tests pass one that does not wait."""

    def wait(self, timeout: float) -> bool:
        """Wait until set or until `timeout` seconds have passed; whether it is set."""
        ...

    def set(self) -> None:
        """End all waits."""
        ...


class Keeper(Protocol):
    """Where a sampler's readings go: `add` in its thread, `readings` in any."""

    def add(self, reading: Reading) -> None:
        """One more reading."""
        ...

    def readings(self) -> tuple[Reading, ...]:
        """Those that are kept, in order of time."""
        ...


class KeepsAll:
    """Every reading: for runs, whose windows of time are known at their end only.

    `on_sample` is called with each new sample in the sampler's thread; must be quick, not raise.
    """

    def __init__(self, on_sample: Callable[[PowerSample], None] | None = None) -> None:
        self._on_sample = on_sample
        self._readings: list[Reading] = []

    def add(self, reading: Reading) -> None:
        """One more reading."""
        self._readings.append(reading)
        if self._on_sample is not None:
            for sample in power_samples(self._readings[-2:])[-1:]:
                self._on_sample(sample)

    def readings(self) -> tuple[Reading, ...]:
        """All of them."""
        return tuple(self._readings)


class Sampler:
    """Reads a meter at a steady interval and keeps the readings.

    Args:
        meter: read by the sampler's thread only.
        interval_s: between readings; a late one does not shift those after it.
        clock: monotonic nanoseconds.
        stopper: set to end the thread.
        kept: where the readings go; every one is kept where None.
    """

    def __init__(
        self,
        meter: Meter,
        interval_s: float = INTERVAL_S,
        *,
        clock: Callable[[], int] = now_ns,
        stopper: Waiter | None = None,
        kept: Keeper | None = None,
    ) -> None:
        self._meter = meter
        self._interval_ns = round(interval_s * 1e9)
        self._clock = clock
        self._stopper: Waiter = stopper or threading.Event()
        self._kept: Keeper = kept or KeepsAll()
        self._broken = False
        self._thread = threading.Thread(target=self._run, name=THREAD_NAME, daemon=True)

    def start(self) -> None:
        """Begin; once in a sampler's life."""
        self._thread.start()

    def stop(self) -> bool:
        """Take a last reading, end the thread and wait for it; harmless when called again.

        Returns:
            False when the meter is stuck: its thread is left behind and still holds the meter,
            which must not be closed then.
        """
        self._stopper.set()
        if not self._thread.is_alive():
            return True
        self._thread.join(_JOIN_S)
        if self._thread.is_alive():
            log.warning("the meter %s is stuck; its thread is left behind", self._meter.facts.name)
        return not self._thread.is_alive()

    def close(self) -> None:
        """Stop, and let the meter go: not when it is stuck, as the thread left behind uses it."""
        if self.stop():
            self._meter.close()

    def readings(self) -> tuple[Reading, ...]:
        """The readings that are kept, for `energy_of`."""
        return self._kept.readings()

    def samples(self) -> tuple[PowerSample, ...]:
        """The readings that are kept as watts; a counter's at the middle of its interval."""
        return power_samples(self._kept.readings())

    def take(self) -> None:
        """Read once now. The thread does this; so may a caller that runs no thread."""
        reading = self._read()
        if reading is not None:
            self._kept.add(reading)

    def _read(self) -> Reading | None:
        try:
            return self._meter.read()
        except Exception:
            # meters promise not to raise; one that breaks its word must not end the run's energy
            if not self._broken:
                log.exception("the meter %s failed", self._meter.facts.name)
            self._broken = True
            return None

    def _run(self) -> None:
        due_ns = self._clock()
        while True:
            self.take()
            due_ns = max(due_ns + self._interval_ns, self._clock())
            if self._stopper.wait((due_ns - self._clock()) / 1e9):
                break
        self.take()
