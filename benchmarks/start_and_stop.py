"""First paint beside a bare PySide6 window; Stop to worker gone; `--help`; all in one run.

    xvfb-run -a python benchmarks/start_and_stop.py --pairs 20

First paint: from starting the process to the end of the first paint, interleaved pairs; at most 1.3
times a bare window. Stop: from asking to the worker's end, in the middle of a prompt's decode.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from pairs import Quiet, interleaved, ratio_of

from desktop.bench.process import WorkerProcess
from desktop.bench.protocol import Job, RepetitionStarted
from desktop.errors import BenchError
from desktop.machine.cores import usable_cores
from desktop.records.run import Plan

ROOT = Path(__file__).resolve().parent.parent
# ends the process at the first paint, before anything that follows it
BARE = """
import os
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
class Window(QMainWindow):
    def paintEvent(self, event):
        super().paintEvent(event)
        QTimer.singleShot(0, lambda: os._exit(0))
app = QApplication([])
window = Window()
window.resize(1180, 760)
window.show()
app.exec()
"""
OURS = """
import os, sys
sys.argv = ["gram", "window"]
import desktop.app as door
class Door(door.App):
    def _fill(self):
        os._exit(0)
door.App = Door
door.main([])
"""
FIRST_PAINT_MOST = 1.3
STOP_MOST_S = 2.0


def seconds(code: str) -> dict[str, float]:
    """From the start of `python -c code` to its end."""
    with tempfile.TemporaryDirectory() as home:
        env = os.environ | {"GRAM_HOME": home, "PYTHONPATH": str(ROOT)}
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", code], env=env, cwd=ROOT, check=True, stdout=subprocess.DEVNULL
        )
        return {"s": time.perf_counter() - began}


def stop_seconds() -> float:
    """From `cancel` to the worker's end, in mid-decode."""
    job = Job(os.environ["GRAM_REFERENCE_FILE"], Plan(threads=usable_cores()))
    with tempfile.TemporaryDirectory() as folder:
        began = 0.0
        try:
            with WorkerProcess(job, Path(folder) / "log") as worker:
                for message in worker.messages():
                    if isinstance(message, RepetitionStarted):
                        time.sleep(0.2)
                        began = time.perf_counter()
                        worker.cancel()
        except BenchError as e:
            if e.code != "cancelled":
                raise
        return time.perf_counter() - began


def main() -> int:
    """Print all; exit status 1 when a bound is not kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=20)
    options = parser.parse_args()
    quiet = Quiet()
    done = interleaved(options.pairs, lambda: seconds(OURS), lambda: seconds(BARE))
    stops = [stop_seconds() for _ in range(options.pairs)]
    helps = [
        seconds(
            "import sys; sys.argv=['gram','--help']; from desktop.__main__ import main; main()"
        )["s"]
        for _ in range(10)
    ]
    print(quiet.words())
    ours, bare = (median(p[i]["s"] for p in done) for i in (0, 1))
    ratio = ratio_of("first paint ours ÷ bare", [a["s"] / b["s"] for a, b in done])
    print(f"first paint: {ours:.3f} s, bare window {bare:.3f} s")
    print(ratio)
    print(f"Stop to worker gone: median {median(stops):.3f} s, most {max(stops):.3f} s")
    print(f"gram --help: median {median(helps):.3f} s of {len(helps)}")
    return 0 if ratio.median <= FIRST_PAINT_MOST and max(stops) <= STOP_MOST_S else 1


if __name__ == "__main__":
    sys.exit(main())
