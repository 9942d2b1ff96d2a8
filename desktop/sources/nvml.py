"""NVIDIA's management library, through nvidia-ml-py. Not there: no cards."""

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import TypeVar

from desktop.sources.numbers import card_bytes, whole
from desktop.sources.texts import line

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NvmlCard:
    """One card as NVML tells it, in NVML's order. Serial numbers are never asked for."""

    index: int
    name: str
    memory_bytes: int | None
    pci_bus_id: str | None
    """`00000000:01:00.0`."""
    driver: str | None


class Nvml:
    """An open NVML. Each call gives None when the card or the driver refuses it."""

    def __init__(self, library: ModuleType) -> None:
        self._library = library
        self._handles: dict[int, object] = {}

    def cards(self) -> tuple[NvmlCard, ...]:
        """All cards that NVML lists and lets us use."""
        return tuple(self.each_card())

    def each_card(self) -> Iterator[NvmlCard]:
        """As `cards`, each as soon as it is read: the first call on a card may take a second."""
        count = self._guard(self._library.nvmlDeviceGetCount) or 0
        for index in range(count):
            card = self._card(index)
            if card is not None:
                yield card

    def energy_mj(self, index: int) -> int | None:
        """Millijoules since the driver was loaded; Volta and newer."""
        return self._whole("nvmlDeviceGetTotalEnergyConsumption", index)

    def power_mw(self, index: int) -> int | None:
        """Milliwatts of the whole board; averaged over a second from Ampere on (not GA100)."""
        return self._whole("nvmlDeviceGetPowerUsage", index)

    def busy_percent(self, index: int) -> int | None:
        """Share of the last sample period (1/6 to 1 s) in which a kernel ran on the card."""
        handle = self._handle(index)
        if handle is None:
            return None
        return self._guard(lambda: int(self._library.nvmlDeviceGetUtilizationRates(handle).gpu))

    def close(self) -> None:
        """Let the library go."""
        self._guard(self._library.nvmlShutdown)

    def _card(self, index: int) -> NvmlCard | None:
        handle = self._handle(index)
        name = self._guard(lambda: self._library.nvmlDeviceGetName(handle))
        if handle is None or name is None:
            return None
        total = self._guard(lambda: int(self._library.nvmlDeviceGetMemoryInfo(handle).total))
        bus_id = self._guard(lambda: _text(self._library.nvmlDeviceGetPciInfo(handle).busId))
        driver = self._guard(lambda: _text(self._library.nvmlSystemGetDriverVersion()))
        return NvmlCard(index, _text(name), card_bytes(total), bus_id, driver)

    def _whole(self, function: str, index: int) -> int | None:
        handle = self._handle(index)
        if handle is None:
            return None
        return self._guard(lambda: whole(int(getattr(self._library, function)(handle))))

    def _handle(self, index: int) -> object | None:
        if index not in self._handles:
            found = self._guard(lambda: self._library.nvmlDeviceGetHandleByIndex(index))
            if found is None:
                return None
            self._handles[index] = found
        return self._handles[index]

    def _guard(self, call: Callable[[], T]) -> T | None:
        try:
            return call()
        # AttributeError: an old binding without the function
        except (self._library.NVMLError, AttributeError, OSError, ValueError):
            return None


def open_nvml(library: ModuleType | None = None) -> Nvml | None:
    """Load and start NVML; None without an NVIDIA driver. May block on a stuck driver."""
    chosen = library if library is not None else _load()
    if chosen is None:
        return None
    try:
        chosen.nvmlInit()
    except (chosen.NVMLError, OSError):
        return None
    return Nvml(chosen)


def _load() -> ModuleType | None:
    try:
        return importlib.import_module("pynvml")
    except ImportError:
        return None


def read_cards(library: ModuleType | None = None) -> Iterator[NvmlCard]:
    """Each card as soon as it is read, NVML opened and closed around them."""
    nvml = open_nvml(library)
    if nvml is None:
        return
    try:
        yield from nvml.each_card()
    finally:
        nvml.close()


def _text(value: object) -> str:
    # older bindings give bytes
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return line(text) or ""
