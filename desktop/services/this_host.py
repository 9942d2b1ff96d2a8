"""This machine's processor and the system's memory, as the estimates see them."""

import re
from typing import Final

from desktop.records.estimate import Configuration
from desktop.records.machine import Accelerator, Machine, MemoryModules
from desktop.services import estimate_tables

_BITS_A_BYTE: Final = 8
_DIMM_BITS: Final = 64
"""Of one channel with DIMMs or SO-DIMMs (JEDEC); one with LPDDR has 16 or 32, as it is built."""
_DIMMS: Final = re.compile(r"DDR\d?")
"""Kinds of memory that come as such modules; LPDDR and HBM do not."""
_SERVER_BITS: Final = 256
"""Four channels of DIMMs."""
_SERVERS: Final = re.compile(
    # the exceptions have a desktop's socket and its two channels
    r"\bEPYC\b(?! 4\d{3})|\bThreadripper\b|\bNeoverse\b"
    r"|\bXeon\b(?!.*(?:\bE3\b|\b[EW]-[12]\d{3}|\bD-1\d{3}|\b63\d\dP\b))",
    re.IGNORECASE,
)
_SMALL: Final = frozenset({"aarch64", "armv7l"})


def host_of(machine: Machine) -> Configuration:
    """The processor with the system's memory.

    The bandwidth is that of the modules, where the firmware tells how many data lines they have;
    of DIMMs it is enough to know the channels. Of other memory it is the catalogue's for the chip
    that the memory is soldered to; where that has no row, it is not known.
    """
    modules = machine.modules
    bits = _bus_bits(modules) if modules else None
    # how much there is, is a question of the room: of this row only classes and rates are asked
    ram = machine.ram_bytes or 0
    return Configuration(
        id="this",
        name=machine.cpu.name or "this machine's processor",
        vendor="any",
        device_class=_class(machine, bits),
        memory_bytes=ram,
        usable_bytes=ram,
        bandwidth_bytes_s=_of_modules(modules, bits) or _of_chip(machine),
        fp16_flops=None,
        bf16=bool({"avx512_bf16", "amx_bf16", "bf16"} & set(machine.cpu.instruction_sets)),
        shared_memory=True,
    )


def _bus_bits(modules: MemoryModules) -> int | None:
    """Data lines of all channels; None where they would have to be guessed."""
    if modules.bus_bits or modules.channels is None or not _are_dimms(modules):
        return modules.bus_bits
    return modules.channels * _DIMM_BITS


def _are_dimms(modules: MemoryModules) -> bool:
    return modules.kind is not None and _DIMMS.fullmatch(modules.kind) is not None


def _of_modules(modules: MemoryModules | None, bits: int | None) -> float | None:
    """Bytes a second. A hypervisor's modules, which are of no kind, have no speed either."""
    if modules is None or modules.kind is None or not modules.speed_mt_s or bits is None:
        return None
    return modules.speed_mt_s * 1e6 * bits / _BITS_A_BYTE


def _of_chip(machine: Machine) -> float | None:
    """Bytes a second by the row of the processor, or of the graphics unit that is part of it.

    Rows of chips that take modules state those in their names, and are found by no chip's name.
    """
    chip = Accelerator("", machine.cpu.name or "", None, integrated=True)
    for card in (*(card for card in machine.accelerators if card.integrated), chip):
        row = estimate_tables.device_row(card)
        # a processor with sockets has as many channels as its owner has filled
        if row is not None and not row.configurations[0].device_class.startswith("cpu-"):
            return row.device.bandwidth_bytes_s
    return None


def _class(machine: Machine, bits: int | None) -> str:
    """By the data lines of DIMMs where they are known, else by what the processor is sold as."""
    modules = machine.modules
    if bits is not None and modules is not None and _are_dimms(modules):
        server = bits >= _SERVER_BITS
    else:
        server = _SERVERS.search(machine.cpu.name or "") is not None
    if server:
        return "cpu-server"
    return "cpu-arm" if machine.architecture in _SMALL else "cpu-desktop"
