"""Which tests each device of the engine's list gets: the worker's order and the app's list.

Apart from what computes: the app needs it to know what a lost worker left out, and no numpy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from desktop.records.machine import Device, DeviceKind
from desktop.records.parts import PartsPlan, PartTest

ONE_THREAD: Final = (PartTest.MATMUL_F16, PartTest.MATVEC_F16, PartTest.COPY)
ALL_TESTS: Final = (
    PartTest.SMALL_GRAPH,
    *(test for test in PartTest if test is not PartTest.SMALL_GRAPH),
)
"""The small graph first: it is over in a moment, and what is slow comes after it."""


@dataclass(frozen=True, slots=True)
class Task:
    """One test of one device."""

    device: Device
    threads: int | None
    test: PartTest


def tasks_of(devices: Sequence[Device], plan: PartsPlan) -> tuple[tuple[Task, ...], ...]:
    """The tests of each device, one group for each number of threads.

    Accelerators in ggml's sense (BLAS, AMX) are left out: they are no devices of their own, they
    take single operations off the processor.
    """
    groups: list[tuple[Task, ...]] = []
    for device in devices:
        if device.kind is DeviceKind.CPU:
            if plan.threads > 1:
                groups.append(tuple(Task(device, 1, test) for test in ONE_THREAD))
            groups.append(tuple(Task(device, plan.threads, test) for test in ALL_TESTS))
        elif device.kind is not DeviceKind.ACCELERATOR:
            groups.append(tuple(Task(device, None, test) for test in ALL_TESTS))
    return tuple(groups)
