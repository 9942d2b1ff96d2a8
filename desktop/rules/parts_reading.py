"""A signed body back into a machine's parts. Unknown fields are ignored; missing is None."""

from collections.abc import Mapping
from typing import Final

from desktop.records.machine import Device
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
    RFC3339_UTC,
    conditions_from,
    device_from,
    machine_from,
)
from desktop.rules.parts_rates import work_of

# No honest part comes near these; within them no product overflows a float.
MAX_PARTS: Final = 1_024
MAX_WORK: Final = 10**18
MAX_THREADS: Final = 65_536
MAX_SIDE: Final = 2**40
"""Of a shape."""
_SIDES: Final = 4


def parts_from_body(body: Mapping[str, object]) -> Parts:
    """The parts that a verified body tells of; rates follow from them (`parts_rates.rates_of`).

    What is never signed is empty; memory of devices is in whole GiB.

    Raises:
        StatementError: `bad_envelope`, naming the field that does not hold.
    """
    fields = Fields(body)
    engine = fields.inner("engine")
    devices = tuple(device_from(d) for d in engine.items("devices"))
    return Parts(
        machine=machine_from(fields.inner("machine")),
        engine=engine.text("name"),
        engine_version=engine.text("version"),
        devices=devices,
        plan=_plan(fields.inner("plan")),
        parts=_parts(fields, devices),
        before=conditions_from(fields.inner("before")),
        after=conditions_from(fields.inner("after")),
        started_at=fields.matching("started_at", RFC3339_UTC, "a time in UTC"),
        skipped=tuple(_skip(s) for s in fields.items("skipped", MAX_PARTS)),
    )


def _plan(plan: Fields) -> PartsPlan:
    return PartsPlan(
        threads=plan.integer("threads", 1, MAX_THREADS),
        min_repetitions=plan.integer("min_repetitions"),
        max_repetitions=plan.integer("max_repetitions"),
        target_spread=plan.number("target_spread"),
        time_limit_s=plan.number("time_limit_s"),
    )


def _parts(fields: Fields, devices: tuple[Device, ...]) -> tuple[Part, ...]:
    """Of listed devices only, and each once."""
    names = {device.name for device in devices}
    seen = set()
    found = []
    for item in fields.items("parts", MAX_PARTS):
        part = _part(item)
        key = (part.device, part.test, part.threads)
        if part.device not in names or key in seen:
            raise item.bad("device", "is not in the engine's list, or its test is there twice")
        seen.add(key)
        found.append(part)
    if not found:
        raise fields.bad("parts", "is empty")
    return tuple(found)


def _part(part: Fields) -> Part:
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
    one_pass = work_of(found.test, found.shape)
    if not one_pass or found.work % one_pass:
        raise part.bad("work", "does not fit the shape")
    return found


def _skip(skip: Fields) -> PartSkip:
    return PartSkip(
        device=skip.text("device"),
        test=skip.member("test", PartTest),
        threads=skip.integer_or_none("threads", 1, MAX_THREADS),
        why=skip.member("why", Skipped),
    )
