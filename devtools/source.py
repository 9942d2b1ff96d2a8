"""The engine's source archive and the tools that compile it, both kept in the cache."""

import os
import shutil
import sys
import tarfile
from pathlib import Path

from devtools.environment import ONE_BY_ONE, Environment
from devtools.locking import held
from devtools.places import REQUIREMENTS, cache_dir
from devtools.stamp import file_sha256
from devtools.steps import step


def build_tools() -> Environment:
    """The environment with cmake, ninja and the build back end, made in the cache."""
    tools = Environment(cache_dir() / f"build-tools-{sys.version.split()[0]}")
    with held(cache_dir() / "build-tools.lock", "making the build tools"):
        tools.ensure(["engine-build"])
    return tools


def sdist(tools: Environment) -> Path:
    """The engine's source archive, hash-checked, from the cache or the package index."""
    pins = REQUIREMENTS / "engine.txt"
    folder = cache_dir() / "sources" / file_sha256(pins)[:16]
    if not (found := list(folder.glob("*.tar.gz"))):
        scratch = folder.with_suffix(".new")
        shutil.rmtree(scratch, ignore_errors=True)
        with step("engine: source"):
            # Without isolation, since pip asks the source for its metadata even to download it.
            options = [*ONE_BY_ONE, "--no-build-isolation", "--no-binary", ":all:"]
            argv: list[str | Path] = [
                "download",
                *options,
                "--dest",
                scratch,
                "--requirement",
                pins,
            ]
            tools.pip(argv, "engine-source", env=tools_path(tools))
        scratch.rename(folder)
        found = list(folder.glob("*.tar.gz"))
    return found[0]


def tools_path(tools: Environment) -> dict[str, str]:
    """PATH with the build tools in front."""
    return {"PATH": f"{tools.python.parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def unpacked_source(folder: Path, archive: Path) -> Path:
    """The archive's one folder, unpacked below `folder`, or found there from an earlier start."""
    source = folder / archive.name.removesuffix(".tar.gz")
    if source.exists():
        return source
    scratch = folder / "unpacking"
    shutil.rmtree(scratch, ignore_errors=True)
    with step("engine: unpacking the source"), tarfile.open(archive) as tar:
        # The filter came with 3.11.4, Debian 12 has 3.11.2; the archive's hash was checked anyway.
        if hasattr(tarfile, "data_filter"):
            tar.extraction_filter = tarfile.data_filter
        tar.extractall(scratch)  # noqa: S202
    (scratch / source.name).rename(source)  # only a whole source has this name
    return source
