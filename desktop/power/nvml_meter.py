"""NVIDIA cards through NVML: the energy counter of the board (Volta and newer), its power, load."""

import threading
from collections.abc import Callable

from desktop.power.cards import CardSensor
from desktop.power.momentary import believed_w
from desktop.records.energy import MeterKind
from desktop.sources.nvml import Nvml, NvmlCard

NAME = "NVML"
NVIDIA = "NVIDIA"
"""As the machine's list of cards names the vendor."""
_J_PER_MJ = 1e-3


class SharedNvml:
    """One open NVML for all that is looked at: closed by whoever lets it go last.

    Whoever opens it holds it first. Used by the threads of several sources.
    """

    def __init__(self, nvml: Nvml) -> None:
        self.sensors = tuple(nvml_sensor(nvml, card) for card in nvml.cards())
        self._nvml = nvml
        self._holders = 1
        self._lock = threading.Lock()

    def hold(self) -> Callable[[], None]:
        """Keep it open until `let_go`, which is given, is called."""
        with self._lock:
            self._holders += 1
        return self.let_go

    def let_go(self) -> None:
        """One holder less."""
        with self._lock:
            self._holders -= 1
            last = not self._holders
        if last:
            self._nvml.close()


def nvml_sensor(nvml: Nvml, card: NvmlCard) -> CardSensor:
    """What one card tells; each look gives None where card or driver refuses it."""
    index = card.index
    return CardSensor(
        name=card.name,
        source=NAME,
        pci_address=card.pci_bus_id,
        count=lambda: nvml.energy_mj(index),
        unit_j=_J_PER_MJ,
        watts=lambda: _watts(nvml.power_mw(index)),
        # before Ampere; newer cards give a mean of a second, and all of them have the counter
        kind=MeterKind.INSTANTANEOUS,
        busy=_share(lambda: nvml.busy_percent(index)),
    )


def _watts(value_mw: int | None) -> float | None:
    return None if value_mw is None else believed_w(value_mw * 1e-3)


def _share(percent: Callable[[], int | None]) -> Callable[[], float | None]:
    def look() -> float | None:
        value = percent()
        return None if value is None else min(1.0, max(0.0, value / 100))

    return look
