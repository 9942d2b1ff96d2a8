"""Memory of a card that nobody may count on: a driver and a display take it before a model does.

One rule for the catalogue's devices and for this machine (`resources/estimate/held_back.csv`).
"""

from dataclasses import dataclass, replace
from typing import Final

from desktop.estimate import printed
from desktop.estimate.page_words import Said
from desktop.records.estimate import Configuration
from desktop.rules.table_rows import Row, chosen, damaged, filled, number, read_table

RESOURCE: Final = "estimate/held_back.csv"
COLUMNS: Final = ("memory", "least_mib", "share", "tight_share", "source")
_OWN: Final = ("own",)
"""Devices with memory of their own."""
_MOST_MIB: Final = 1 << 20
_MOST_SHARE: Final = 0.5
"""Who holds back more leaves no device to use."""
_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class HeldBack:
    """The rule for devices with memory of their own."""

    least_bytes: int
    """Held back of any such device."""
    share: float
    """Of its memory, where that is more."""
    tight_share: float
    """Of what can be used: what leaves less than this free is called tight."""

    def of_memory(self, memory_bytes: int) -> int:
        """Bytes held back of a card that has so many; never more than it has."""
        return min(memory_bytes, max(self.least_bytes, round(self.share * memory_bytes)))

    def is_tight(self, need_bytes: int, usable_bytes: int) -> bool:
        """Whether what fits leaves little free."""
        return usable_bytes - need_bytes < self.tight_share * usable_bytes

    def words(self, unit_bytes: int) -> Said:
        """The rule in one sentence; shares in percent."""
        told = {
            "share": f"{100 * self.share:g}",
            "least": printed.memory(self.least_bytes, unit_bytes),
            "tight": f"{100 * self.tight_share:g}",
        }
        return Said("ranked.note.held_back", told)

    def applied(self, configuration: Configuration) -> Configuration:
        """The device with that less to use; memory that is shared has its usable share already.

        Cards whose usable share holds back more keep it.
        """
        if configuration.shared_memory or configuration.device_class.startswith("cpu-"):
            return configuration
        memory = configuration.memory_bytes
        held = max(self.of_memory(memory), memory - configuration.usable_bytes)
        return replace(configuration, usable_bytes=memory - held, held_back_bytes=held)


def read_held_back(text: str) -> HeldBack:
    """The rule of a table as `resources/estimate/held_back.csv`.

    Raises:
        GramError: `resource_damaged`: not one row, or a figure is missing or out of range.
    """
    rules = read_table(RESOURCE, text, COLUMNS, lambda row: (_rule(row),))
    if len(rules) != 1:
        raise damaged(RESOURCE, 1, f"{len(rules)} rows, not one")
    return rules[0]


def _rule(row: Row) -> HeldBack:
    chosen(row, "memory", _OWN)
    filled(row, "source")
    least = number("least_mib", row["least_mib"], most=_MOST_MIB)
    return HeldBack(
        least_bytes=round(least * _MIB),
        share=number("share", row["share"], most=_MOST_SHARE),
        tight_share=number("tight_share", row["tight_share"], most=_MOST_SHARE),
    )
