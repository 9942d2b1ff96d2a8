"""Which of this machine's own runs speak for it as it is now.

A run narrows estimates only where all that decides a speed was as it is now: the hardware, the
engine and its version, the back end, the devices, the threads, what feeds the machine. Others are
left out, and it is told how many and why: they do not mix in silently. So is a run that is faster
than any memory or arithmetic that this machine may have.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from desktop.errors import Reason
from desktop.estimate.bounds import Memory, prompt_times_faster, times_faster, with_reached
from desktop.estimate.calibration import DeviceRates, Work, prompt_terms, token_terms
from desktop.estimate.machine_state import State, fed_by, is_same_card, is_same_machine
from desktop.estimate.residuals import Seen, Terms
from desktop.records.machine import Thermal
from desktop.records.run import PP512, TG128, Run, SpeedTest

MAX_OTHER_LOAD_PERCENT: Final = 15.0
"""Of all cores: beside more, a run says more about the other programs."""
MAX_BUILDS: Final = 48
"""The newest runs that count, of generation and of prompts each; more would only take time."""
PROMPT: Final = PP512.n_tokens
BEYOND: Final = 3.0
"""So many times faster than the memory, as far as it is known, is no rate of this machine. Parts of
a bad moment (saving power, heat, neighbours on the same host) are two to three times too low, and
so may the catalogue's figure be where cards of one name differ: up to there the bandwidth is what
is wrong, and a run raises it."""
BEYOND_ARITHMETIC: Final = 16.0
"""So many times the rate of large products of F16, as far as it is known, is no prompt's rate here.
Integer products of quantized weights are faster than those: up to four times on cards, about ten
where a processor has matrix units for integers alone; and parts may be of a bad moment."""
_HALF_WIDTHS: Final = 1.96
"""Standard deviations in the half-width of a 95 % interval."""

_UNTOLD_SPREAD: Final = 0.1
"""Of runs with so few repetitions that none is told, as a 95 % interval's half-width."""


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
    BEYOND = "beyond"
    UNKNOWN = "unknown"
    PARTS = "parts"
    TESTS = "tests"
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
    LeftOut.BEYOND: "faster than any memory or arithmetic that this machine may have",
    LeftOut.UNKNOWN: "of builds whose tensors are not known",
    LeftOut.PARTS: "for want of parts that count",
    LeftOut.TESTS: "of other tests than pp512 and tg128",
    LeftOut.OLDER: "older than the newest that count",
}
"""In English, as errors are; the window translates them."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What counts, for generation and for prompts, and what does not."""

    decode: tuple[Seen, ...] = ()
    prompt: tuple[Seen, ...] = ()
    left_out: tuple[tuple[LeftOut, int], ...] = ()
    memory: Mapping[str, Memory] = field(default_factory=dict)
    """The state's, no slower than what these runs took."""

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
    memory = state.memory
    for run in runs:
        why = reason_against(run, state, work_of)
        if why is None and _is_older(run, decode, prompt):
            why = LeftOut.OLDER
        if why is None:
            generated = _seen(run, TG128, work_of, lambda works: token_terms(works, rates))
            read = _seen(run, PP512, work_of, lambda works: prompt_terms(works, rates, PROMPT))
            decode += [generated] if generated and len(decode) < MAX_BUILDS else []
            prompt += [read] if read and len(prompt) < MAX_BUILDS else []
            why = None if generated or read else _why_nothing(run, work_of)
            memory = _reached(memory, run, work_of) if generated else memory
        left.update([why] if why else [])
    return Evidence(tuple(decode), tuple(prompt), tuple(left.most_common()), memory)


def _why_nothing(run: Run, work_of: WorkOf) -> LeftOut:
    """Why nothing follows from a run that nothing speaks against.

    Where it is known what was read, no parts say how long that should take: a run narrows what
    follows from parts, and alone says nothing of other builds.
    """
    known = any(asked_by(run, test, work_of) for test in (TG128, PP512))
    return LeftOut.PARTS if known else LeftOut.UNKNOWN


