"""The firmware's tables, marks of virtual machines and containers; no serial numbers, no UUIDs."""

from dataclasses import dataclass
from pathlib import Path

from desktop.sources import files
from desktop.sources.commands import run_tool, text_or_none

ROOT = Path("/")


@dataclass(frozen=True, slots=True)
class VirtualMarks:
    """Raw texts in which a virtual machine or a container shows."""

    vendor: str | None = None
    product: str | None = None
    kernel: str | None = None
    first_process_cgroup: str | None = None
    container_files: tuple[str, ...] = ()
    xen: str | None = None
    in_pod: bool = False
    """Kubernetes tells each process where its service is; the address itself is not kept."""
    root_filesystem: str | None = None
    """Its type: `overlay` is a container's, or a live system's."""


def read_marks(root: Path = ROOT) -> VirtualMarks:
    """The marks on Linux."""
    dmi = root / "sys/class/dmi/id"
    container_files = (".dockerenv", "run/.containerenv", "run/systemd/container")
    return VirtualMarks(
        vendor=files.read_line(dmi / "sys_vendor"),
        product=files.read_line(dmi / "product_name"),
        kernel=files.read_line(root / "proc/version"),
        first_process_cgroup=files.read_text(root / "proc/1/cgroup"),
        container_files=tuple(name for name in container_files if _there(root / name)),
        xen=files.read_line(root / "sys/hypervisor/type"),
        in_pod=_in_pod(root),
        root_filesystem=_root_filesystem(root),
    )


def _in_pod(root: Path) -> bool:
    environment = files.read_text(root / "proc/self/environ") or ""
    return any(word.startswith("KUBERNETES_SERVICE_HOST=") for word in environment.split("\0"))


def _root_filesystem(root: Path) -> str | None:
    """The type of what was mounted at `/` last (proc(5), mountinfo); paths are not kept."""
    found = None
    for line in (files.read_text(root / "proc/self/mountinfo") or "").splitlines():
        before, _, after = line.partition(" - ")
        if before.split()[4:5] == ["/"] and after:
            found = after.split(maxsplit=1)[0]
    return found


def read_lscpu(limit_s: float = 1.0) -> str | None:
    """`lscpu` in English: it asks the processor for the hypervisor's name, which Python cannot."""
    environment = {"LC_ALL": "C", "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}
    return text_or_none(run_tool(["lscpu"], limit_s, environment))


def read_memory_devices(root: Path = ROOT) -> str | None:
    """What udev recorded of the firmware's memory table, which everybody may read.

    The table itself may not be read without root. Its record holds serial numbers beside what is
    wanted (systemd, `dmi_memory_id`): lines that name one are left out here.
    """
    text = files.read_text(root / "run/udev/data/+dmi:id")
    if text is None:
        return None
    private = ("SERIAL", "ASSET", "UUID")
    lines = (line for line in text.splitlines() if line.startswith("E:MEMORY_"))
    return "\n".join(line for line in lines if not any(word in line for word in private))


def _there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False
