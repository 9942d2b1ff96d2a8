"""Which build will be measured, or was."""

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from desktop.records.build import Build
from desktop.records.request import REFERENCE
from desktop.rules.titles import build_title
from desktop.ui import format as fmt
from desktop.ui.components import Badge, Card, Facts, Muted, QuietButton
from desktop.ui.design import Space


class BuildCard(Card):
    """The reference build unless a file is chosen; `wanted` goes into the request."""

    chosen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self.setAccessibleName(self.tr("Build"))
        self.wanted = REFERENCE
        self.called: str | None = None
        self.body.setSpacing(Space.S)
        self.body.insertWidget(0, Muted(self.tr("Build")))
        self._labels = (self.tr("Name"), self.tr("Quantization"), self.tr("Size"))
        self._badge = Badge(self.tr("synthetic"), quiet=True)
        self.words = Muted()
        self.facts = Facts(*self._labels)
        self._choose = QuietButton(self.tr("Choose a file …"))
        self._back = QuietButton(self.tr("Use the reference build"))
        self._choose.clicked.connect(self._open_dialog)
        self._back.clicked.connect(self.use_reference)
        self.body.addWidget(self._badge)
        self.body.addWidget(self.words)
        self.body.addWidget(self.facts)
        self.body.addWidget(self._choose)
        self.body.addWidget(self._back)
        self.use_reference()

    def use_reference(self) -> None:
        """Measure the build that every machine measures."""
        self.wanted, self.called = REFERENCE, None
        self._forget(
            self.tr("Reference build"),
            self.tr("A small model that every machine measures, so that machines compare."),
        )

    def use_file(self, path: Path) -> None:
        """Measure the GGUF file at `path`; only its name is shown."""
        self._use(str(path), path.stem)

    def use_build(self, build: str, name: str) -> None:
        """Measure a build that is here, as a request names it; `name` is shown."""
        self._use(build, name, called=name)

    def _use(self, build: str, name: str, called: str | None = None) -> None:
        self.wanted, self.called = build, called
        self._forget(
            fmt.breakable(name), self.tr("Its header is read when the measurement starts.")
        )

    def show_build(self, build: Build) -> None:
        """Show what the run found in the build."""
        self.title.setText(fmt.breakable(build_title(build)))
        self._badge.setVisible(build.synthetic)
        self.words.hide()
        self.facts.show()
        values = (fmt.breakable(build.name), build.quantization, fmt.size(build.size_bytes))
        for label, value in zip(self._labels, values, strict=True):
            self.facts.show_value(label, value)

    def set_busy(self, *, busy: bool) -> None:
        """The build of a run that goes on cannot be changed."""
        self._choose.setEnabled(not busy)
        self._back.setEnabled(not busy)

    def _forget(self, title: str, words: str) -> None:
        self.title.setText(title)
        self.words.setText(words)
        self.words.show()
        self.facts.hide()
        self._badge.hide()
        self._back.setVisible(self.wanted != REFERENCE)
        self.chosen.emit()

    def _open_dialog(self) -> None:
        # shown, not executed: a nested event loop would outlive a window that closes
        dialog = QFileDialog(self, self.tr("Choose a build"), "", self.tr("GGUF files (*.gguf)"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self._file_chosen)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _file_chosen(self, path: str) -> None:
        self.use_file(Path(path))
