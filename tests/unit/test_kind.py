import pytest

from desktop.records.machine import Accelerator, Cpu, Machine
from desktop.rules.kind import kind_label

T4 = Accelerator("NVIDIA", "Tesla T4", 15 * 1024**3, False, "0000:00:04.0")
L4 = Accelerator("NVIDIA", "NVIDIA L4", None, False)
UHD = Accelerator("Intel", "Intel(R) UHD Graphics 730", None, True)
M4 = Accelerator("Apple", "Apple M4", None, True)

PARAVIRTUAL = Accelerator("Apple", "Apple Paravirtual device", None, True)
M2 = Cpu("Apple M2 (Virtual)", 4, 4)


def machine(os="Linux", *cards, architecture="x86_64", cpu=None):
    return Machine(os, "1", architecture, cpu or Cpu("x", 2, 4), None, cards)


@pytest.mark.parametrize(
    ("label", "of"),
    [
        ("2× Tesla T4", machine("Linux", T4, T4)),  # noqa: RUF001
        ("Tesla T4", machine("Linux", T4)),
        ("Tesla T4", machine("Linux", UHD, T4)),
        ("2× Tesla T4 + NVIDIA L4", machine("Linux", T4, L4, T4)),  # noqa: RUF001
        ("Intel(R) UHD Graphics 730", machine("Windows", UHD)),
        ("Apple M4", machine("macOS", M4, architecture="arm64")),
        ("Linux, CPU only · 4 CPUs", machine()),
        ("Windows, CPU only · 12 CPUs", machine("Windows", cpu=Cpu("x", 6, 12))),
        ("Mac, CPU only · 8 CPUs", machine("macOS", cpu=Cpu("Intel", 4, 8))),
        ("Apple M2 (Virtual)", machine("macOS", PARAVIRTUAL, architecture="arm64", cpu=M2)),
        ("Apple silicon", machine("macOS", architecture="arm64", cpu=Cpu(None, None, None))),
        ("Apple M1", machine("macOS", architecture="arm64", cpu=Cpu("Apple M1", 8, 8))),
        ("Linux, CPU only · 1 CPU", machine(cpu=Cpu("x", 1, 1))),
        ("Linux, CPU only", machine(cpu=Cpu(None, None, None))),
        ("Linux, CPU only · 2 CPUs", machine(cpu=Cpu("x", 32, 64, usable_cpus=2))),
    ],
)
def test_kind_label(label, of):
    assert kind_label(of) == label
