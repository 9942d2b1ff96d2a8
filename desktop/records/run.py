"""A run: its plan, its raw values, and what follows from them."""

from dataclasses import dataclass
from enum import StrEnum

from desktop.records.build import Build
from desktop.records.energy import Energy
from desktop.records.machine import Conditions, Device, Machine

PROTOCOL_VERSION = 1
"""The measurement method's version: signed with every run."""
MAX_TEST_TOKENS = 131_072


@dataclass(frozen=True, slots=True)
class SpeedTest:
    """One test as llama-bench names them: `pp512` is a prompt of 512, `tg128` 128 tokens."""

    n_prompt: int
    n_gen: int

    @property
    def name(self) -> str:
        """llama-bench's name."""
        return f"pp{self.n_prompt}" if self.n_prompt else f"tg{self.n_gen}"

    @property
    def n_tokens(self) -> int:
        """Tokens processed in one repetition; also the context's size."""
        return self.n_prompt + self.n_gen

    @classmethod
    def named(cls, name: str) -> "SpeedTest":
        """The test of llama-bench's name.

        Raises:
            ValueError: the name is not `pp` or `tg` and a number from 1 to 131,072.
        """
        kind, count = name[:2], int(name[2:])
        if kind not in {"pp", "tg"} or not 1 <= count <= MAX_TEST_TOKENS:
            raise ValueError(name)
        return cls(count, 0) if kind == "pp" else cls(0, count)


PP512 = SpeedTest(512, 0)
TG128 = SpeedTest(0, 128)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure and how; data, so that it can be signed."""

    tests: tuple[SpeedTest, ...] = (PP512, TG128)
    threads: int = 1
    n_batch: int = 2048
    n_ubatch: int = 512
    gpu_layers: int = -1
    """Layers on the card; -1 is all."""
    devices: tuple[str, ...] = ()
    """The cards to use, by the engine's names (`CUDA0`); empty leaves the choice to the engine."""
    poll: int = 50
    warmups: int = 1
    min_repetitions: int = 6
    """Six is the smallest number for which a 95 % interval of the median exists."""
    max_repetitions: int = 30
    target_spread: float = 0.025
    time_limit_s: float = 45.0
    """Per test; a test stops at the end of the repetition that passes it."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """The raw values of one repetition. Warm-ups are kept too."""

    test: str
    warmup: bool
    start_ns: int
    end_ns: int
    n_tokens: int
    step_ns: tuple[int, ...] = ()
    """Duration of each decode step, in order."""

    @property
    def rate_tok_s(self) -> float:
        """Tokens per second over the whole repetition."""
        return self.n_tokens * 1e9 / (self.end_ns - self.start_ns)


@dataclass(frozen=True, slots=True)
class Rate:
    """The repetitions of one test in short. The median comes first."""

    test: str
    median_tok_s: float
    spread: float | None
    """95 % half-width of the median ÷ the median; None below six repetitions."""
    peak_tok_s: float
    repetitions: int


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """What ran the build."""

    name: str
    version: str
    backend: str
    """The backend whose devices held the layers, as loaded, not as asked for."""
    devices: tuple[Device, ...]
    """Those that held weights, of all that the engine lists."""
    threads: int
    flash_attention: str | None
    """`enabled` or `disabled`, as the engine decided; None when it did not say."""
    gpu_layers: int


@dataclass(frozen=True, slots=True)
class MemoryHeld:
    """The most that was held during the run. None where it could not be read."""

    weights_bytes: int | None
    kv_cache_bytes: int | None
    compute_bytes: int | None
    process_peak_bytes: int | None
    """Peak resident memory of the worker process, everything included."""


class Note(StrEnum):
    """What a run says of itself; travels with the result."""

    SPREAD = "spread_not_reached"
    FEW = "too_few_repetitions"
    CACHED = "caches_may_have_helped"
    """Of a part: its rate of memory may be one of caches."""
    ON_BATTERY = "on_battery"
    OTHER_LOAD = "other_load"
    SYNTHETIC = "synthetic_build"
    CPU_INSTEAD = "ran_on_cpu_only"
    SOFTWARE_DEVICE = "software_device"
    MODELLED_ENERGY = "energy_modelled"
    CARDS_UNKNOWN = "cards_unknown"


@dataclass(frozen=True, slots=True)
class Run:
    """One build measured on one machine."""

    build: Build
    machine: Machine
    engine: EngineFacts
    plan: Plan
    repetitions: tuple[Repetition, ...]
    rates: tuple[Rate, ...]
    memory: MemoryHeld
    energy: tuple[tuple[str, Energy], ...]
    """By test name: the energy of its timed repetitions together."""
    before: Conditions
    after: Conditions
    started_at: str
    """RFC 3339, UTC."""
    notes: tuple[Note, ...] = ()

    def rate(self, test: str) -> Rate | None:
        """The rate of the test of that name."""
        return next((r for r in self.rates if r.test == test), None)
