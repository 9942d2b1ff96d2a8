"""System packages on Debian and its relatives: what is missing, and how it gets there."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence

from devtools.steps import StepError, run_logged, say, step

BASE = (
    "python3-venv",
    "libegl1",
    "libgl1",
    "libglib2.0-0",
    "libdbus-1-3",
    "libfontconfig1",
    "libxkbcommon0",
)
WINDOW = (
    "libxcb-cursor0",
    "libxcb-icccm4",
    "libxcb-keysyms1",
    "libxcb-image0",
    "libxcb-render-util0",
    "libxcb-shape0",
    "libxcb-xkb1",
    "libxcb-randr0",
    "libxkbcommon-x11-0",
    "fonts-dejavu-core",
)
TESTS = (
    "xvfb",
    "xauth",
    "xdotool",
    "trayer",
    "dunst",
    "dbus",
    "gnome-keyring",
    "libxss1",
    "at-spi2-core",
)
# Debian's python3 has its library inside; a frozen program needs it as a file of its own.
PYTHON_LIBRARY = f"libpython3.{sys.version_info.minor}"
NAMED_AT_MOST = 4
QUERY_FORMAT = "${db:Status-Status}\t${Package}\t${Provides}\n"


def has_screen() -> bool:
    """Whether a window can be shown: always on Windows and macOS, by X or Wayland elsewhere."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def python_library() -> list[str]:
    """The package that freezing needs for the system's own Python; none for another Python."""
    return [PYTHON_LIBRARY] if sys.base_prefix == "/usr" else []


def installed_names(query_output: str) -> set[str]:
    """Names of installed packages and all that they provide, from dpkg-query's text.

    Renamed packages are found by what they provide: libglib2.0-0t64 provides libglib2.0-0.
    """
    names: set[str] = set()
    for line in query_output.splitlines():
        status, _, rest = line.partition("\t")
        if status != "installed":
            continue
        package, _, provides = rest.partition("\t")
        names.add(package)
        names.update(part.split()[0] for part in provides.split(",") if part.split())
    return names


def missing_packages(wanted: Sequence[str]) -> list[str]:
    """Those of `wanted` that are neither installed nor provided by something installed."""
    named = installed_names(_query(wanted))
    if all(name in named for name in wanted):
        return []  # the usual case, without reading the whole list
    everything = installed_names(_query(()))
    return [name for name in wanted if name not in everything]


def _query(packages: Iterable[str]) -> str:
    argv = ["dpkg-query", "--show", f"--showformat={QUERY_FORMAT}", *packages]
    # It fails when one name is unknown, yet prints the others: the text is what counts.
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout


def ensure_packages(wanted: Sequence[str]) -> None:
    """Install what is missing, or print the line that does; does nothing off Debian.

    Raises StepError when apt-get fails or python3-venv is missing and cannot be installed.
    """
    if not (shutil.which("dpkg-query") and shutil.which("apt-get")):
        return
    missing = missing_packages(wanted)
    if not missing:
        return
    prefix = _root_prefix()
    if prefix is None:
        _say_what_to_run(missing)
    else:
        _apt_install(prefix, missing)


def _root_prefix() -> list[str] | None:
    if sys.platform == "win32" or os.geteuid() == 0:
        return []
    if shutil.which("sudo") and _quiet(["sudo", "--non-interactive", "true"]):
        return ["sudo", "--non-interactive"]
    return None


def _quiet(argv: Sequence[str]) -> bool:
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


def _say_what_to_run(missing: Sequence[str]) -> None:
    line = "sudo apt-get install --no-install-recommends " + " ".join(missing)
    if "python3-venv" in missing and not _has_venv():
        raise StepError(f"System packages are missing. Run this line, then start again:\n\n{line}")
    say(f"System packages are missing; if something fails, run:\n  {line}")


def _has_venv() -> bool:
    return importlib.util.find_spec("ensurepip") is not None


def shown(packages: Sequence[str]) -> str:
    """The packages' names, or how many there are when they are many; the log has all."""
    return ", ".join(packages) if len(packages) <= NAMED_AT_MOST else f"{len(packages)} of them"


def _apt_install(prefix: Sequence[str], missing: Sequence[str]) -> None:
    front = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    with step("system packages: reading the lists"):
        run_logged([*front, "update"], "apt-update")
    with step(f"system packages: installing {shown(missing)}"):
        options = ["--yes", "--no-install-recommends"]
        run_logged([*front, "install", *options, *missing], "apt-install")
