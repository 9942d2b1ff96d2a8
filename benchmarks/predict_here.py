"""Predict, then measure: how near estimates for this machine come, and how often they hold.

    GRAM_REFERENCE_FILE=… python benchmarks/predict_here.py --wheels out/wheels

On an otherwise idle machine (about half an hour on two cores):

1. The parts are measured, and tier B's predictions of all builds are written to a file.
2. Rounds: in each, every build is measured twice, in two passes of another order each. The runs of
   the one pass calibrate, those of the other are what was to be predicted.
3. Tier A's predictions rest on the parts and the calibrating runs of the *other* builds (leave one
   out); a build's own runs are never used for it, nor is anything that was to be predicted.
4. Rehearsals: files of the same shapes with random weights, whole, and (of some) a few layers at
   two depths, against what was measured.

Printed are, for tiers B and A and for rehearsals, the error of the likeliest rate, whether the
measured one lies inside the range, and how wide the range is. The aims: a median absolute error of
at most 5 % with calibration; at least 90 % of measurements inside a range with high ÷ low ≤ 1.25.

Tier A is told twice: from calibrating passes to the others, between which a drift of the machine
cancels; and from the first half of the rounds (both passes) to the second, strictly one after the
other. *The same build's own* compares a build's runs of the one with its runs of the other: nobody
who predicts can come nearer than that. What is real of each build is said in `predict_builds.py`.

`--again FILE` tells all of it anew from a file of raw values, with the law as it is now.
"""

import argparse
import json
import os
import queue
import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

from pairs import Quiet, save
from predict_builds import FOLDER, OUT, HereBuild, here_builds

from desktop.bench.process import WorkerProcess
from desktop.bench.protocol import Job
from desktop.builds.header import read_header
from desktop.builds.rehearsal_file import make_rehearsal
from desktop.errors import GramError
from desktop.estimate.calibration import DeviceRates, device_rates, token_terms
from desktop.estimate.catalogue import find
from desktop.estimate.header_model import model_of
from desktop.estimate.placement import ON_HOST
from desktop.estimate.rehearsal import plan_rehearsal, whole_seconds
from desktop.estimate.residuals import Residuals, Seen, Span, Term, Terms
from desktop.estimate.sizes import from_header
from desktop.estimate.token_work import HOST, Asked, device_works
from desktop.machine.cores import usable_cores
from desktop.paths import Paths
from desktop.records.estimate import Use
from desktop.records.parts import PartsRequest
from desktop.records.request import Signing
from desktop.records.run import TG128, Plan, Repetition
from desktop.rules.parts_rates import rates_of
from desktop.rules.rates import spread as spread_of
from desktop.services.attempt import Outside
from desktop.services.estimate_tables import quants
from desktop.services.parts_session import PartsSession
from desktop.services.rehearsals import REPETITIONS, ROUNDS
from desktop.services.slow import SlowCalls
from desktop.sources.cpu_caches import last_level_cache_bytes

