"""What the window costs the measurement: its own CPU, and the rates beside the terminal's.

    xvfb-run -a python benchmarks/window_cost.py --pairs 16

Each pair measures the reference build once from the window (a real one, on an X server) and once
from the terminal, in processes of their own. Printed: the CPU-seconds of the window's process in
the timed part (from the end of the first warm-up to the last repetition) ÷ (wall times cores), to
be at most 1 %; the same from loading on, where the graph's library is still being imported when a
run is asked for as soon as the window opens, as here; and the median ratios of the rates.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from pairs import Quiet, interleaved, ratio_of, save

ROOT = Path(__file__).resolve().parent.parent
MOST = 0.01


def window_child(repetitions: int) -> None:
    """Runs in a process of its own: measure from the window, print what it cost."""
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415 - only in the child

    from desktop.app import App, _options  # noqa: PLC0415
    from desktop.paths import default_paths  # noqa: PLC0415
    from desktop.records.events import Progress as RunProgress  # noqa: PLC0415
    from desktop.records.events import RepetitionDone, RunFailed, RunFinished  # noqa: PLC0415

    qt = QApplication([])
    arguments = ["--measure", "--allow-key-file", "--repetitions", str(repetitions)]
    app = App(qt, default_paths().ensure(), _options(arguments))
    marks: list[tuple[float, float]] = []

    def watch(event: object) -> None:
        loading = isinstance(event, RunProgress) and event.phase == "loading"
        if loading or isinstance(event, RepetitionDone):
            marks.append((time.perf_counter(), time.process_time()))
        if isinstance(event, RunFinished):
            (loading, cpu_loading), (wall, cpu), *_, (wall_end, cpu_end) = marks
            rates = {r.test: r.median_tok_s for r in event.run.rates}
            timed = {"cpu_s": cpu_end - cpu, "wall_s": wall_end - wall}
            whole = {"whole_cpu_s": cpu_end - cpu_loading, "whole_wall_s": wall_end - loading}
            print(json.dumps(rates | timed | whole))
        if isinstance(event, (RunFinished, RunFailed)):
            app.window.close()

    app.bridge.received.connect(watch)
    app.show()
    qt.exec()


def from_window(repetitions: int) -> dict[str, float]:
    """The rates and the cost of a run from the window."""
    command = [sys.executable, __file__, "--child", "--repetitions", str(repetitions)]
    return json.loads(_output(command))


def from_terminal(repetitions: int) -> dict[str, float]:
    """The rates of a run from the terminal."""
    command = [sys.executable, "-m", "desktop", "bench", "--unsigned", "--json"]
    result = json.loads(_output([*command, "--repetitions", str(repetitions)]))
    return {r["test"]: r["median_tok_s"] for r in result["run"]["rates"]}


def _output(command: list[str]) -> str:
    with tempfile.TemporaryDirectory() as home:
        env = os.environ | {"GRAM_HOME": home, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            command, env=env, cwd=ROOT, check=True, capture_output=True, text=True
        )
    return done.stdout


def main() -> int:
    """Print share and ratios; exit status 1 when the window takes more than 1 %."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=16)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        window_child(options.repetitions)
        return 0
    quiet, n = Quiet(), options.repetitions
    done = interleaved(options.pairs, lambda: from_window(n), lambda: from_terminal(n))
    save("window-cost", done)
    cores = os.cpu_count() or 1
    shares = [a["cpu_s"] / (a["wall_s"] * cores) for a, _ in done]
    whole = [a["whole_cpu_s"] / (a["whole_wall_s"] * cores) for a, _ in done]
    print(quiet.words())
    print(f"from loading on: median {100 * median(whole):.2f} %, most {100 * max(whole):.2f} %")
    print(
        f"the window's own CPU ÷ ({cores} cores' wall time): median {100 * median(shares):.2f} %, "
    )
    print(f"   most {100 * max(shares):.2f} % of {len(shares)} runs")
    for test in ("pp512", "tg128"):
        print(ratio_of(f"{test} window ÷ terminal", [a[test] / b[test] for a, b in done]))
    return 0 if median(shares) <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
