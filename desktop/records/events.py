"""What a running measurement tells. Posted by services, shown by the doors."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from desktop.errors import Reason
from desktop.records.build import Build
from desktop.records.cost import Costs
from desktop.records.energy import MeterFacts, PowerSample
from desktop.records.fits import Fits
from desktop.records.machine import Conditions, Device, Machine
from desktop.records.parts import PartRate, Parts, PartSkip, PartTest
from desktop.records.rehearsal import Rehearsal
from desktop.records.request import ResultRow
from desktop.records.run import Note, Rate, Repetition, Run


class Phase(StrEnum):
    """Where a run is now."""

    PREPARING = "preparing"
    LOADING = "loading"
    WARMUP = "warmup"
    MEASURING = "measuring"
    SIGNING = "signing"


@dataclass(frozen=True, slots=True)
class Progress:
    """A step of a run."""

    phase: Phase
    test: str | None
    fraction: float
    """Of the whole run, 0 to 1."""
    time_left_s: float | None
    part: "PartStep | None" = None
    """Of the machine's parts, while one is measured."""


@dataclass(frozen=True, slots=True)
class PartStep:
    """Which of the parts is measured now."""

    device: str
    """The engine's name of it."""
    test: PartTest
    threads: int | None
    """Of the processor; None of cards."""
    number: int
    """Counted from 1."""
    planned: int
    """Tests of all devices together."""


@dataclass(frozen=True, slots=True)
class Devices:
    """The engine's own device list, and its version."""

    engine: str
    version: str
    devices: tuple[Device, ...]
    backends: tuple[str, ...] = ()
    """All that it was built with, also those that found no device: `CUDA`, `CPU`."""


@dataclass(frozen=True, slots=True)
class BuildKnown:
    """The build of this run was found and read."""

    build: Build


@dataclass(frozen=True, slots=True)
class Steps:
    """Decode steps that ended since the last message of this kind."""

    test: str
    warmup: bool
    end_ns: tuple[int, ...]
    """Monotonic times: the end of the step before the first one, then the end of each step."""
    tokens_per_step: int


@dataclass(frozen=True, slots=True)
class RepetitionDone:
    """One repetition ended; `rate` sums up the timed ones of its test so far."""

    repetition: Repetition
    rate: Rate | None


@dataclass(frozen=True, slots=True)
class Power:
    """A new power sample."""

    sample: PowerSample
    meter: MeterFacts
    good_ns: int
    """So long after its moment it is what is drawn now: a meter that works is told again within."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the person should know while it goes on (a key file is used, and where)."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run is kept. `statement_id` and `key_id` are None when it was not signed."""

    run: Run
    statement_id: str | None
    key_id: str | None


@dataclass(frozen=True, slots=True)
class RunFailed:
    """The run ended without a result."""

    reason: Reason
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class MachineKnown:
    """Detection is done."""

    machine: Machine
    kind: str
    """The kind-of-machine label."""
    meter: MeterFacts
    engine: Devices | None = None
    """The engine and its own device list; None when it could not be loaded."""
    conditions: Conditions | None = None
    """Power supply, plan, heat, display: as they are now."""
    given_up: tuple[Reason, ...] = ()
    """The sources that failed or did not answer in time."""
    engine_awaited: bool = False
    """The engine is still being asked: its list follows."""


@dataclass(frozen=True, slots=True)
class CostsKnown:
    """Price and carbon of the run that finished last, by the settings of now."""

    costs: Costs


@dataclass(frozen=True, slots=True)
class ResultsKnown:
    """The ledger was read, newest first."""

    rows: tuple[ResultRow, ...]


@dataclass(frozen=True, slots=True)
class PartDone:
    """One part of the machine is measured."""

    rate: PartRate
    fraction: float
    """Of the whole, 0 to 1."""


@dataclass(frozen=True, slots=True)
class PartMissed:
    """One test of a device ended without a figure."""

    skip: PartSkip
    fraction: float
    """Of the whole, 0 to 1."""


@dataclass(frozen=True, slots=True)
class PartsFinished:
    """The machine's parts are kept. `statement_id` and `key_id` are None when not signed.

    The devices, and the tests without a figure, are those of `parts`.
    """

    parts: Parts
    rates: tuple[PartRate, ...]
    statement_id: str | None
    key_id: str | None


@dataclass(frozen=True, slots=True)
class RehearsalFinished:
    """A build that is not here was rehearsed. Nothing is kept: it is no result."""

    rehearsal: Rehearsal


@dataclass(frozen=True, slots=True)
class PartsKnown:
    """The newest parts of this machine that the ledger holds; no rates where it holds none."""

    rates: tuple[PartRate, ...] = ()
    at: str | None = None
    """RFC 3339, UTC."""
    key_id: str | None = None
    skipped: tuple[PartSkip, ...] = ()
    """The tests that gave no figure."""
    devices: tuple[Device, ...] = ()
    """The engine's list of then, for the devices' descriptions and kinds."""
    notes: tuple[Note, ...] = ()
    """Why to read them with care."""


@dataclass(frozen=True, slots=True)
class FitsKnown:
    """What fits on this machine was worked out."""

    fits: Fits


@dataclass(frozen=True, slots=True)
class CallFailed:
    """A slow call (detection, the ledger) failed."""

    reason: Reason


RunEvent: TypeAlias = (
    Progress
    | Devices
    | BuildKnown
    | Steps
    | RepetitionDone
    | Power
    | Notice
    | PartDone
    | PartMissed
    | PartsFinished
    | RehearsalFinished
    | RunFinished
    | RunFailed
)
AppEvent: TypeAlias = RunEvent | MachineKnown | PartsKnown | CostsKnown | ResultsKnown | CallFailed
