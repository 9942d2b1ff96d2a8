"""The result of the last run."""

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from desktop.records.cost import Costs
from desktop.records.events import RunFinished
from desktop.records.run import Rate
from desktop.rules.titles import build_title
from desktop.ui import cost_words, messages
from desktop.ui import format as fmt
from desktop.ui import result_words as words
from desktop.ui.components import Badge, Card, Facts, Figure, Muted, QuietButton, row
from desktop.ui.design import Space
from desktop.ui.power_words import formulas


class ResultCard(Card):
    """Hidden until there is a result; never hidden again by an error."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self.setAccessibleName(self.tr("Result"))
        self._id: str | None = None
        self.badge = Badge()
        self._copy = QuietButton(self.tr("Copy id"))
        self._copy.clicked.connect(self._copy_id)
        self.head.addWidget(self.badge)
        self.head.addWidget(self._copy)
        self.generation = Figure(self.tr("Generation"), "tok/s")
        self.prompt = Figure(self.tr("Prompt"), "tok/s")
        self.energy = Figure(self.tr("Energy"), self.tr("J/token"))
        self._labels = (
            self.tr("Peak"),
            self.tr("Memory held"),
            self.tr("Process peak"),
            self.tr("Engine"),
            self.tr("Measured"),
        )
        self._price, self._carbon = self.tr("Price"), self.tr("Carbon")
        self.facts = Facts(*self._labels, self._price, self._carbon)
        self.notes = Muted()
        self.modelled = Muted()
        self._lay_out()
        self.hide()

    def show_result(self, event: RunFinished) -> None:
        """Show the run and whether it is signed."""
        run = event.run
        self.title.setText(fmt.breakable(build_title(run.build)))
        self._show_signature(event)
        self._show_rate(self.generation, words.generation(run))
        self._show_rate(self.prompt, words.prompt(run))
        self._show_energy(event)
        values = (
            words.peaks(run),
            words.memory(run.memory),
            words.process_memory(run.memory),
            words.engine(run),
            fmt.date(run.started_at),
        )
        for label, value in zip(self._labels, values, strict=True):
            self.facts.show_value(label, value)
        for label in (self._price, self._carbon):
            self.facts.show_value(label, None)
        self.notes.setText("\n".join(f"• {messages.run_note(code, run)}" for code in run.notes))
        self.notes.setVisible(bool(run.notes))
        self.show()

    def show_costs(self, costs: Costs) -> None:
        """Show what is derived from the run: price and carbon."""
        self.facts.show_value(self._price, cost_words.price(costs))
        self.facts.show_value(self._carbon, cost_words.carbon(costs))

    def _show_signature(self, event: RunFinished) -> None:
        self._id = event.statement_id
        self._copy.setVisible(event.statement_id is not None)
        if event.key_id is None:
            self.badge.show_text(self.tr("not signed"), quiet=True)
        else:
            text = self.tr("signed {key}").format(key=fmt.short_key(event.key_id))
            self.badge.show_text(text, quiet=False)

    def _show_rate(self, figure: Figure, rate: Rate | None) -> None:
        if rate is None:
            figure.show_value(None, self.tr("not measured"))
        else:
            figure.show_value(fmt.number(rate.median_tok_s), words.trust(rate))

    def _show_energy(self, event: RunFinished) -> None:
        found = words.energy_per_token(event.run)
        self.modelled.setVisible(found is not None and bool(found[1].meter.formulas))
        if found is None:
            self.energy.show_value(None, self.tr("no meter"))
        else:
            per_token_j, energy = found
            self.modelled.setText("\n".join(formulas(energy.meter)))
            self.energy.show_value(fmt.number(per_token_j), words.energy_source(energy))

    def _copy_id(self) -> None:
        if self._id:
            QGuiApplication.clipboard().setText(self._id)

    def _lay_out(self) -> None:
        figures = row(self.generation, self.prompt, self.energy, gap=Space.XL)
        for at in range(figures.count()):
            figures.setStretch(at, 1)
        self.body.addLayout(figures)
        self.body.addWidget(self.facts)
        self.body.addWidget(self.notes)
        self.body.addWidget(self.modelled)
        explained = self.tr(
            "Speeds are medians of the repetitions; ± is half the width of the "
            "median's 95 % interval."
        )
        self.body.addWidget(Muted(explained))
