"""The icons: our own SVG files, drawn with QtSvg so that no image plug-in is needed."""

from functools import cache
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from desktop import resources

APP: Final = "gram"
IDLE: Final = "tray-idle"
WORKING: Final = "tray-working"
FAILED: Final = "tray-error"

_SIZES_PX: Final = (16, 22, 24, 32, 48, 64, 128, 256)


@cache
def _renderer(name: str) -> QSvgRenderer:
    return QSvgRenderer(str(resources.path(f"icons/{name}.svg")))


def pixmap(name: str, size_px: int, ratio: float = 1.0) -> QPixmap:
    """The icon at `size_px` device-independent pixels on a screen of `ratio`.

    Raises:
        FileNotFoundError: no such icon is shipped.
    """
    made = QPixmap(round(size_px * ratio), round(size_px * ratio))
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    _renderer(name).render(painter)
    painter.end()
    made.setDevicePixelRatio(ratio)
    return made


def icon(name: str) -> QIcon:
    """The icon in the sizes that window managers and trays ask for.

    Raises:
        FileNotFoundError: no such icon is shipped.
    """
    made = QIcon()
    for size_px in _SIZES_PX:
        made.addPixmap(pixmap(name, size_px))
    return made
