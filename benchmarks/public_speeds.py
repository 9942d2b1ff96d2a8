"""Our estimates and published rules against public measurements.

    python benchmarks/public_speeds.py PATH_TO_CSV [--misses] [--no-held-out]

Printed are, over llama.cpp's rows without flags: the median error (of estimate ÷ measured; of a
range its geometric mean), the share of rows inside the range, the mean of high ÷ low, and the high
÷ low that a rule's answer would need around it to hold 90 % of the rows, which is the only fair
measure of rules that state no range. Rows of mixtures and of llamafile stand apart.

Ours stands there three times: with the constants that ship (which were fitted to the devices that
the table of targets counts; new devices in the file are a test of them), with each device left out
of the fit in its turn, and with each class of devices left out. What is left out is left out of
everything: of the constants and of the scale of the ranges. The estimate itself is the product's:
table of targets, law of a token. The file is no part of this repository (`public_rows.py`), the
rules are stated in `public_rules.py`.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final

from fit_targets import analyse, table
from public_rows import Row, read_rows
from public_rules import RULES, Answer
from targets_fit import class_of, device_of, fitted_rows

from desktop import resources
from desktop.errors import GramError
from desktop.estimate.speed import decode_speed, prompt_speed
from desktop.estimate.targets import RESOURCE, efficiency_of, read_targets
from desktop.records.estimate import Efficiency, Speed, Target

Answers = list[Answer | None]
LLAMAFILE_BACKENDS: Final = {"nvidia": "CUDA", "amd": "ROCm", "apple": "Metal", "intel": "Vulkan"}
WANTED: Final = 0.9
PROMPTS: Final = "prompts"


def ours(rows: Iterable[Row], targets: Sequence[Target]) -> Answers:
    """The product's range of each row; None where it gives none."""
    return [_answer(_decode(row, targets)) for row in rows]


def prompts(rows: Iterable[Row], targets: Sequence[Target]) -> Answers:
    """The product's range of each row's prompt."""
    return [_answer(_prompt(row, targets)) for row in rows]


def _decode(row: Row, targets: Sequence[Target]) -> Speed | None:
    efficiency = _efficiency(row, targets)
    try:
        return decode_speed([replace(row.work, efficiency=efficiency)]) if efficiency else None
    except GramError:
        return None


def _prompt(row: Row, targets: Sequence[Target]) -> Speed | None:
    efficiency = _efficiency(row, targets)
    if efficiency is None or row.prompt_tokens is None:
        return None
    work = replace(row.prompt, efficiency=efficiency)
    try:
        return prompt_speed([work], row.prompt_tokens, max(512, row.prompt_tokens))
    except GramError:
        return None


def _efficiency(row: Row, targets: Sequence[Target]) -> Efficiency | None:
    maker = class_of(row).split("-", maxsplit=1)[0]
    backend = LLAMAFILE_BACKENDS.get(maker, "") if row.backend == "llamafile" else row.backend
    for target in targets:
        if (target.backend, target.device_class) == (backend, class_of(row)):
            return efficiency_of(target, row.quant)
    return None


def _answer(speed: Speed | None) -> Answer | None:
    if speed is None:
        return None
    middle = math.sqrt(speed.low_tok_s * speed.high_tok_s)
    return Answer(middle, speed.low_tok_s, speed.high_tok_s)


def held_out(rows: Sequence[Row], key: Callable[[Row], str]) -> Answers:
    """Ours, each row by constants and scale that its key's rows had no part in."""
    answers: Answers = [None] * len(rows)
    for left_out in sorted({key(row) for row in rows}):
        rest = [row for row in rows if key(row) != left_out]
        targets = read_targets(table(analyse(rest)))
        here = [i for i, row in enumerate(rows) if key(row) == left_out]
        for i, answer in zip(here, ours([rows[i] for i in here], targets), strict=True):
            answers[i] = answer
    return answers


def line(name: str, measured: Sequence[float], answers: Answers) -> str:
    """One row of the printed table."""
    pairs = [(m, a) for m, a in zip(measured, answers, strict=True) if a is not None]
    if not pairs:
        return f"  {name:<28}      none"
    error = median(abs(a.tok_s / m - 1) for m, a in pairs)
    ranged = [(m, a.low_tok_s, a.high_tok_s) for m, a in pairs if a.low_tok_s and a.high_tok_s]
    inside = sum(low <= m <= high for m, low, high in ranged) / len(measured)
    wide = sum(high / low for _, low, high in ranged) / max(len(ranged), 1)
    told = f"{inside:8.1%} {wide:8.2f}" if ranged else f"{'none':>8} {'none':>8}"
    needed = needed_width([math.log(m / a.tok_s) for m, a in pairs])
    return f"  {name:<28} {len(pairs):5d} {error:8.1%} {told} {needed:10.2f}"


