"""Which back end the engine is built with: what this machine can use and compile."""

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

NAMES = ("auto", "cpu", "metal", "cuda", "vulkan")
FLAGS = {
    "cpu": ("-DGGML_CUDA=OFF", "-DGGML_VULKAN=OFF"),
    "metal": (),  # llama-cpp-python's own default on macOS
    "cuda": ("-DGGML_CUDA=ON",),
    "vulkan": ("-DGGML_VULKAN=ON",),
}
VULKAN_HEADERS = ("vulkan/vulkan.hpp", "spirv/unified1/spirv.hpp")


@dataclass(frozen=True)
class Backend:
    """A back end and why it was taken."""

    name: str
    why: str


@dataclass(frozen=True)
class Machine:
    """What the choice rests on; tests make their own."""

    platform: str
    which: Callable[[str], str | None]
    exists: Callable[[Path], bool]
    include_dirs: Sequence[Path]


def this_machine() -> Machine:
    """The machine that dev.py runs on."""
    dirs = [Path("/usr/include"), Path("/usr/local/include")]
    if sdk := os.environ.get("VULKAN_SDK"):
        dirs += [Path(sdk) / "include", Path(sdk) / "Include"]
    return Machine(sys.platform, shutil.which, Path.exists, dirs)


def choose(asked: str, machine: Machine) -> Backend:
    """The back end that was asked for, or for `auto` the best one that is here."""
    if asked != "auto":
        return Backend(asked, "asked for with --backend")
    if machine.platform == "darwin":
        return Backend("metal", "this is macOS")
    if has_nvidia_card(machine) and machine.which("nvcc"):
        return Backend("cuda", "there are an NVIDIA card and nvcc")
    if can_compile_vulkan(machine):
        return Backend("vulkan", "there are Vulkan's headers and glslc")
    return Backend("cpu", _why_cpu(machine))


def has_nvidia_card(machine: Machine) -> bool:
    """Whether NVIDIA's driver runs; nvcc alone would mean an hour of compiling for no card."""
    if machine.platform == "linux":
        nodes = ("/dev/nvidiactl", "/dev/dxg")  # the second one is a card seen from WSL
        return any(machine.exists(Path(node)) for node in nodes)
    return machine.which("nvidia-smi") is not None


def can_compile_vulkan(machine: Machine) -> bool:
    """Whether the shader compiler and both header sets of the Vulkan back end are there."""
    return machine.which("glslc") is not None and all(
        any(machine.exists(folder / header) for folder in machine.include_dirs)
        for header in VULKAN_HEADERS
    )


def _why_cpu(machine: Machine) -> str:
    if machine.which("nvcc"):
        return "nvcc is here but no NVIDIA card"
    if has_nvidia_card(machine):
        return "there is an NVIDIA card, but neither nvcc nor Vulkan's headers and glslc"
    return "neither an NVIDIA card with nvcc, nor Vulkan's headers and glslc"
