"""What the program found, held against what a capture says it should have: a list of differences.

The captures have three authors, who agree on facts and not always on words. These ways of saying
the same are taken for the same: a card's name with and without its maker and trade marks; a
processor's name with and without trade marks, on ARM with and without the board before it; a
driver's name with and without its version; a power plan in Microsoft's words and in the kernel's; a
cloud and the hypervisor that it runs on; an APU that the system's tables know by its working name
only, by that name and by AMD's for all of them; 0.0 and nothing for a machine without cards;
channels `null` where an author does not count the firmware's "CHANNEL A"; supply `null` where a
machine outside a hypervisor lists no battery at all, which is then fed by a wire.
"""

from collections.abc import Iterator
from typing import Any

from desktop.machine.names import clean
from desktop.records.machine import Accelerator
from desktop.rules.kind import kind_label
from desktop.rules.memory_answers import memory_answers
from tests.captures.whole import Capture, Found

_GIB = 2**30
_CLOSE_GIB = 0.06
"""Captures give one decimal."""
_PLANS = {"high performance": "performance", "power saver": "powersave"}
_CLOUDS = {"Google Compute Engine": "KVM"}
_WORKING_NAMES = {"Raphael": "Radeon Graphics", "Lucienne": "Radeon Graphics"}
_MAKERS = ("AMD ", "Intel ", "NVIDIA ")


def differences(capture: Capture, found: Found) -> list[str]:
    """Each key of `expected` that came out otherwise; keys that are not there are not asked."""
    wanted = capture.expected
    told = {**_of_machine(found), **_of_state(found)}
    lines = [_line(key, wanted[key], told[key]) for key in told if key in wanted]
    lines.append(_of_supply(wanted, found))
    lines += _of_cpu(wanted.get("cpu") or {}, found)
    lines += _of_modules(wanted, found)
    if "accelerators" in wanted:
        lines += _of_accelerators(wanted["accelerators"], found.machine.accelerators)
    return [line for line in lines if line is not None]


def _of_machine(found: Found) -> dict[str, Any]:
    answers = memory_answers(found.machine)
    return {
        "os": found.machine.os,
        "kind": kind_label(found.machine),
        "ram_gib": _whole(found.machine.ram_bytes),
        "virtual": found.machine.virtual,
        "on_card_gib": _gib(answers.on_card_bytes if found.machine.accelerators else 0),
        "with_offload_gib": _gib(answers.with_offload_bytes),
    }


def _of_state(found: Found) -> dict[str, Any]:
    return {
        "battery_percent": found.state.battery_percent,
        "governor": found.state.governor,
        "display": found.state.display_attached,
    }


def _of_supply(wanted: dict[str, Any], found: Found) -> str | None:
    told = found.state.power_supply
    no_battery = found.state.battery_percent is None and found.machine.virtual is None
    if "supply" not in wanted or (wanted["supply"] is None and told == "mains" and no_battery):
        return None
    return _line("supply", wanted["supply"], told.value if told else None)


def _of_cpu(wanted: dict[str, Any], found: Found) -> Iterator[str | None]:
    cpu = found.machine.cpu
    told = {
        "name": cpu.name,
        "physical": cpu.physical_cores,
        "logical": cpu.logical_cores,
        "sockets": cpu.sockets,
        "usable": cpu.usable_cpus,
    }
    for key in told.keys() & wanted.keys():
        yield _line(f"cpu {key}", wanted[key], told[key])
    # Windows tells instruction sets through a call, of which a capture has no raw text
    if found.machine.os != "Windows":
        missing = set(wanted.get("has") or ()) - set(cpu.instruction_sets)
        extra = set(wanted.get("has_not") or ()) & set(cpu.instruction_sets)
        yield f"cpu lacks {sorted(missing)}, has {cpu.instruction_sets}" if missing else None
        yield f"cpu should not have {sorted(extra)}" if extra else None


def _of_modules(wanted: dict[str, Any], found: Found) -> Iterator[str | None]:
    if "modules" not in wanted:
        return
    modules, expected = found.machine.modules, wanted["modules"]
    if modules is None or expected is None:
        yield _line("modules", expected, modules)
        return
    for key in ("kind", "speed_mt_s", "channels", "modules"):
        if key in expected and (key, expected[key]) != ("channels", None):
            yield _line(f"modules {key}", expected[key], getattr(modules, key))


def _of_accelerators(
    wanted: list[dict[str, Any]], found: tuple[Accelerator, ...]
) -> Iterator[str | None]:
    if len(wanted) != len(found):
        yield f"cards: wanted {[w['name'] for w in wanted]}, found {[c.name for c in found]}"
        return
    for expected, card in zip(wanted, found, strict=True):
        told = _card(card)
        for key in told.keys() & expected.keys():
            yield _line(f"{card.name}: {key}", expected[key], told[key])


def _card(card: Accelerator) -> dict[str, Any]:
    return {
        "vendor": card.vendor,
        "name": card.name,
        "pci": card.pci_address,
        "integrated": card.integrated,
        "external": card.external,
        "driver": card.driver,
        "dedicated_gib": _gib(card.dedicated_bytes),
        "shared_gib": _gib(card.shared_bytes),
        "usable_gib": _gib(card.memory_bytes),
        "backends": None if card.backends is None else sorted(card.backends),
        "gpu_cores": card.gpu_cores,
    }


def _line(key: str, wanted: Any, told: Any) -> str | None:
    wanted, told = _plain(key, wanted), _plain(key, told)
    if key.endswith("_gib") and isinstance(wanted, float) and isinstance(told, float):
        return None if abs(wanted - told) <= _CLOSE_GIB else f"{key}: wanted {wanted}, found {told}"
    return None if wanted == told else f"{key}: wanted {wanted!r}, found {told!r}"


def _plain(key: str, value: Any) -> Any:
    if key.endswith("backends") and value is not None:
        return sorted(value)
    if not isinstance(value, str):
        return value
    word = key.rpartition(": ")[2]
    if word == "driver":
        return value.split()[0]
    if word == "virtual":
        return _CLOUDS.get(value, value)
    if word in {"name", "kind", "cpu name"}:
        plain = clean(value)
        return plain.rpartition(" · ")[2] if word == "cpu name" else _without_maker(plain)
    return _PLANS.get(value, value) if word == "governor" else value


def _without_maker(name: str) -> str:
    parts = name.split(" + ")
    for maker in _MAKERS:
        parts = [part.removeprefix(maker).replace(f"× {maker}", "× ") for part in parts]  # noqa: RUF001
    return " + ".join(_WORKING_NAMES.get(part, part) for part in parts)


def _gib(size: int | None) -> float | None:
    return None if size is None else round(size / _GIB, 3)


def _whole(size: int | None) -> int | None:
    return None if size is None else round(size / _GIB)
