"""Whole machines of `tests/captures/machines` put before the program's own readers.

Files are planted in a folder, the registry and the tools' words are handed over; from there on
all is the program's own code. `machines/README.md` says what the keys mean.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from desktop.machine import linux, mac, windows
from desktop.machine.cores import usable_of
from desktop.machine.detect import Probes, Survey, mac_probes, survey, windows_probes
from desktop.machine.merge import with_engine
from desktop.machine.parse_release import linux_version, windows_version
from desktop.machine.parse_windows import instances
from desktop.machine.state import State, linux_state, mac_state, windows_state
from desktop.machine.tools import Tool
from desktop.records.machine import Device, DeviceKind, Machine
from desktop.sources import cgroups, release
from desktop.sources.commands import Failure, ToolFailure
from desktop.sources.mac import SYSCTLS
from desktop.sources.nvml import NvmlCard
from desktop.sources.registry import read_power_modes
from desktop.sources.system import Battery
from desktop.sources.windows import CIM_PROPERTIES

FOLDER = Path(__file__).parent / "machines"
PATIENT_S = 30.0
"""Readers of captures are quick; a busy test machine is not."""
_HIVE = "HKLM\\"
_KINDS = {
    "CPU": DeviceKind.CPU,
    "GPU": DeviceKind.GPU,
    "IGPU": DeviceKind.IGPU,
    "ACCEL": DeviceKind.ACCELERATOR,
}
_SOFTWARE = ("llvmpipe", "lavapipe", "swiftshader", "basic render", "softpipe")
_DISCHARGING = 1
"""Win32_Battery.BatteryStatus; all else has the mains on it or does not tell (Microsoft)."""


@dataclass(frozen=True)
class Capture:
    """One file."""

    name: str
    about: str
    case: str | None
    by: str
    os: str
    raw: dict[str, Any]
    expected: dict[str, Any]
    pages: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """What the program makes of it."""

    survey: Survey
    machine: Machine
    """With the engine's list, where the capture has one."""
    state: State


def names() -> list[str]:
    """All captures, by the names of their files."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load(name: str) -> Capture:
    """One of them."""
    told = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return Capture(
        name,
        told["about"],
        told.get("case"),
        told["by"],
        told["os"],
        told["raw"],
        told["expected"],
        tuple(told["pages"]),
    )


def find(capture: Capture, folder: Path) -> Found:
    """Detect the capture's machine; `folder` is empty and is filled with its files."""
    makers = {"linux": _linux, "windows": _windows, "macos": _mac}
    probes, state_of = makers[capture.os](capture.raw, folder)
    found = survey(PATIENT_S, probes)
    devices = engine_list(capture)
    machine = with_engine(found.machine, devices) if devices else found.machine
    return Found(found, machine, state_of(found.machine.virtual is not None))


def engine_list(capture: Capture) -> tuple[Device, ...]:
    """The engine's devices; none where it was not asked."""
    return tuple(_device(told) for told in capture.raw.get("ggml") or ())


