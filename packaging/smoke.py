"""Try a frozen Gram: `python3 packaging/smoke.py dist/gram`. Standard library only.

Starts both programs as a person would, with an empty profile, and fails on a wrong exit status,
on JSON that does not say what it should, on a process left behind, and on any line of output that
is neither asked for nor allowed in smoke_program.py. Prints sizes and start times, and the source
tree's beside them where this file lies in one.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from smoke_checks import CHECKS
from smoke_program import Frozen, SmokeError, execute, must
from smoke_screen import screen, window_variables

ROOT = Path(__file__).resolve().parent.parent
SOURCE = [sys.executable, "-m", "desktop"]
SOURCE_WINDOW = [
    sys.executable,
    "-c",
    "import sys; from desktop.__main__ import window; sys.exit(window())",
]
STARTS = 7
LIMIT_S = 60.0


def report(frozen: Frozen) -> None:
    """Print sizes, and the median times from start to end of `--help` and of a window's paint."""
    files = [p for p in frozen.folder.rglob("*") if p.is_file() and not p.is_symlink()]
    print(f"size  {sum(p.stat().st_size for p in files) / 1e6:.0f} MB in {len(files)} files")
    compared("gram --help", frozen, [frozen.program(), "--help"], [*SOURCE, "--help"], {})
    with screen() as display:
        if display is not None:
            own = [frozen.program("gram-window"), "--quit-after-paint"]
            source = [*SOURCE_WINDOW, "--quit-after-paint"]
            compared("window", frozen, own, source, window_variables(display))


def compared(
    what: str, frozen: Frozen, own: list[str], source: list[str], more: dict[str, str]
) -> None:
    """Print the times of the frozen program and, where there is one, of the source tree."""
    env = frozen.environment(**more)
    has_source = (ROOT / "desktop" / "__main__.py").is_file()
    own_s, source_s = [], []
    for _ in range(STARTS):  # by turns, so that other load falls on both
        own_s.append(wall_s(own, env))
        if has_source:
            source_s.append(wall_s(source, {**env, "PYTHONPATH": str(ROOT)}))
    beside = f", source tree {statistics.median(source_s):.2f} s" if source_s else ""
    print(f"time  {what}: frozen {statistics.median(own_s):.2f} s{beside}")


def wall_s(argv: list[str], env: dict[str, str]) -> float:
    """The time of one command that must end well."""
    done = execute(argv, env, LIMIT_S)
    must(done.status == 0, f"{' '.join(argv)} failed", done)
    return done.wall_s


def main(arguments: Sequence[str]) -> int:
    """Try everything; 0 when all of it holds."""
    parser = argparse.ArgumentParser(description="Try a frozen Gram.")
    parser.add_argument("folder", type=Path, help="the folder with both programs, dist/gram")
    folder = parser.parse_args(arguments).folder.resolve()
    with tempfile.TemporaryDirectory(prefix="gram smoke ") as home:
        frozen = Frozen(folder, Path(home) / "profile ü")
        failed = [check.__name__ for check in (*CHECKS, report) if not passes(check, frozen)]
    print(f"FAILED: {', '.join(failed)}" if failed else "The frozen program works.")
    return 1 if failed else 0


def passes(check: Callable[[Frozen], None], frozen: Frozen) -> bool:
    """Run one check, print how it went."""
    start_s = time.perf_counter()
    try:
        check(frozen)
    except SmokeError as e:
        print(f"FAIL  {check.__name__}: {e}", flush=True)
        return False
    print(f"  ok  {check.__name__}  {time.perf_counter() - start_s:.1f} s", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