def needed_width(logs: Sequence[float]) -> float:
    """High ÷ low of the narrowest band around the answers that holds 90 % of the rows."""
    ordered = sorted(logs)
    count = math.ceil(WANTED * len(ordered))
    spans = (ordered[i + count - 1] - ordered[i] for i in range(len(ordered) - count + 1))
    return math.exp(min(spans))


def section(title: str, rows: Sequence[Row], answers: dict[str, Answers]) -> None:
    """Print one table."""
    prompt = title == PROMPTS
    measured = [(row.prompt_tok_s if prompt else row.tok_s) or math.nan for row in rows]
    devices = len({row.device for row in rows})
    print(f"\n{title}: {len(rows)} rows, {devices} devices")
    print(f"  {'':<28} {'rows':>5} {'median':>8} {'inside':>8} {'high÷low':>8} {'for 90 %':>10}")
    for name, given in answers.items():
        print(line(name, measured, given))


def factors(rows: Sequence[Row], answers: Answers) -> None:
    """Print how many times our estimate was measured, by maker: the median."""
    found: dict[str, list[float]] = {}
    for row, answer in zip(rows, answers, strict=True):
        if answer is not None:
            maker = class_of(row).split("-", maxsplit=1)[0]
            found.setdefault(maker, []).append(row.tok_s / answer.tok_s)
    told = (f"{maker} {median(values):.2f}" for maker, values in sorted(found.items()))
    print(f"  measured ÷ ours, median: {', '.join(told)}")


def by_backend(rows: Sequence[Row], answers: Answers) -> dict[str, tuple[list[Row], Answers]]:
    """The rows of each back end; Apple's chips under Vulkan apart."""
    found: dict[str, tuple[list[Row], Answers]] = {}
    for row, answer in zip(rows, answers, strict=True):
        apple = row.backend == "Vulkan" and class_of(row).startswith("apple")
        some = found.setdefault("Vulkan, Apple's chips" if apple else row.backend, ([], []))
        some[0].append(row)
        some[1].append(answer)
    return found


def misses(rows: Sequence[Row], answers: Answers) -> None:
    """Print the rows that are outside."""
    for row, a in zip(rows, answers, strict=True):
        if a is None or not (a.low_tok_s or 0) <= row.tok_s <= (a.high_tok_s or 0):
            told = "none" if a is None else f"{a.low_tok_s:.1f} to {a.high_tok_s:.1f}"
            print(f"    {row.device}, {row.backend}, {row.model.name} {row.quant.label}: "
                  f"{row.tok_s:g} measured, {told}")  # fmt: skip


def main() -> int:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--misses", action="store_true", help="print the rows outside the ranges")
    parser.add_argument("--no-held-out", action="store_true", help="do not fit anew (minutes)")
    options = parser.parse_args()
    rows, notes = read_rows(options.path)
    print("\n".join(notes))
    targets = read_targets(resources.text(RESOURCE))
    dense = fitted_rows(rows)
    answers = {"ours, as it ships": ours(dense, targets)}
    if not options.no_held_out:
        answers["ours, device held out"] = held_out(dense, device_of)
        answers["ours, class held out"] = held_out(dense, class_of)
    best = list(answers.values())[min(1, len(answers) - 1)]
    rules = {name: [rule(row) for row in dense] for name, rule in RULES.items()}
    section("llama.cpp, without flags", dense, answers | rules)
    for backend, (some, given) in by_backend(dense, best).items():
        section(f"of them {backend}", some, {list(answers)[min(1, len(answers) - 1)]: given})
    if options.misses:
        misses(dense, best)
    for kind, title in (("moe", "mixtures of experts"), ("llamafile", "llamafile (other engine)")):
        some = [row for row in rows if row.kind == kind]
        others = {name: [rule(row) for row in some] for name, rule in RULES.items()}
        answers = {"ours, as it ships": ours(some, targets)}
        section(title, some, answers | others)
        factors(some, answers["ours, as it ships"])
    asked = [row for row in dense if row.prompt_tok_s]
    section(PROMPTS, asked, {"ours, as it ships": prompts(asked, targets)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