def plant(root: Path, files: dict[str, str]) -> None:
    """Write the files; `-> target` makes a link, whose target is made a folder if need be."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("-> "):
            target = path.parent / text[3:].strip()
            target.resolve().mkdir(parents=True, exist_ok=True)
            path.symlink_to(text[3:].strip())
        else:
            path.write_text(text, encoding="utf-8")


def _common(raw: dict[str, Any]) -> dict[str, Any]:
    counts = tuple(raw["cpu_counts"])
    return {
        "nvml_cards": lambda: _nvml(raw),
        "memory": lambda: (raw["memory_total"], None),
        "architecture": lambda: raw["architecture"],
        "counts": lambda: counts,
    }


def _nvml(raw: dict[str, Any]) -> tuple[NvmlCard, ...]:
    return tuple(
        NvmlCard(index, card["name"], card["memory_total"], card["pci_bus_id"], card.get("driver"))
        for index, card in enumerate(raw.get("nvml") or ())
    )


def _device(told: dict[str, Any]) -> Device:
    software = any(word in told["description"].lower() for word in _SOFTWARE)
    return Device(
        told["name"],
        told["description"],
        DeviceKind.SOFTWARE if software else _KINDS[told["type"]],
        told["backend"],
        told["memory_total"] or None,
        told.get("memory_free"),
        pci_address=told.get("device_id"),
    )


def _linux(raw: dict[str, Any], root: Path) -> tuple[Probes, Any]:
    plant(root, raw["files"])
    common = _common(raw)
    counts = common.pop("counts")
    commands = raw.get("commands") or {}
    probes = Probes(
        "Linux",
        lambda: linux_version(release.read_os_release(root), raw["kernel"]),
        lambda: linux.read_cpu(
            root, counts, lambda: usable_of(counts()[1], None, cgroups.read_quotas(root))
        ),
        lambda: linux.read_accelerators(root),
        lambda: linux.read_virtual(root, lambda: commands.get("lscpu")),
        lambda: linux.read_modules(root),
        **common,
    )
    return probes, lambda virtual: linux_state(root, virtual=virtual)


class PlantedRegistry:
    """A capture's registry; names are compared as Windows does, without regard to case."""

    def __init__(self, keys: dict[str, dict[str, object]]) -> None:
        plain = {key.removeprefix(_HIVE): values for key, values in keys.items()}
        self._values = {
            (key.lower(), name.lower()): value
            for key, values in plain.items()
            for name, value in values.items()
        }
        self._keys = tuple(plain)

    def value(self, key: str, name: str) -> object:
        told = self._values.get((key.lower(), name.lower()))
        return bytes.fromhex(told["hex"]) if isinstance(told, dict) else told

    def children(self, key: str) -> tuple[str, ...]:
        above = f"{key.lower()}\\"
        below = (k[len(above) :] for k in self._keys if k.lower().startswith(above))
        return tuple(dict.fromkeys(name.split("\\")[0] for name in below))


def _windows(raw: dict[str, Any], _: Path) -> tuple[Probes, Any]:
    common = _common(raw)
    counts = common.pop("counts")
    cim = raw.get("cim")
    keys = PlantedRegistry(raw.get("registry") or {})
    told = windows.WindowsSources(
        keys,
        _tool("PowerShell", asked_of_cim(cim)),
        counts,
        lambda: counts()[1],
        tuple,
        lambda: None,
    )
    version = tuple(raw["windows_version"])
    probes = replace(windows_probes(told), version=lambda: windows_version(version), **common)
    return probes, lambda virtual: windows_state(
        _battery(cim),
        raw.get("powercfg"),
        _monitors(cim),
        read_power_modes(keys),
        virtual=virtual,
    )


def _battery(cim: str | None) -> Battery | None:
    """What psutil tells (GetSystemPowerStatus), made from CIM's battery."""
    for item in instances(cim, "Win32_Battery"):
        fed = item.get("BatteryStatus") != _DISCHARGING
        return Battery(item.get("EstimatedChargeRemaining"), fed)
    return None


def _monitors(cim: str | None) -> int | None:
    """What GetSystemMetrics tells, made from CIM's adapters that show a picture."""
    adapters = instances(cim, "Win32_VideoController")
    if not adapters:
        return None
    return sum(1 for adapter in adapters if adapter.get("CurrentHorizontalResolution"))


def _mac(raw: dict[str, Any], _: Path) -> tuple[Probes, Any]:
    common = _common(raw)
    counts = common.pop("counts")
    told = mac.MacSources(
        _tool("sysctl", asked_of_sysctl(raw.get("sysctl"))),
        _tool("system_profiler", raw.get("system_profiler")),
        _tool("ioreg", raw.get("ioreg", "")),
        lambda: counts()[1],
    )
    probes = replace(mac_probes(told), version=lambda: raw["mac_version"], **common)
    return probes, lambda _virtual: mac_state(
        raw.get("pmset_batt"),
        raw.get("pmset_therm"),
        raw.get("system_profiler"),
        raw.get("pmset"),
    )


def asked_of_cim(text: str | None) -> str | None:
    """What the program would have got: of each class the properties that it asks for."""
    try:
        told = json.loads(text or "")
    except ValueError:
        return text
    classes = {name: instances(text, name) for name in CIM_PROPERTIES if name in told}
    return json.dumps(
        {
            name: [{k: v for k, v in item.items() if k in CIM_PROPERTIES[name]} for item in items]
            for name, items in classes.items()
        }
    )


def asked_of_sysctl(text: str | None) -> str | None:
    """What the program would have got: the lines that it asks for."""
    if text is None:
        return None
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if line.partition(":")[0] in SYSCTLS)


def _tool(name: str, text: str | None) -> Tool:
    stuck = ToolFailure(name, Failure.STUCK)
    return Tool(name, lambda: stuck if text is None else text, PATIENT_S)
