"""Every card that can compute: what it is, its memory, and what the engine may use of it."""

from PySide6.QtWidgets import QWidget

from desktop.records.machine import Accelerator
from desktop.ui import format as fmt
from desktop.ui.components import Body, Card, Column, Muted, RowsModel, Table


class AcceleratorsCard(Card):
    """A table with a row for each card; a sentence where there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Cards"), parent)
        self.none = Body("")
        self.model = RowsModel(self._columns(), self)
        self.table = Table(self.model, self.tr("Cards"))
        self.note = Muted()
        for part in (self.none, self.table, self.note):
            self.body.addWidget(part)
        self.show_cards(())

    def show_cards(
        self, cards: tuple[Accelerator, ...], *, listed: bool = False, unknown: bool = False
    ) -> None:
        """Show them, in the order given.

        Args:
            cards: all that are known.
            listed: the engine was asked for its list.
            unknown: there may be others, which could not be looked for.
        """
        self.model.replace([self._texts(card) for card in cards])
        self.table.fit_rows()
        self.table.setVisible(bool(cards))
        self.none.setVisible(not cards or unknown)
        self.none.setText(self._sentence(unknown=unknown))
        unused = [card.name for card in cards if listed and not card.backends]
        words = self.tr("The engine that is installed does not list: {names}.")
        self.note.setText(words.format(names=", ".join(unused)))
        self.note.setVisible(bool(unused))

    def _sentence(self, *, unknown: bool) -> str:
        if unknown:
            return self.tr("The search for cards gave no answer: there may be some, or others.")
        return self.tr("No card that computes was found: the processor runs everything.")

    def _columns(self) -> tuple[Column, ...]:
        return (
            Column(self.tr("Card"), stretch=True),
            Column(self.tr("Kind")),
            Column(self.tr("Usable\nmemory"), numeric=True),
            Column(self.tr("Own\nmemory"), numeric=True),
            Column(self.tr("Shared\nat most"), numeric=True),
            Column(self.tr("Driver")),
            Column(self.tr("Backend")),
            Column(self.tr("PCI address")),
        )

    def _texts(self, card: Accelerator) -> tuple[str, ...]:
        cores = self.tr(" ({count} cores)").format(count=card.gpu_cores) if card.gpu_cores else ""
        return (
            f"{card.name}{cores}",
            self._kind(card),
            fmt.or_dash(card.memory_bytes, fmt.memory),
            fmt.or_dash(card.dedicated_bytes, fmt.memory),
            fmt.or_dash(card.shared_bytes, fmt.memory),
            card.driver or fmt.DASH,
            ", ".join(card.backends or ()) or fmt.DASH,
            card.pci_address or fmt.DASH,
        )

    def _kind(self, card: Accelerator) -> str:
        if card.integrated:
            return self.tr("integrated")
        return self.tr("external") if card.external else self.tr("discrete")
