"""The engine: llama-cpp-python built once for this machine, kept, and put into environments."""

import hashlib
import json
import os
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from devtools.backend import FLAGS, Backend, choose, this_machine
from devtools.environment import Environment
from devtools.fingerprint import native_tag
from devtools.locking import held
from devtools.ninja import ninja_notes
from devtools.places import REQUIREMENTS, cache_dir
from devtools.source import build_tools, sdist, tools_path, unpacked_source
from devtools.stamp import file_sha256
from devtools.steps import StepError, say, show_s, step

HOOK = Path(__file__).with_name("engine.cmake")
# Only what is used, nothing that changes the machine code: warnings are llama.cpp's own affair.
TRIMMED = ("-DLLAVA_BUILD=OFF", "-DLLAMA_ALL_WARNINGS=OFF")


@dataclass(frozen=True)
class Build:
    """One way to build the engine."""

    version: str
    backend: Backend
    hook_sha256: str
    tag: str

    @property
    def flags(self) -> tuple[str, ...]:
        """Options for CMake, without the hook's path, which differs from clone to clone."""
        return (*TRIMMED, *FLAGS[self.backend.name])

    @property
    def key(self) -> str:
        """Name of the build's folder in the cache; another one for whatever changes the result."""
        text = json.dumps([self.flags, self.hook_sha256])
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        return f"{self.version}-{self.backend.name}-{self.tag}-{digest}"

    @property
    def folder(self) -> Path:
        """Where the wheel is kept."""
        return cache_dir() / "engine" / self.key

    @property
    def work(self) -> Path:
        """Where it is compiled; kept when interrupted, removed when done."""
        return cache_dir() / "engine" / f"{self.key}.work"


def pinned_version(text: str) -> str:
    """The version in requirements/engine.txt. Raises StepError when there is none."""
    found = re.search(r"^llama-cpp-python==(\S+)", text, re.MULTILINE)
    if not found:
        raise StepError("requirements/engine.txt does not pin llama-cpp-python")
    return found[1]


def plan(asked: str) -> Build:
    """The build for this machine; `asked` is a back end's name or `auto`."""
    version = pinned_version((REQUIREMENTS / "engine.txt").read_text(encoding="utf-8"))
    return Build(version, choose(asked, this_machine()), file_sha256(HOOK), native_tag())


def ensure_engine(environment: Environment, asked: str | None) -> Build:
    """Put the engine into the environment, building it first where the cache has none.

    `asked` is kept for the next time; None means as the last time. Raises StepError.
    """
    asked = asked or environment.stamp.get("backend") or "auto"
    build = plan(asked)
    facts = {"engine": build.key, "backend": asked}
    if not environment.ready(facts):
        wheel = ensure_wheel(build)
        with environment.changing(facts), step(f"{environment.folder.name}: engine"):
            argv: list[str | Path] = [
                "install",
                "--no-index",
                "--no-deps",
                "--force-reinstall",
                wheel,
            ]
            environment.pip(argv, f"{environment.folder.name}-engine")
            _try_import(environment)
    return build


def _try_import(environment: Environment) -> None:
    if environment.run(["-c", "import llama_cpp; llama_cpp.llama_backend_init()"]) != 0:
        raise StepError("The engine was built but does not load; see the lines above.")


def ensure_wheel(build: Build) -> Path:
    """The engine's wheel, from the cache or built now (minutes). Raises StepError."""
    with held(cache_dir() / "engine.lock", "building the engine"):
        if wheel := _kept_wheel(build):
            return wheel
        say(f"    engine: llama.cpp for {build.backend.name}, because {build.backend.why}")
        tools = build_tools()
        source = unpacked_source(build.work, sdist(tools))
        return _compile(build, tools, source)


def _kept_wheel(build: Build) -> Path | None:
    return next(iter(sorted(build.folder.glob("*.whl"))), None)


def _compile(build: Build, tools: Environment, source: Path) -> Path:
    """Build the wheel in `source`; an interrupted build goes on where it stopped."""
    cmake = (*build.flags, f"-DCMAKE_PROJECT_llama.cpp_INCLUDE={HOOK.as_posix()}")
    env = {**tools_path(tools), "CMAKE_GENERATOR": "Ninja", "CMAKE_ARGS": " ".join(cmake)}
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--verbose"]
    settings = ["--config-settings", f"build-dir={build.work / 'build'}"]
    argv: list[str | Path] = [
        "wheel",
        *options,
        *settings,
        "--wheel-dir",
        build.work / "wheel",
        source,
    ]
    start_s, cpu_start_s = time.monotonic(), _children_cpu_s()
    with step("engine: compiling, once for this machine") as progress:
        tools.pip(argv, "engine-build", env=env, on_line=ninja_notes(progress.note))
    cost = {
        "wall_s": round(time.monotonic() - start_s, 1),
        "cpu_s": round(_children_cpu_s() - cpu_start_s, 1),
    }
    _keep(build, cost)
    say(f"    engine: {show_s(cost['wall_s'])}, {cost['cpu_s']:.0f} CPU-seconds; kept in the cache")
    return next(build.folder.glob("*.whl"))


def _children_cpu_s() -> float:
    """CPU-seconds of ended child processes and theirs; 0 on Windows, which does not add them up."""
    times = os.times()
    return times.children_user + times.children_system


def _keep(build: Build, cost: dict[str, float]) -> None:
    told = {"key": build.key, "flags": build.flags, "why": build.backend.why, **cost}
    (build.work / "wheel" / "build.json").write_text(
        json.dumps(told, indent=1) + "\n", encoding="utf-8"
    )
    shutil.rmtree(build.folder, ignore_errors=True)
    (build.work / "wheel").rename(build.folder)
    shutil.rmtree(build.work, ignore_errors=True)
