"""How modelled watts are made, in the window's language, the table's own words too."""

from typing import Final

from PySide6.QtCore import QCoreApplication

from desktop.errors import Reason
from desktop.records.energy import MeterFacts
from desktop.ui.messages import QT_TRANSLATE_NOOP, sentence

_CONTEXT: Final = "PowerModel"
_TABLE: Final = ("row", "source")
"""Parameters whose texts are the table's."""
WORDS: Final = frozenset(
    {
        QT_TRANSLATE_NOOP("PowerModel", "server"),
        QT_TRANSLATE_NOOP("PowerModel", "desktop"),
        QT_TRANSLATE_NOOP("PowerModel", "laptop"),
        QT_TRANSLATE_NOOP("PowerModel", "apple"),
        QT_TRANSLATE_NOOP("PowerModel", "board"),
        QT_TRANSLATE_NOOP("PowerModel", "card"),
        QT_TRANSLATE_NOOP(
            "PowerModel",
            "Cloud Carbon Footprint, methodology: average of AWS's processors per vCPU, from "
            "SPECpower_ssj2008",
        ),
        QT_TRANSLATE_NOOP(
            "PowerModel",
            "AMD's specification of the Ryzen 7 9700X: 65 W, 8 cores; idle by the ratio of the "
            "server row",
        ),
        QT_TRANSLATE_NOOP(
            "PowerModel",
            "AMD's specification of the Ryzen 7 7840U: 28 W, 8 cores; idle by the ratio of the "
            "server row",
        ),
        QT_TRANSLATE_NOOP(
            "PowerModel",
            "Apple, Mac mini power consumption: M1 (8 cores) 6.8 W idle, 39 W maximum",
        ),
        QT_TRANSLATE_NOOP(
            "PowerModel",
            "Raspberry Pi Dramble, power consumption: Raspberry Pi 4 B 2.7 W idle, 6.4 W at full "
            "CPU load",
        ),
        QT_TRANSLATE_NOOP(
            "PowerModel",
            "Cloud Carbon Footprint, methodology, appendix III: T4, 8 W idle, 71 W at full load",
        ),
    }
)
"""The names of the table's rows, and what it says of their sources."""


def formulas(facts: MeterFacts) -> tuple[str, ...]:
    """How a meter's modelled watts are made, with the numbers used; none of a sensor."""
    return tuple(map(_formula, facts.formulas))


def _formula(reason: Reason) -> str:
    words = {
        n: QCoreApplication.translate(_CONTEXT, str(v))
        for n, v in reason.params.items()
        if n in _TABLE
    }
    return sentence(Reason(reason.code, {**reason.params, **words}))