def _is_older(run: Run, decode: Sequence[Seen], prompt: Sequence[Seen]) -> bool:
    """Whether of each test that a run has there are newer ones enough."""
    kept = ((TG128, decode), (PP512, prompt))
    return all(len(newer) >= MAX_BUILDS for test, newer in kept if run.rate(test.name))


def reason_against(run: Run, state: State, work_of: WorkOf | None = None) -> LeftOut | None:
    """Why a run does not count; None where it does.

    Args:
        run: of the ledger.
        state: of the machine now.
        work_of: to compare the rates with memory and arithmetic; None: that is not asked.
    """
    engine, before, after = run.engine, run.before, run.after
    other_load = after.other_load_percent or 0.0
    against = {
        LeftOut.MACHINE: not is_same_machine(run.machine, state),
        LeftOut.ENGINE: (engine.name, engine.version) != (state.engine, state.engine_version),
        LeftOut.LAYERS: engine.gpu_layers not in {-1, 0},
        LeftOut.DEVICES: not _on_same_devices(run, state),
        LeftOut.THREADS: engine.threads != state.threads,
        LeftOut.SUPPLY: fed_by(before.power_supply) is not fed_by(state.supply),
        LeftOut.BUSY: other_load > MAX_OTHER_LOAD_PERCENT,
        LeftOut.HOT: Thermal.THROTTLED in {before.thermal, after.thermal},
        LeftOut.TESTS: not any(run.rate(test.name) for test in (TG128, PP512)),
    }
    why = next((why for why, holds in against.items() if holds), None)
    if why is None and work_of is not None and _is_beyond(run, state, work_of):
        return LeftOut.BEYOND
    return why


def left_out_reason(
    left_out: Sequence[tuple[LeftOut, int]], code: str = "estimate_runs_left_out"
) -> Reason | None:
    """In one sentence, what does not count, of runs or by another code; None where all does."""
    if not left_out:
        return None
    why = ", ".join(f"{count} {WORDS[left]}" for left, count in left_out)
    return Reason(code, {"why": why})


def _on_same_devices(run: Run, state: State) -> bool:
    """Whether the devices that held layers are those that would hold them now.

    Where all lay on the processor, that alone.
    """
    if run.engine.backend == "CPU":
        return {"CPU"} == set(state.devices)
    held = [device for device in run.engine.devices if device.name != "CPU"]
    names = {device.name for device in held}
    return names == set(state.devices) and all(is_same_card(device, state) for device in held)


def _is_beyond(run: Run, state: State, work_of: WorkOf) -> bool:
    """Whether no memory or arithmetic that this machine may have gives a run's rates."""
    generated, read = asked_by(run, TG128, work_of), asked_by(run, PP512, work_of)
    return (
        generated is not None and times_faster(generated[0], state.memory, generated[1]) > BEYOND
    ) or (
        read is not None and prompt_times_faster(read[0], state.flops, read[1]) > BEYOND_ARITHMETIC
    )


def _reached(memory: Mapping[str, Memory], run: Run, work_of: WorkOf) -> Mapping[str, Memory]:
    found = asked_by(run, TG128, work_of)
    return with_reached(memory, *found) if found else memory


def asked_by(run: Run, test: SpeedTest, work_of: WorkOf) -> tuple[Sequence[Work], float] | None:
    """What a token of a run's test asked, and its seconds; None where either is not known."""
    rate = run.rate(test.name)
    works = work_of(run, test) if rate is not None and rate.median_tok_s > 0 else None
    return (works, 1 / rate.median_tok_s) if rate is not None and works else None


def _seen(
    run: Run, test: SpeedTest, work_of: WorkOf, terms_of: Callable[[Sequence[Work]], Terms | None]
) -> Seen | None:
    rate = run.rate(test.name)
    works = work_of(run, test) if rate is not None else None
    terms = terms_of(works) if works else None
    if rate is None or terms is None or rate.median_tok_s <= 0:
        return None
    spread = (_UNTOLD_SPREAD if rate.spread is None else rate.spread) / _HALF_WIDTHS
    return Seen(run.build.sha256, terms, 1 / rate.median_tok_s, spread)
