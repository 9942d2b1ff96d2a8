"""A signed body back into a machine's parts. Unknown fields are ignored; missing is None."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from desktop.records.machine import Device, DeviceKind
from desktop.records.parts import (
    MAX_PART_REPETITIONS,
    Part,
    Parts,
    PartSkip,
    PartsPlan,
    PartTest,
    Skipped,
)
from desktop.rules.fields import Fields
from desktop.rules.machine_reading import (
    MAX_NS,
    conditions_from,
    device_from,
    machine_from,
)
from desktop.rules.parts_rates import work_of

# No honest part comes near these; within them no product overflows a float.
MAX_PARTS: Final = 1_024
MAX_WORK: Final = 10**18
MAX_THREADS: Final = 65_536
MAX_CACHE_BYTES: Final = 2**40
MAX_SIDE: Final = 2**40
"""Of a shape."""
_SIDES: Final = 4
_MOST_BYTES_S: Final = 10**14
"""Ten times what a card's memory gives."""
_MOST_PER_S: Final = {PartTest.MATMUL_F16: 10**17, PartTest.SMALL_GRAPH: 10**9}
"""Operations, and graphs: no hardware comes near these."""
_S_NS: Final = 10**9
_Key: TypeAlias = tuple[str, PartTest, int | None]


def parts_from_body(body: Mapping[str, object]) -> Parts:
    """The parts that a verified body tells of; rates follow from them (`parts_rates.rates_of`).

    What is never signed is empty; memory of devices is in whole GiB.

    Raises:
        StatementError: `bad_envelope`, naming the field that does not hold.
    """
    fields = Fields(body)
    # of the method: none so far changes how a body is read
    fields.integer("protocol", 1)
    engine = fields.inner("engine")
    devices = _devices(engine)
    plan = _plan(fields.inner("plan"))
    ends = _Ends(devices, plan)
    return Parts(
        machine=machine_from(fields.inner("machine")),
        engine=engine.text("name"),
        engine_version=engine.text("version"),
        devices=devices,
        plan=plan,
        parts=_parts(fields, ends),
        before=conditions_from(fields.inner("before")),
        after=conditions_from(fields.inner("after")),
        started_at=fields.time("started_at"),
        skipped=tuple(_skip(s, ends) for s in fields.items("skipped", MAX_PARTS)),
    )


class _Ends:
    """How each test of each device ended: once, in a figure or in a reason why there is none."""

    def __init__(self, devices: tuple[Device, ...], plan: PartsPlan) -> None:
        self.most_repetitions = plan.max_repetitions
        self._threads = {None, 1, plan.threads}
        self._kinds = {device.name: device.kind for device in devices}
        self._seen: set[_Key] = set()

    def add(self, at: Fields, key: _Key) -> None:
        """One more; raises StatementError when it cannot be."""
        device, _, threads = key
        if device not in self._kinds:
            raise at.bad("device", "is not in the engine's list")
        if (threads is not None) != (self._kinds[device] is DeviceKind.CPU):
            raise at.bad("threads", "are a processor's, and a processor's only")
        if threads not in self._threads:
            raise at.bad("threads", "is neither 1 nor the plan's")
        if key in self._seen:
            raise at.bad("test", "is there twice for the device")
        self._seen.add(key)


def _devices(engine: Fields) -> tuple[Device, ...]:
    """The engine's list; a name stands for one device."""
    devices = tuple(device_from(d) for d in engine.items("devices"))
    if len({device.name for device in devices}) != len(devices):
        raise engine.bad("devices", "has a name twice")
    return devices


def _plan(plan: Fields) -> PartsPlan:
    found = PartsPlan(
        threads=plan.integer("threads", 1, MAX_THREADS),
        min_repetitions=plan.integer("min_repetitions"),
        max_repetitions=plan.integer("max_repetitions"),
        target_spread=plan.number("target_spread"),
        time_limit_s=plan.number("time_limit_s"),
        last_level_cache_bytes=plan.integer_or_none("last_level_cache_bytes", 1, MAX_CACHE_BYTES),
    )
    if found.min_repetitions > found.max_repetitions:
        raise plan.bad("min_repetitions", "is more than max_repetitions")
    return found


def _parts(fields: Fields, ends: _Ends) -> tuple[Part, ...]:
    """Of listed devices only, and each once."""
    found = tuple(_part(item, ends) for item in fields.items("parts", MAX_PARTS))
    if not found:
        raise fields.bad("parts", "is empty")
    return found


def _part(part: Fields, ends: _Ends) -> Part:
    found = Part(
        device=part.text("device"),
        test=part.member("test", PartTest),
        threads=part.integer_or_none("threads", 1, MAX_THREADS),
        work=part.integer("work", 1, MAX_WORK),
        durations_ns=part.integers("durations_ns", MAX_NS, MAX_PART_REPETITIONS),
        shape=part.integers("shape", MAX_SIDE, _SIDES),
    )
    if not found.durations_ns or not all(found.durations_ns):
        raise part.bad("durations_ns", "is empty, or something took no time")
    if len(found.durations_ns) > ends.most_repetitions:
        raise part.bad("durations_ns", "are more than the plan allows")
    one_pass = work_of(found.test, found.shape)
    if not one_pass or found.work % one_pass:
        raise part.bad("work", "does not fit the shape")
    most_per_s = _MOST_PER_S.get(found.test, _MOST_BYTES_S)
    if found.work * _S_NS > most_per_s * min(found.durations_ns):
        raise part.bad("durations_ns", "are shorter than any hardware's")
    ends.add(part, (found.device, found.test, found.threads))
    return found


def _skip(skip: Fields, ends: _Ends) -> PartSkip:
    found = PartSkip(
        device=skip.text("device"),
        test=skip.member("test", PartTest),
        threads=skip.integer_or_none("threads", 1, MAX_THREADS),
        why=skip.member("why", Skipped),
    )
    ends.add(skip, (found.device, found.test, found.threads))
    return found
