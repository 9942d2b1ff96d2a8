"""The first part of a model's page: where to start, its architecture, reasons, sources, others."""

from collections.abc import Iterable, Iterator, Sequence

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLayout, QPushButton, QVBoxLayout, QWidget

from desktop.estimate import printed
from desktop.estimate.facts import Fact, facts_of
from desktop.estimate.page import ModelPage
from desktop.estimate.start_words import start_lines
from desktop.records.model import Model
from desktop.ui import estimate_words as ew
from desktop.ui import format as fmt
from desktop.ui.components import Body, Card, Facts, Muted, QuietButton, column, row, scrolled
from desktop.ui.design import Space, Type, font, wide
from desktop.ui.reasons_pane import reason_lines

_TERMINAL = "start.hint"
_TWO_COLUMNS = 80
"""Figures that the part is wide, from which on two columns stand side by side."""


class EstimateOverview(QWidget):
    """Cards in two columns; all of it is text that can be read and selected."""

    model_asked = Signal(object)
    """Another `Model`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.start = Card(ew.words("start.heading"))
        self.facts = Card(ew.words("facts.heading"))
        self.reasons = Card(ew.words("reasons.heading"))
        self.sources = Card(ew.words("sources.heading"))
        self.related = Card(ew.words("related.heading"))
        self._bodies: dict[Card, QVBoxLayout] = {}
        for card in (self.start, self.facts, self.reasons, self.sources, self.related):
            self._bodies[card] = column(gap=Space.S)
            card.body.addLayout(self._bodies[card])
            card.body.addStretch(1)
        self._lay_out()

    def show_page(self, page: ModelPage) -> None:
        """Show the words of one page."""
        self._fill(self.start, _texts(start_words(page)))
        self._fill(self.facts, (_facts(page.model), Muted(ew.words("facts.note"))))
        self._fill(self.reasons, _texts((*reason_lines(page.meanings), *reason_notes(page))))
        self.reasons.setVisible(bool(page.meanings))
        self._fill(self.sources, _sources(page.model))
        self._fill(self.related, self._others(page.related))
        self.related.setVisible(bool(page.related))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """One column where two would be narrow."""
        super().resizeEvent(event)
        narrow = self.width() < wide(_TWO_COLUMNS)
        direction = QBoxLayout.Direction
        self._columns.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)

    def _others(self, models: Sequence[Model]) -> Iterator[QWidget]:
        yield Muted(ew.words("related.note"))
        for model in models:
            size = printed.parameters(model.parameters)
            button = QPushButton(f"{model.name} \N{MIDDLE DOT} {size}")
            button.setProperty("role", "link")
            button.setFont(font(Type.SMALL))
            button.setAutoDefault(True)
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.clicked.connect(lambda _checked, to=model: self.model_asked.emit(to))
            yield button

    def _fill(self, card: Card, widgets: Iterable[QWidget]) -> None:
        body = self._bodies[card]
        _empty(body)
        for widget in widgets:
            body.addWidget(widget)

    def _lay_out(self) -> None:
        main = QWidget()
        left = column(self.start, self.facts)
        right = column(self.reasons, self.sources, self.related)
        left.addStretch(1)
        right.addStretch(1)
        self._columns = row(gap=Space.L)
        self._columns.addLayout(left, 1)
        self._columns.addLayout(right, 1)
        main.setLayout(self._columns)
        outer = column(gap=0)
        self.area = scrolled(main, self.tr("Overview"))
        outer.addWidget(self.area)
        self.setLayout(outer)


def start_words(page: ModelPage) -> Iterator[str]:
    """The smallest device that runs it, and the cheapest for each rate."""
    for line in start_lines(page, ew.quality):
        # the terminal's options are the slider and the table here
        yield " ".join(ew.said(said) for said in line if said.code != _TERMINAL)


def reason_notes(page: ModelPage) -> tuple[str, ...]:
    """For what a tier is decided, and what the page's tier stands for."""
    return (ew.words("reasons.note"), ew.tier(page.profile))


def _facts(model: Model) -> QWidget:
    """Equal names (several layer groups) share one row, a line for each."""
    lines: dict[str, list[Fact]] = {}
    for fact in facts_of(model):
        lines.setdefault(fact.name, []).append(fact)
    names = {code: ew.words(code) for code in lines}
    shown = Facts(*names.values())
    for code, facts in lines.items():
        shown.show_value(names[code], "\n".join(ew.joined(fact.value) for fact in facts))
    return shown


def _sources(model: Model) -> Iterator[QWidget]:
    yield Muted(ew.words("sources.note"))
    yield _selectable(f"{ew.words('sources.record')}: {model.id}")
    for source in model.sources:
        text = _selectable(fmt.breakable(source))
        if not source.startswith("https://"):
            yield text
            continue
        line = QWidget()
        button = QuietButton(line.tr("Open"))
        button.setAccessibleName(line.tr("Open {address}").format(address=source))
        button.clicked.connect(lambda _checked, to=source: QDesktopServices.openUrl(QUrl(to)))
        layout = row(text, button, gap=Space.S)
        layout.setStretch(0, 1)
        line.setLayout(layout)
        yield line


def _texts(lines: Iterable[str]) -> Iterator[QWidget]:
    return map(_selectable, lines)


def _selectable(text: str) -> Body:
    body = Body(text)
    body.setFont(font(Type.SMALL))
    body.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return body


def _empty(layout: QLayout) -> None:
    while (item := layout.takeAt(0)) is not None:
        if (old := item.widget()) is not None:
            old.hide()
            old.deleteLater()
