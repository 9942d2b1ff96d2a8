"""llama.cpp's own llama-bench, built from the engine's source against the engine's libraries.

It is what the app's rates are compared with, so it must run the same llama and ggml code: it is
linked to, and started with, the shared libraries inside `.venv`. Print its path with
`.venv/bin/python benchmarks/llama_bench_build.py`; benchmarks call `llama_bench()`.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from devtools.engine import Build, ensure_engine
from devtools.environment import Environment
from devtools.locking import held
from devtools.ninja import ninja_notes
from devtools.places import STATE, VENV, cache_dir, venv_site_packages
from devtools.source import build_tools, sdist, tools_path, unpacked_source
from devtools.stamp import file_sha256
from devtools.steps import StepError, run_logged, say, step

PROJECT = Path(__file__).resolve().parent / "llama_bench"
NAME = "llama-bench.exe" if sys.platform == "win32" else "llama-bench"
LIBRARY_PATH = {"win32": "PATH", "darwin": "DYLD_LIBRARY_PATH"}.get(sys.platform, "LD_LIBRARY_PATH")


@dataclass(frozen=True)
class LlamaBench:
    """The program and the whole environment to start it with."""

    path: Path
    env: dict[str, str]


def llama_bench() -> LlamaBench:
    """llama-bench for the engine in `.venv`, from the cache or built now (minutes).

    Raises StepError when it cannot be built or would load other libraries than the engine's.
    """
    with held(STATE / "lock", "setting up this clone"):
        build = ensure_engine(Environment(VENV), None)
    libraries = venv_site_packages(VENV) / "llama_cpp" / "lib"
    bench = LlamaBench(_built(build, libraries), _with_libraries(libraries))
    if strangers := strange_libraries(bench, libraries):
        raise StepError(f"llama-bench loads {', '.join(strangers)}, not those of {libraries}")
    return bench


def _with_libraries(folder: Path) -> dict[str, str]:
    others = os.environ.get(LIBRARY_PATH)
    return {**os.environ, LIBRARY_PATH: os.pathsep.join(filter(None, [str(folder), others]))}


def _built(build: Build, libraries: Path) -> Path:
    project = file_sha256(PROJECT / "CMakeLists.txt")[:8]
    folder = cache_dir() / "llama-bench" / f"{build.key}-{project}"
    path = folder / NAME
    with held(cache_dir() / "llama-bench.lock", "building llama-bench"):
        if not path.exists():
            _compile(folder, libraries)
    return path


def _compile(folder: Path, libraries: Path) -> None:
    tools = build_tools()
    work = folder.parent / f"{folder.name}.work"
    source = unpacked_source(work, sdist(tools)) / "vendor" / "llama.cpp"
    where = [
        "-DCMAKE_BUILD_TYPE=Release",
        f"-DLLAMA_SOURCE={source.as_posix()}",
        f"-DENGINE_LIBRARIES={libraries.as_posix()}",
    ]
    configure = ["cmake", "-S", str(PROJECT), "-B", str(work / "build"), "-G", "Ninja"]
    env = tools_path(tools)
    with step("llama-bench: compiling, once for this engine") as progress:
        run_logged([*configure, *where], "llama-bench-configure", env=env)
        run_logged(
            ["cmake", "--build", work / "build", "--target", "llama-bench"],
            "llama-bench-build",
            env=env,
            on_line=ninja_notes(progress.note),
        )
    folder.mkdir(parents=True, exist_ok=True)
    (work / "build" / "llama-bench" / NAME).replace(folder / NAME)
    shutil.rmtree(work)


def strange_libraries(bench: LlamaBench, libraries: Path) -> list[str]:
    """Libraries of llama and ggml that would not come from `libraries`; looked up on Linux only."""
    if sys.platform != "linux":
        return []
    argv = ["ldd", str(bench.path)]
    told = subprocess.run(argv, env=bench.env, capture_output=True, text=True, check=True).stdout
    ours = [line for line in told.splitlines() if line.strip().startswith(("libllama", "libggml"))]
    if not ours:
        return ["no libllama at all"]
    return [line.strip() for line in ours if f"=> {libraries}{os.sep}" not in line]


def main() -> int:
    """Print the path of llama-bench and the variable to start it with."""
    bench = llama_bench()
    say(str(bench.path))
    say(f"{LIBRARY_PATH}={bench.env[LIBRARY_PATH]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
