"""The machine's own benchmark: its parts, measured through the engine's own library."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from desktop.records.machine import Conditions, Device, Machine
from desktop.records.request import Signing
from desktop.records.run import Note

PARTS_VERSION = 1
"""The method's version: signed with every statement."""
MAX_PART_REPETITIONS = 1_000


class PartTest(StrEnum):
    """What is measured of a device."""

    MATMUL_F16 = "matmul_f16"
    """A large product of F16 weights with F32 columns: floating point operations a second."""
    MATVEC_F16 = "matvec_f16"
    """Matrix-vector products over many times the last-level cache: what a decode step reads."""
    MATVEC_Q8_0 = "matvec_q8_0"
    MATVEC_Q6_K = "matvec_q6_k"
    MATVEC_Q4_K = "matvec_q4_k"
    MATVEC_Q4_0 = "matvec_q4_0"
    COPY = "copy"
    """A copy of F32 values: bytes read and written a second."""
    SMALL_GRAPH = "small_graph"
    """One graph that computes next to nothing: the fixed cost of a graph, seconds."""


class Skipped(StrEnum):
    """Why a test of a device has no figure."""

    UNSUPPORTED = "unsupported"
    """The device's backend cannot do it."""
    MEMORY = "memory"
    """It does not fit into the memory that is free."""
    TIME = "time"
    """No time was left, or too little for a set that caches do not hold."""
    FAILED = "failed"
    """The backend reported an error."""
    WRONG = "wrong"
    """The device computed something else than what was asked."""
    CRASHED = "crashed"
    """The measuring process ended, or fell silent, in this test or in an earlier one of the same
    device; or it ended again before the device's turn came."""


@dataclass(frozen=True, slots=True)
class PartSkip:
    """A test of a device that gave no figure."""

    device: str
    test: PartTest
    threads: int | None
    why: Skipped


@dataclass(frozen=True, slots=True)
class Part:
    """One test of one device, with every timed repetition."""

    device: str
    """The engine's name of it, `CPU`, `CUDA0`."""
    test: PartTest
    threads: int | None
    """On the processor; None on cards."""
    work: int
    """Of one repetition, which may compute its graph several times: operations (2 x M x N x K),
    bytes, or graphs."""
    durations_ns: tuple[int, ...]
    """Of each timed repetition, in order."""
    shape: tuple[int, ...] = ()
    """(M, N, K, number of matrices), or (number of values,)."""


@dataclass(frozen=True, slots=True)
class PartRate:
    """A part in short."""

    device: str
    test: PartTest
    threads: int | None
    median: float
    """FLOP/s, bytes/s; for `SMALL_GRAPH` seconds."""
    spread: float | None
    """95 % half-width of the median ÷ the median; None below six repetitions."""
    repetitions: int
    pass_bytes: int | None = None
    """Memory that one pass goes over; None for products and graphs, which are not held to it."""
    marks: tuple[Note, ...] = ()
    """Why the figure should be read with care: `SPREAD`, `FEW`, `CACHED`."""


@dataclass(frozen=True, slots=True)
class PartsPlan:
    """How parts are measured; data, so that it can be signed."""

    threads: int = 1
    """All that a run would use; the processor is measured with 1 and with these."""
    min_repetitions: int = 6
    max_repetitions: int = 120
    target_spread: float = 0.025
    time_limit_s: float = 50.0
    """Of everything together; what is left is shared out among the tests that are left."""
    last_level_cache_bytes: int | None = None
    """Of the processor, all together; None where the system does not tell. What it does not hold
    decides how much the tests of memory go over at least."""


@dataclass(frozen=True, slots=True)
class Parts:
    """One machine's parts."""

    machine: Machine
    engine: str
    """`llama.cpp`."""
    engine_version: str
    devices: tuple[Device, ...]
    plan: PartsPlan
    parts: tuple[Part, ...]
    before: Conditions
    after: Conditions
    started_at: str
    """RFC 3339, UTC."""
    skipped: tuple[PartSkip, ...] = ()


@dataclass(frozen=True, slots=True)
class PartsOfDevice:
    """What kept parts say of one device, in short."""

    device: str
    """The engine's name of it."""
    description: str | None
    threads: int | None
    """The most that it was measured with: of these are the rates. None on cards."""
    product: PartRate | None
    """The large product of F16 weights, which reading a prompt is made of: FLOP/s."""
    matrix_vector: PartRate | None
    """Matrix-vector products of F16 weights, which generating is made of: bytes/s."""


@dataclass(frozen=True, slots=True)
class PartsRow:
    """Kept parts as the doors list them."""

    id: str
    key_id: str
    at: str
    """RFC 3339, UTC."""
    engine: str
    devices: tuple[PartsOfDevice, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class PartsRequest:
    """One press of the button."""

    signing: Signing = Signing.KEYCHAIN
    key_file: Path | None = None
    threads: int | None = None
    """None: as a run takes, the number of physical cores."""
    wait: bool = False
    """Wait while another measurement runs instead of failing with `busy`."""
    time_limit_s: float | None = None
    """Of everything together; None: as the plan has it."""
