"""Which of this machine's own runs speak for it as it is now.

A run narrows estimates only where all that decides a speed was as it is now: the engine and its
version, the back end, the devices, the threads, what feeds the machine. Others are left out, and it
is told how many and why: they do not mix in silently.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from desktop.errors import Reason
from desktop.estimate.calibration import DeviceRates, Work, prompt_terms, token_terms
from desktop.estimate.residuals import Seen, Terms
from desktop.records.machine import PowerSupply, Thermal
from desktop.records.run import PP512, TG128, Run, SpeedTest
from desktop.rules.kind import kind_label

MAX_OTHER_LOAD_PERCENT: Final = 15.0
"""Of all cores: beside more, a run says more about the other programs."""
MAX_BUILDS: Final = 48
"""The newest runs that count; more would only take time."""
PROMPT: Final = PP512.n_tokens
_HALF_WIDTHS: Final = 1.96
"""Standard deviations in the half-width of a 95 % interval."""


class LeftOut(StrEnum):
    """Why a run does not count."""

    MACHINE = "machine"
    ENGINE = "engine"
    DEVICES = "devices"
    THREADS = "threads"
    LAYERS = "layers"
    SUPPLY = "supply"
    BUSY = "busy"
    HOT = "hot"
    UNKNOWN = "unknown"
    OLDER = "older"


WORDS: Final = {
    LeftOut.MACHINE: "on other hardware",
    LeftOut.ENGINE: "with another version of the engine",
    LeftOut.DEVICES: "on other devices",
    LeftOut.THREADS: "with another number of threads",
    LeftOut.LAYERS: "with some of the layers on the card",
    LeftOut.SUPPLY: "with another power supply (battery or mains)",
    LeftOut.BUSY: "beside busy programs",
    LeftOut.HOT: "while heat slowed the machine",
    LeftOut.UNKNOWN: "of builds whose tensors are not known",
    LeftOut.OLDER: "older than the newest that count",
}
"""In English, as errors are; the window translates them."""


@dataclass(frozen=True, slots=True)
class State:
    """The machine as a run would find it now."""

    kind: str
    """The kind of machine."""
    cpu: str | None
    engine: str
    engine_version: str
    devices: tuple[str, ...]
    """That would hold the layers, by the engine's names."""
    threads: int
    supply: PowerSupply | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What counts, for generation and for prompts, and what does not."""

    decode: tuple[Seen, ...] = ()
    prompt: tuple[Seen, ...] = ()
    left_out: tuple[tuple[LeftOut, int], ...] = ()

    @property
    def builds(self) -> int:
        """Of which generation was measured."""
        return len({seen.build for seen in self.decode})


WorkOf = Callable[[Run, SpeedTest], Sequence[Work] | None]
"""What a token of a run's test asked of the devices; None where the build's tensors are not known.
"""


def evidence_of(
    runs: Iterable[Run], state: State, rates: dict[str, DeviceRates], work_of: WorkOf
) -> Evidence:
    """Sort the runs, newest first, into what counts and what does not."""
    decode: list[Seen] = []
    prompt: list[Seen] = []
    left: Counter[LeftOut] = Counter()
    for run in runs:
        why = reason_against(run, state)
        if why is None and len(decode) >= MAX_BUILDS:
            why = LeftOut.OLDER
        if why is None:
            told = _seen(run, TG128, work_of, lambda works: token_terms(works, rates))
            why = LeftOut.UNKNOWN if told is None else None
            decode += [told] if told else []
            told = _seen(run, PP512, work_of, lambda works: prompt_terms(works, rates, PROMPT))
            prompt += [told] if told else []
        left.update([why] if why else [])
    return Evidence(tuple(decode), tuple(prompt), tuple(left.most_common()))


def reason_against(run: Run, state: State) -> LeftOut | None:
    """Why a run does not count; None where it does."""
    engine, before, after = run.engine, run.before, run.after
    other_load = after.other_load_percent or 0.0
    held = tuple(device.name for device in engine.devices)
    against = {
        LeftOut.MACHINE: (kind_label(run.machine), run.machine.cpu.name) != (state.kind, state.cpu),
        LeftOut.ENGINE: (engine.name, engine.version) != (state.engine, state.engine_version),
        LeftOut.LAYERS: engine.gpu_layers not in {-1, 0},
        LeftOut.DEVICES: _used(held, run) != set(state.devices),
        LeftOut.THREADS: engine.threads != state.threads,
        LeftOut.SUPPLY: (before.power_supply or PowerSupply.MAINS)
        != (state.supply or PowerSupply.MAINS),
        LeftOut.BUSY: other_load > MAX_OTHER_LOAD_PERCENT,
        LeftOut.HOT: Thermal.THROTTLED in {before.thermal, after.thermal},
    }
    return next((why for why, holds in against.items() if holds), None)


def left_out_reason(left_out: Sequence[tuple[LeftOut, int]]) -> Reason | None:
    """In one sentence, what does not count; None where all does."""
    if not left_out:
        return None
    why = ", ".join(f"{count} {WORDS[code]}" for code, count in left_out)
    return Reason("estimate_runs_left_out", {"why": why})


def _used(held: tuple[str, ...], run: Run) -> set[str]:
    """The devices that held layers: where all lay on the processor, that alone."""
    if run.engine.backend == "CPU":
        return {"CPU"}
    return set(held) - {"CPU"}


def _seen(
    run: Run, test: SpeedTest, work_of: WorkOf, terms_of: Callable[[Sequence[Work]], Terms | None]
) -> Seen | None:
    rate = run.rate(test.name)
    works = work_of(run, test) if rate is not None else None
    terms = terms_of(works) if works else None
    if rate is None or terms is None or rate.median_tok_s <= 0:
        return None
    spread = (rate.spread or 0.1) / _HALF_WIDTHS
    return Seen(run.build.sha256, terms, 1 / rate.median_tok_s, spread)