RATIO: Final = 1.25
USE: Final = Use(context=TG128.n_tokens, depth=TG128.n_gen // 2)
SHALLOW: Final = ("smollm2-360m-instruct Q8_0", "qwen2.5-0.5b-instruct Q4_K_M")
"""Rehearsed once more by a few layers at two depths."""


@dataclass(slots=True)
class Case:
    """One build, what was predicted of it and what came."""

    name: str
    real: str
    terms: Terms
    calibrating: list[float] = field(default_factory=list)
    """Tokens a second."""
    measured: list[float] = field(default_factory=list)
    by_parts: Span | None = None
    by_runs: Span | None = None
    by_first_half: Span | None = None
    rehearsed: Span | None = None
    shallow: Span | None = None

    @property
    def rate(self) -> float:
        """What was to be predicted."""
        return median(self.measured)

    @property
    def halves(self) -> tuple[list[float], list[float]]:
        """All rates of the first half of the rounds, and of the second."""
        calibrating, measured = len(self.calibrating) // 2, len(self.measured) // 2
        first = self.calibrating[:calibrating] + self.measured[:measured]
        return first, self.calibrating[calibrating:] + self.measured[measured:]


def main() -> int:
    """Run all of it; exit status 1 when an aim is missed."""
    options = _options()
    if options.again:
        cases = _read(options.again)
        _by_runs(cases)
        return _report(cases)
    quiet = Quiet()
    rates = _measured_parts(options.threads)
    chosen = [b for b in here_builds(options.wheels) if options.only in b.name]
    cases = [_case(build, rates) for build in chosen]
    built = {build.name: build for build in chosen}
    for case in cases:
        case.by_parts = _span([], case)
    _keep("by-parts", cases, options)
    for _ in range(options.rounds):
        for case in _shuffled(cases):
            case.calibrating += _rates(built[case.name].path, options)
        for case in _shuffled(cases):
            case.measured += _rates(built[case.name].path, options)
    _by_runs(cases)
    if not options.no_rehearsals:
        _rehearse(cases, built, options)
    print(f"threads: {options.threads}; {quiet.words()}")
    print(f"raw values: {save('predict-here', [_plain(c) for c in cases]).name}")
    return _report(cases)


def _by_runs(cases: Sequence[Case]) -> None:
    """Tier A, each build by the others."""
    seen = [_seen(case, case.calibrating) for case in cases]
    earlier = [_seen(case, case.halves[0]) for case in cases]
    for i, case in enumerate(cases):
        case.by_runs = _span([*seen[:i], *seen[i + 1 :]], case)
        case.by_first_half = _span([*earlier[:i], *earlier[i + 1 :]], case)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheels", type=Path, help="where Gemma's wheels lie; without, no Gemma")
    parser.add_argument("--threads", type=int, default=usable_cores())
    parser.add_argument("--repetitions", type=int, default=2, help="of each run")
    parser.add_argument("--rounds", type=int, default=6, help="of two passes")
    parser.add_argument("--no-rehearsals", action="store_true")
    parser.add_argument("--only", default="", help="builds with this in their name, for a trial")
    parser.add_argument("--again", type=Path, help="raw values of an earlier run, told anew")
    return parser.parse_args()


def _measured_parts(threads: int) -> dict[str, DeviceRates]:
    """The machine's parts by the product's own session, not kept."""
    with tempfile.TemporaryDirectory() as folder:
        root, slow = Path(folder), SlowCalls()
        outside = Outside(Paths(root, root, root), slow, "a benchmark", os.environ)
        request = PartsRequest(Signing.UNSIGNED, threads=threads)
        end = PartsSession(request, outside, queue.SimpleQueue().put).run()
        slow.shutdown()
    found = device_rates(
        rates_of(end.parts), HOST, threads, last_level_cache_bytes=last_level_cache_bytes()
    )
    if found is None:
        raise RuntimeError("the parts of the processor could not be measured")
    return {HOST: found}


def _case(build: HereBuild, rates: dict[str, DeviceRates]) -> Case:
    header = read_header(build.path)
    asked = Asked(model_of(header), quants()[0], from_header(header), build.name)
    terms = token_terms(device_works((), asked, USE, ON_HOST), rates)
    if terms is None:
        raise RuntimeError(f"{build.name} has a type that no table knows")
    return Case(build.name, build.real, terms)


def _seen(case: Case, rates: Sequence[float]) -> Seen:
    """As the product sees a run: with the deviation of its median."""
    spread = spread_of(rates)
    return Seen(case.name, case.terms, 1 / median(rates), 0.0 if spread is None else spread / 1.96)


def _span(seen: Sequence[Seen], case: Case) -> Span:
    return Residuals(seen).spans([(case.name, case.terms)])[0]


def _shuffled(cases: Sequence[Case]) -> list[Case]:
    """In another order each time: a busy minute should not meet the same builds again."""
    return random.sample(list(cases), len(cases))


def _rates(path: Path, options: argparse.Namespace, repetitions: int = 0) -> list[float]:
    """Tokens a second of each timed repetition of one run."""
    n = repetitions or options.repetitions
    plan = Plan((TG128,), threads=options.threads, min_repetitions=n, max_repetitions=n)
    job = Job(os.fspath(path), plan)
    with (
        tempfile.TemporaryDirectory() as folder,
        WorkerProcess(job, Path(folder) / "log") as worker,
    ):
        said = list(worker.messages())
    _tick()
    return [m.rate_tok_s for m in said if isinstance(m, Repetition) and not m.warmup]


def _rehearse(
    cases: Sequence[Case], built: Mapping[str, HereBuild], options: argparse.Namespace
) -> None:
    for case in cases:
        build = built[case.name]
        case.rehearsed = _rehearsed(build, options, 1 << 40)
        if build.name in SHALLOW:
            case.shallow = _rehearsed(build, options, build.path.stat().st_size * 2 // 3)


def _rehearsed(build: HereBuild, options: argparse.Namespace, room_bytes: int) -> Span | None:
    quant = find(build.label if build.label != "F16" else "fp16", quants())
    if quant is None:
        return None
    plan = plan_rehearsal(build.model, quant, room_bytes)
    paths = [FOLDER / f"rehearsal-{i}.gguf" for i in range(len(plan.depths))]
    try:
        for path, depth in zip(paths, plan.depths, strict=True):
            make_rehearsal(path, plan.model, plan.file_type, depth.picked, lambda _d, _t: None)
        found: list[list[float]] = [[] for _ in paths]
        for _ in range(ROUNDS):
            for seconds, path in zip(found, paths, strict=True):
                seconds += [1 / rate for rate in _rates(path, options, REPETITIONS)]
    finally:
        for path in paths:
            path.unlink(missing_ok=True)
    try:
        return whole_seconds(plan, found)
    except GramError as e:  # too noisy to say anything
        print(f"{build.name}: {e}")
        return None


def _report(cases: Sequence[Case]) -> int:
    names = ("build", "what of it is real", "measured", "tier B", "tier A", "rehearsal")
    print(f"{names[0]:<30}{names[1]:<20}{names[2]:>9}  {names[3]:<32}{names[4]:<32}{names[5]}")
    for case in cases:
        rate = case.rate
        spans = (case.by_parts, case.by_runs, case.rehearsed)
        told = "".join(f"{_told(span, rate):<32}" for span in spans)
        print(f"{case.name:<30}{case.real:<20}{rate:>9.1f}  {told}")
    for case in cases:
        if case.shallow:
            print(f"{case.name}, rehearsed at two depths: {_told(case.shallow, case.rate)}")
    _sums("tier B, by parts alone", [(c.by_parts, c.rate) for c in cases])
    reached = _sums("tier A, calibrated by the other builds", [(c.by_runs, c.rate) for c in cases])
    later = [(c.by_first_half, median(c.halves[1])) for c in cases]
    _sums("tier A, by the others' first half for the second", later)
    _sums("rehearsals", [(c.rehearsed, c.rate) for c in cases])
    _floor("the same build's own, pass against pass", [(c.calibrating, c.measured) for c in cases])
    _floor("the same build's own, half against half", [c.halves for c in cases])
    return 0 if reached else 1


def _floor(what: str, pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> None:
    errors = [abs(median(one) / median(other) - 1) for one, other in pairs]
    near = [RATIO**-0.5 <= median(one) / median(other) <= RATIO**0.5 for one, other in pairs]
    print(
        f"{what}: median absolute error {100 * median(errors):.1f} %, inside a range of {RATIO} "
        f"{sum(near)} of {len(near)}"
    )


def _told(span: Span | None, rate: float) -> str:
    """`98.1 (90-107) +2.1 % in`."""
    if span is None:
        return ""
    middle, low, high = 1 / span.middle, 1 / span.high, 1 / span.low
    inside = "in" if low <= rate <= high else "OUT"
    return f"{middle:.1f} ({low:.1f}-{high:.1f}) {100 * (middle / rate - 1):+.1f} % {inside}"


def _sums(what: str, pairs: Sequence[tuple[Span | None, float]]) -> bool:
    """Print the summary; whether both aims are reached."""
    told = [(span, rate) for span, rate in pairs if span is not None]
    if not told:
        return False
    errors = [abs(1 / span.middle / rate - 1) for span, rate in told]
    inside = [span.low <= 1 / rate <= span.high for span, rate in told]
    widths = [span.high / span.low for span, _ in told]
    near = [_within(span, rate) for span, rate in told]
    print(
        f"{what}: {len(told)} builds, median absolute error {100 * median(errors):.1f} %, inside "
        f"the range {sum(inside)} of {len(told)}, width high ÷ low median {median(widths):.2f}; "
        f"inside a range of {RATIO} around the likeliest {sum(near)} of {len(told)}"
    )
    return median(errors) <= 0.05 and sum(near) >= 0.9 * len(told)


def _within(span: Span, rate: float) -> bool:
    return RATIO**-0.5 <= span.middle * rate <= RATIO**0.5


def _keep(what: str, cases: Sequence[Case], options: argparse.Namespace) -> None:
    """Write the predictions before anything is measured that they are of."""
    told = {"threads": options.threads, "of": [_plain(case) for case in cases]}
    path = save(f"predictions-{what}", told)
    print(f"{what}: predictions of {len(cases)} builds written to {path.relative_to(OUT.parent)}")


def _plain(case: Case) -> dict[str, object]:
    spans = {
        name: None if span is None else [1 / span.high, 1 / span.middle, 1 / span.low]
        for name, span in (
            ("by_parts", case.by_parts), ("by_runs", case.by_runs),
            ("rehearsed", case.rehearsed), ("shallow", case.shallow),
        )
    }  # fmt: skip
    values = {"calibrating": case.calibrating, "measured": case.measured}
    terms = {name: (term.seconds, term.sd, term.counted) for name, term in case.terms.items()}
    return {"build": case.name, "real": case.real, **spans, **values, "terms": terms}


def _read(path: Path) -> list[Case]:
    """What `_plain` wrote."""
    told = json.loads(path.read_text(encoding="utf-8"))
    cases = []
    for one in told:
        terms = {name: Term(*values) for name, values in one["terms"].items()}
        case = Case(one["build"], one["real"], terms, one["calibrating"], one["measured"])
        case.by_parts = _span([], case)
        case.rehearsed, case.shallow = (
            None if one[name] is None else Span(*(1 / rate for rate in reversed(one[name])))
            for name in ("rehearsed", "shallow")
        )
        cases.append(case)
    return cases


def _tick() -> None:
    print(".", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
