"""`gram estimate MODEL --device ID` for people: a device's own page."""

from collections.abc import Sequence

from desktop.cli import estimate_tables
from desktop.cli.estimate_show import position_words, room_words, whose
from desktop.cli.fitting import print_fitting
from desktop.cli.prose import heading, paragraph
from desktop.cli.tables import print_facts
from desktop.estimate import printed, reasons
from desktop.estimate.device_page import DevicePage, QuantRow
from desktop.estimate.layer_bytes import LayerBytes
from desktop.estimate.page_words import WORDS, Said
from desktop.estimate.profile import ProfileId
from desktop.estimate.sheet import Sheet
from desktop.estimate.written_line import Line
from desktop.records.model import Quant


def device_page(sheet: Sheet, page: DevicePage) -> None:
    """One model on one device."""
    names = {"model": sheet.model.name, "device": page.configuration.name}
    heading(Said("device.title", names).text())
    whose(sheet.profile)
    use = sheet.use
    position = f"{position_words(use.depth)} {room_words(use.context)}"
    paragraph(f"{WORDS['ranked.label']} {position}")
    print_facts(*_device(sheet, page))
    heading(WORDS["device.quants"])
    print_fitting(estimate_tables.quants(page.quants, sheet))
    if sheet.profile.id is ProfileId.GRAM:
        paragraph(WORDS["device.note.needs"])
    _shown(page)


def _device(sheet: Sheet, page: DevicePage) -> tuple[tuple[str, str], ...]:
    device, unit = page.configuration, sheet.profile.memory_unit_bytes
    bandwidth = device.bandwidth_bytes_s
    best, runner_up = page.choice.best, page.choice.runner_up
    return (
        ("Id", device.id),
        ("Memory", printed.memory(device.memory_bytes, unit)),
        ("Usable memory", _usable(sheet, page)),
        ("Peak bandwidth", printed.bandwidth(bandwidth) if bandwidth else "not known"),
        ("Price", printed.price(device.price_usd) if device.price_usd else "not known"),
        ("Recommended", best.quant.label if best else "none"),
        ("Next", runner_up.quant.label if runner_up else "none"),
        *((("Because", page.choice.reason.text()),) if page.choice.reason else ()),
    )


def _usable(sheet: Sheet, page: DevicePage) -> str:
    """With what is held back of it, and whether the recommended one leaves little."""
    device, unit = page.configuration, sheet.profile.memory_unit_bytes
    told = printed.memory(device.usable_bytes, unit)
    if not device.held_back_bytes:
        return told
    held = {"held": printed.memory(device.held_back_bytes, unit)}
    return f"{told} ({Said('device.held_back', held).text()})"


def _shown(page: DevicePage) -> None:
    if page.shown is None:
        return
    written(page.shown, page.layers, page.arithmetic)
    if not page.arithmetic:
        return
    row = next(row for row in page.quants if row.quant.id == page.shown.id)
    _why(row)


def written(shown: Quant, layers: Sequence[LayerBytes], arithmetic: Sequence[Line]) -> None:
    """Bytes by layer group and the arithmetic of one quantization, on a device or here."""
    quant = {"quant": shown.label}
    if layers:
        heading(Said("device.layers", quant).text())
        print_fitting(estimate_tables.layers(layers))
    if arithmetic:
        heading(Said("device.arithmetic", quant).text())
        for line in arithmetic:
            paragraph(line.text())


def _why(row: QuantRow) -> None:
    """The tier and what its reasons mean."""
    estimate = row.estimate
    if estimate is None or estimate.tier is None:
        return
    heading(f"Tier {estimate.tier}")
    for reason in estimate.reasons:
        paragraph(f"{reasons.LABELS[reason.code]}: {reason.text()}")
