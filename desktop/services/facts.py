"""What this machine is, its kind, what can read its power, and what the engine finds."""

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from desktop.bench.process import WorkerProcess
from desktop.bench.protocol import Job
from desktop.errors import BenchError, GramError, Reason
from desktop.machine.conditions import ConditionsSurvey, survey_conditions
from desktop.machine.detect import Survey, survey
from desktop.machine.merge import with_engine
from desktop.own_files import never_a_pipe
from desktop.paths import Paths
from desktop.power.choose import choose_meter
from desktop.records.energy import MeterFacts
from desktop.records.events import Devices
from desktop.records.machine import Conditions, Device, Machine
from desktop.records.run import Plan
from desktop.rules.kind import kind_label
from desktop.rules.memory_answers import MemoryAnswers, memory_answers

log = logging.getLogger(__name__)
ENGINE_S = 20.0
"""How long the engine may take to list its devices; a card's driver may need seconds."""


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """The machine, its kind of machine, the best meter that reads here, and the engine's list."""

    machine: Machine
    kind: str
    meter: MeterFacts
    engine: Devices | None
    conditions: Conditions
    answers: MemoryAnswers
    given_up: tuple[Reason, ...]
    """The sources that failed or did not answer in time."""


def machine_facts(
    paths: Paths, so_far: Callable[[MachineFacts], None] | None = None
) -> MachineFacts:
    """Detect; takes seconds, so never on the UI thread. Without an engine, `engine` is None.

    Args:
        paths: for the worker's log.
        so_far: is told what is known before the engine is asked, which a card's driver can make
            long.
    """
    found = survey()
    state = survey_conditions(virtual=found.machine.may_be_virtual)
    early = _Found(found.machine, None, state.conditions, _given_up(found, state))
    if so_far is not None:
        so_far(_facts(early))
    try:
        engine = engine_devices(paths)
    except BenchError as e:
        log.warning("the engine tells nothing: %s", e)
        given_up = (*early.given_up, Reason("engine_silent"), e.reason)
        return _facts(early._replace(given_up=given_up))
    if found.machine.unknown:
        # a card that slept is awake now: the engine has looked at it
        found = survey()
    machine = with_engine(found.machine, engine.devices)
    return _facts(_Found(machine, engine, state.conditions, _given_up(found, state)))


def _given_up(found: Survey, state: ConditionsSurvey) -> tuple[Reason, ...]:
    """A tool that both asked is named once."""
    return (*found.failures, *(r for r in state.failures if r not in found.failures))


class _Found(NamedTuple):
    """What the rest of the facts follows from."""

    machine: Machine
    engine: Devices | None
    conditions: Conditions
    given_up: tuple[Reason, ...]


def _facts(found: _Found) -> MachineFacts:
    machine, engine = found.machine, found.engine
    return MachineFacts(
        machine,
        kind_label(machine),
        _meter(machine, engine.devices if engine else ()),
        engine,
        found.conditions,
        memory_answers(machine),
        found.given_up,
    )


def _meter(machine: Machine, devices: tuple[Device, ...]) -> MeterFacts:
    meter = choose_meter(machine, devices)
    try:
        return meter.facts
    finally:
        meter.close()


def engine_devices(paths: Paths, made: Callable[[WorkerProcess], None] = lambda _: None) -> Devices:
    """The engine's version and device list, asked of a worker process.

    Args:
        paths: for the worker's log.
        made: is handed the worker before it starts, so that a Stop can reach it.

    Raises:
        BenchError: the engine is missing, crashes or does not answer; `cancelled`.
    """
    asked = WorkerProcess(Job("", Plan()), _log_file(paths), silence_s=ENGINE_S)
    made(asked)
    with asked as worker:
        for message in worker.messages():
            if isinstance(message, Devices):
                return message
    raise BenchError("worker_crashed", outcome="no device list")


def _log_file(paths: Paths) -> Path:
    """The engine's words go nowhere where nothing may be written: looking needs no room."""
    try:
        file = paths.ensure().worker_log.with_suffix(".devices.log")
        # folders that are there already say nothing of whether a file may be
        open(file, "ab", opener=never_a_pipe).close()
    except (GramError, OSError):
        return Path(os.devnull)
    return file
