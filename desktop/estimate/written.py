"""The arithmetic of an estimate, written out so that a pocket calculator can follow it.

Each line is an expression of plain numbers and what it comes to. Lines use the results of lines
above as these are printed.
"""

from desktop.estimate.assess import work_of
from desktop.estimate.ranking import Option
from desktop.estimate.sheet import Sheet
from desktop.estimate.written_line import Line
from desktop.estimate.written_memory import cache_lines, need_lines, usable_lines
from desktop.estimate.written_speed import speed_lines
from desktop.estimate.written_weights import weight_lines
from desktop.records.estimate import Configuration, Speed


def arithmetic(
    sheet: Sheet, configuration: Configuration, option: Option, speed: Speed | None
) -> tuple[Line, ...]:
    """Weights, cache, memory, and with `speed` the range and its ceiling.

    Args:
        sheet: the model at one depth.
        configuration: one device.
        option: one quantization on it.
        speed: its decode range; None where it has none.
    """
    bytes_lines = (
        *weight_lines(sheet.model, option.quant, option.weights),
        *cache_lines(sheet),
        *need_lines(sheet, option),
        *usable_lines(configuration, sheet.profile.memory_unit_bytes),
    )
    if speed is None:
        return bytes_lines
    work = work_of(sheet, configuration, option)
    with_cache = sheet.profile.ceiling_with_cache
    return (*bytes_lines, *speed_lines((work,), speed, ceiling_with_cache=with_cache))
