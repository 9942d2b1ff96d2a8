"""Graphics units of single-board computers' chips to accelerators.

Only those that the engine has a way to: Vulkan drivers of Mesa for Mali from Bifrost on (panvk),
Adreno (turnip) and Apple's (honeykrisp); CUDA for NVIDIA's. VideoCore (Raspberry Pi; llama.cpp's
issue 9801), older Mali and others show a picture and compute nothing here. The names follow the
kernel's device-tree bindings (`gpu/arm,mali-*`, `display/msm/gpu`).
"""

import re
from collections.abc import Iterable
from typing import Final

from desktop.machine.vendors import APPLE, ARM, NVIDIA, QUALCOMM
from desktop.records.machine import Accelerator
from desktop.sources.cards import DeviceTree

_UNITS: Final = (
    (r"rockchip,rk3588-mali", ARM, "Mali-G610"),
    (r"arm,mali-(?:bifrost|valhall\S*)", ARM, "Mali"),
    (r"qcom,adreno-43050[ac]01", QUALCOMM, "Adreno X1-85"),
    (r"qcom,adreno-(\d{3})\.\d", QUALCOMM, "Adreno {}"),
    (r"qcom,adreno\S*", QUALCOMM, "Adreno"),
    (r"apple,agx-\S+", APPLE, "Apple GPU"),
)
_JETSON_CHIPS: Final = {
    "nvidia,tegra210": "Tegra X1",
    "nvidia,tegra186": "Tegra X2",
    "nvidia,tegra194": "Xavier",
    "nvidia,tegra234": "Orin",
    "nvidia,tegra264": "Thor",
}
_APPLE_CHIPS: Final = {
    "apple,t8103": "Apple M1",
    "apple,t6000": "Apple M1 Pro",
    "apple,t6001": "Apple M1 Max",
    "apple,t6002": "Apple M1 Ultra",
    "apple,t8112": "Apple M2",
    "apple,t6020": "Apple M2 Pro",
    "apple,t6021": "Apple M2 Max",
    "apple,t6022": "Apple M2 Ultra",
}
"""Source: the kernel's `arch/arm64/boot/dts/apple`."""


def from_platform(uevents: Iterable[str], tree: DeviceTree) -> tuple[Accelerator, ...]:
    """Each unit once, and a Jetson's, which the board's description alone tells.

    Args:
        uevents: of graphics units that are no PCI cards.
        tree: the board's description.
    """
    found = [card for card in (_unit(text, tree) for text in uevents) if card is not None]
    chip = next((_JETSON_CHIPS[word] for word in tree.compatible if word in _JETSON_CHIPS), None)
    if chip is not None:
        found.append(Accelerator(NVIDIA, _jetson(tree) or chip, None, integrated=True))
    return tuple(dict.fromkeys(found))


def _unit(uevent: str, tree: DeviceTree) -> Accelerator | None:
    words = re.findall(r"^OF_COMPATIBLE_\d+=(\S+)$", uevent, re.MULTILINE)
    driver = re.search(r"^DRIVER=(\S+)$", uevent, re.MULTILINE)
    for pattern, vendor, name in _UNITS:
        found = next(filter(None, (re.fullmatch(pattern, word) for word in words)), None)
        if found is not None:
            told = name.format(*found.groups())
            named = apple_chip(tree) or told if vendor == APPLE else f"{vendor} {told}"
            return Accelerator(vendor, named, None, True, None, driver and driver.group(1))
    return None


def _jetson(tree: DeviceTree) -> str | None:
    # one chip is sold with half the units and a third of the bandwidth: the module's name tells
    found = re.search(r"Jetson [\w ]+?(?= Developer Kit| Engineering|$)", tree.model or "")
    return found.group() if found else None


def apple_chip(tree: DeviceTree) -> str | None:
    """`Apple M1`, where Linux runs on an Apple machine."""
    return next((_APPLE_CHIPS[word] for word in tree.compatible if word in _APPLE_CHIPS), None)
