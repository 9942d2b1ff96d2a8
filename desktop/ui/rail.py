"""The slim navigation at the window's left."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from desktop.ui import icons
from desktop.ui.components import Muted, Subheading, row
from desktop.ui.design import Size, Space, Type, font


class Rail(QFrame):
    """The app's mark and one button for each page; `picked` carries the page's number."""

    picked = Signal(int)

    def __init__(self, pages: tuple[str, ...], version: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("rail")
        self._group = QButtonGroup(self)
        self._group.idClicked.connect(self.picked)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(Space.M, Space.XL, Space.M, Space.L)
        layout.setSpacing(Space.XS)
        layout.addLayout(self._brand())
        layout.addSpacing(Space.XL)
        for number, name in enumerate(pages):
            layout.addWidget(self._button(number, name))
        layout.addStretch(1)
        layout.addWidget(Muted(version))
        # wider where the system's text is larger
        wanted = max(button.sizeHint().width() for button in self._group.buttons())
        self.setFixedWidth(max(Size.RAIL, wanted + 2 * Space.M + 1))

    def show_page(self, number: int) -> None:
        """Mark the page that is shown."""
        self._group.button(number).setChecked(True)

    def _brand(self) -> QHBoxLayout:
        mark = QLabel()
        mark.setPixmap(icons.pixmap(icons.APP, Size.MARK, self.devicePixelRatioF()))
        mark.setFixedWidth(Size.MARK)
        name = Subheading(self.tr("Gram"))
        brand = row(mark, name, gap=Space.S)
        brand.setContentsMargins(Space.S, 0, 0, 0)
        return brand

    def _button(self, number: int, name: str) -> QPushButton:
        button = QPushButton(name)
        button.setCheckable(True)
        button.setProperty("role", "nav")
        button.setFont(font(Type.BODY, strong=True))
        button.setAccessibleName(name)
        button.setToolTip(self.tr("Ctrl+{number}").format(number=number + 1))
        self._group.addButton(button, number)
        return button
