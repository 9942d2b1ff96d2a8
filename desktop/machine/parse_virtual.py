"""Whether this is a virtual machine or a container, and whose."""

import re
from typing import Final

from desktop.machine.names import cut
from desktop.sources.dmi import VirtualMarks

UNKNOWN: Final = "virtual machine"
_MAKERS: Final = (
    (r"QEMU|KVM|Red Hat|RHEV|oVirt", "KVM"),
    (r"VMware", "VMware"),
    (r"innotek|VirtualBox", "VirtualBox"),
    (r"Xen|HVM domU", "Xen"),
    (r"Parallels", "Parallels"),
    (r"Amazon EC2", "Amazon EC2"),
    (r"Google Compute Engine", "Google Compute Engine"),
    (r"DigitalOcean", "DigitalOcean"),
    (r"Hetzner", "Hetzner Cloud"),
    (r"OpenStack", "OpenStack"),
    (r"Apple Virtualization", "Apple Virtualization"),
)
_BARE_METAL: Final = re.compile(r"\.metal", re.IGNORECASE)
_ENGINES: Final = (
    (r"docker(?:env)?", "Docker"),
    (r"kubepods", "Kubernetes"),
    (r"libpod|containerenv", "Podman"),
    (r"lxc", "LXC"),
)


def virtual_name(
    marks: VirtualMarks, lscpu: str | None = None, *, hypervisor_flag: bool = False
) -> str | None:
    """`KVM`, `WSL2`, `KVM, Docker container`; None on the bare machine."""
    parts = [_machine(marks, lscpu, hypervisor_flag=hypervisor_flag), _container(marks)]
    return ", ".join(part for part in parts if part) or None


def names_virtual(vendor: str | None, product: str | None) -> str | None:
    """The virtual machine's maker, from the names in the firmware's tables."""
    told = f"{vendor or ''} {product or ''}"
    if _BARE_METAL.search(told):
        return None
    if "Microsoft" in told and "Virtual Machine" in told:
        return "Hyper-V"
    return _match(_MAKERS, told)


def _machine(marks: VirtualMarks, lscpu: str | None, *, hypervisor_flag: bool) -> str | None:
    if marks.kernel and "microsoft" in marks.kernel.lower():
        return "WSL2"
    named = names_virtual(marks.vendor, marks.product)
    # lscpu calls a bare machine with Hyper-V's or Xen's first domain virtual too: the flag decides
    if named or not hypervisor_flag:
        return named
    told = re.search(r"^Hypervisor vendor:[ \t]*(\S.*)$", lscpu or "", re.MULTILINE)
    return cut(told.group(1)).strip() if told else UNKNOWN


def _container(marks: VirtualMarks) -> str | None:
    if marks.in_pod:
        return "Kubernetes container"
    told = " ".join((marks.first_process_cgroup or "", *marks.container_files))
    engine = _match(_ENGINES, told)
    if engine:
        return f"{engine} container"
    return "container" if marks.container_files or _is_laid_over_an_image(marks) else None


def _is_laid_over_an_image(marks: VirtualMarks) -> bool:
    """Whether `/` is an overlay and the first process is in the root of its control groups.

    So containerd's containers look from within, where nothing else tells. A live system has such a
    `/` too, but its first process is systemd's, in `/init.scope`.
    """
    groups = (marks.first_process_cgroup or "").split()
    return marks.root_filesystem == "overlay" and groups == ["0::/"]


def _match(table: tuple[tuple[str, str], ...], told: str) -> str | None:
    # whole words: XENIA is no Xen
    found = (n for w, n in table if re.search(rf"(?<!\w)(?:{w})(?!\w)", told, re.IGNORECASE))
    return next(found, None)
