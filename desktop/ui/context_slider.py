"""The context that estimates are for: a slider with logarithmic stops, and its value in words."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QCoreApplication, QLocale, QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSlider, QWidget

from desktop.records.fits import FitsRequest
from desktop.ui.components import Muted
from desktop.ui.design import Space, wide

STOPS: Final = tuple(2**exponent for exponent in range(9, 21))
"""512 to 1,048,576 tokens."""
USUAL: Final = 4096
"""What it begins with: a long conversation, and no more memory than that takes."""
_TRACK: Final = 20
_LEAST_TRACK: Final = 8
"""Figures that the slider is wide; the words at its left take what they need."""


def full_context(tokens: int) -> FitsRequest:
    """Every model, with the rates when that context is full: what a person must reckon with."""
    return FitsRequest(context=tokens, depth=tokens - 1, every_model=True)


def is_usual(request: FitsRequest) -> bool:
    """Whether it is for every model with the context that is usual."""
    return request.context == USUAL and request.every_model and not request.all_builds


class _Track(QSlider):
    """As long as its stops ask for; shorter where text is large."""

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Room for each stop."""
        return QSize(wide(_TRACK), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Still to be hit with a pointer."""
        return QSize(wide(_LEAST_TRACK), super().minimumSizeHint().height())


class ContextSlider(QWidget):
    """Arrows, Page Up and Down, Home and End move it; `changed` carries the tokens at once."""

    changed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stops: tuple[int, ...] = STOPS
        self.slider = _Track(Qt.Orientation.Horizontal)
        self.slider.setPageStep(1)
        self.words = Muted()
        self.words.setWordWrap(False)
        self.words.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.M)
        layout.addWidget(self.words)
        layout.addWidget(self.slider, 1)
        self.slider.valueChanged.connect(self._moved)
        self.use_stops(STOPS, USUAL)

    @property
    def tokens(self) -> int:
        """The context that is chosen."""
        return self._stops[self.slider.value()]

    def use_stops(self, stops: Sequence[int], tokens: int) -> None:
        """Offer these contexts and stand at `tokens`, or at the last before it; nothing is told."""
        self._stops = tuple(stops)
        at = max((i for i, stop in enumerate(self._stops) if stop <= tokens), default=0)
        self.slider.blockSignals(True)
        self.slider.setRange(0, len(self._stops) - 1)
        self.slider.setValue(at)
        self.slider.blockSignals(False)
        self._show()

    def choose(self, tokens: int) -> None:
        """Move to `tokens`, as a person does.

        Raises:
            ValueError: there is no such stop.
        """
        self.slider.setValue(self._stops.index(tokens))

    def _moved(self, _: int) -> None:
        self._show()
        self.changed.emit(self.tokens)

    def _show(self) -> None:
        said = self.tr("Context {tokens}").format(tokens=tokens_in_words(self.tokens))
        self.words.setText(said)
        # the slider's own value is the number of a stop, which tells nobody anything
        self.slider.setAccessibleName(said)
        self.slider.setToolTip(said)


def stops_up_to(trained: int | None) -> tuple[int, ...]:
    """The stops that a model takes, and its whole context as the last."""
    if trained is None:
        return STOPS
    return (*(stop for stop in STOPS if stop < trained), trained)


def tokens_in_words(tokens: int) -> str:
    """`4,096 tokens`."""
    words = QCoreApplication.translate("Context", "1 token")
    if tokens != 1:
        words = QCoreApplication.translate("Context", "{count} tokens")
    return words.format(count=QLocale().toString(tokens))
