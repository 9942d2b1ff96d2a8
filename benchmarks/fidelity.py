"""Are our rates llama-bench's? Interleaved pairs of one repetition, pp512 and tg128.

Both run the same shared libraries with the same threads, each in a fresh process with one warm-up.
First a pilot (`--pilot`) says how many pairs are needed; then that number is fixed and run:

    python benchmarks/fidelity.py --build reference --pilot 12
    python benchmarks/fidelity.py --build reference --pairs 130

The aim: the 95 % interval of the median ratio lies within 0.97 … 1.03, half-width at most 1.5 %.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from llama_bench_build import LlamaBench, llama_bench
from pairs import Quiet, Ratio, interleaved, needed, ratio_of, save

from desktop.bench.process import WorkerProcess
from desktop.bench.protocol import Job
from desktop.builds.synthetic import HALF_BILLION_Q4_0, make_synthetic
from desktop.machine.cores import usable_cores
from desktop.records.run import Plan, Repetition

TESTS = ("pp512", "tg128")
BOUNDS = (0.97, 1.03)


def ours(path: Path, threads: int) -> dict[str, float]:
    """One repetition of each test through the product's own worker, tok/s."""
    plan = Plan(threads=threads, min_repetitions=1, max_repetitions=1)
    with tempfile.TemporaryDirectory() as folder:
        job = Job(os.fspath(path), plan)
        with WorkerProcess(job, Path(folder) / "log") as worker:
            said = list(worker.messages())
    return {m.test: m.rate_tok_s for m in said if isinstance(m, Repetition) and not m.warmup}


def theirs(bench: LlamaBench, path: Path, threads: int) -> dict[str, float]:
    """One repetition of each test by llama-bench, tok/s."""
    command = [os.fspath(bench.path), "-m", os.fspath(path), "-t", str(threads), "-r", "1"]
    done = subprocess.run(
        [*command, "-p", "512", "-n", "128", "-o", "json"],
        env=bench.env,
        check=True,
        capture_output=True,
        text=True,
    )
    return {_name(row): float(row["avg_ts"]) for row in json.loads(done.stdout)}


def _name(row: dict[str, object]) -> str:
    return f"pp{row['n_prompt']}" if row["n_prompt"] else f"tg{row['n_gen']}"


def build_path(name: str) -> Path:
    """`reference`, `half-billion` (synthetic, 0.5 B Q4_0), or a file."""
    if name == "reference":
        return Path(os.environ["GRAM_REFERENCE_FILE"])
    if name != "half-billion":
        return Path(name)
    path = Path(__file__).resolve().parent.parent / "out" / "half-billion-q4_0.gguf"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        make_synthetic(path, HALF_BILLION_Q4_0)
    return path


def main() -> int:
    """Run pilot or pairs; exit status 1 when an interval is not within the bounds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="reference")
    parser.add_argument("--threads", type=int, default=usable_cores())
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--pilot", type=int)
    size.add_argument("--pairs", type=int)
    options = parser.parse_args()
    path, bench, quiet = build_path(options.build), llama_bench(), Quiet()
    done = interleaved(
        options.pilot or options.pairs,
        lambda: ours(path, options.threads),
        lambda: theirs(bench, path, options.threads),
    )
    print(f"{options.build}: {path.name}, {options.threads} threads; {quiet.words()}")
    print(f"raw values: {save(f'fidelity-{options.build}', done).name}")
    ratios = {t: [a[t] / b[t] for a, b in done] for t in TESTS}
    for test, values in ratios.items():
        print(ratio_of(f"{test} ours ÷ llama-bench", values))
    if options.pilot:
        print("pairs needed:", {t: needed(v) for t, v in ratios.items()})
        return 0
    return 0 if all(_within(ratio_of(t, v)) for t, v in ratios.items()) else 1


def _within(ratio: Ratio) -> bool:
    return BOUNDS[0] <= ratio.low and ratio.high <= BOUNDS[1]


if __name__ == "__main__":
    sys.exit(main())
