"""How cells are painted: a first line, and below it a quiet second one.

A range is a bar below its figures; what would be the second line stands quietly beside them.
"""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import (
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QFontMetrics, QGuiApplication, QPainter, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from desktop.ui.components.scale import Scale, Span
from desktop.ui.design import Size, Space, Type, font

_Index = QModelIndex | QPersistentModelIndex
_LEAST_PX: Final = 3
"""A bar is at least so wide: a narrow range is good news and must be seen."""


class CellDelegate(QStyledItemDelegate):
    """Paints what `RecordsModel` has; colours are the palette's, so light and dark follow."""

    def __init__(self, span_role: int, quiet_role: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.scale = Scale()
        self._span_role = span_role
        self._quiet_role = quiet_role

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """The ground as the style has it, then our lines."""
        # Qt's own preparation asks the model for eight things, of which only these are there
        opt = QStyleOptionViewItem(option)
        opt.displayAlignment = index.data(Qt.ItemDataRole.TextAlignmentRole)
        first, _, second = str(index.data() or "").partition("\n")
        style = opt.widget.style() if opt.widget else QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, opt, painter, opt.widget)
        painter.save()
        painter.setFont(opt.font)
        inner = opt.rect.adjusted(Space.S, Space.XS, -Space.S, -Space.XS)
        quiet = bool(index.data(self._quiet_role))
        span = index.data(self._span_role)
        if isinstance(span, Span):
            self._paint_range(painter, opt, inner, (first, second, span))
        else:
            _paint_lines(painter, opt, inner, (first, second), quiet=quiet)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: N802 - Qt's
        """As wide as the wider line."""
        lines = str(index.data() or "").split("\n")
        metrics = QFontMetrics(option.font)
        wide = max(metrics.horizontalAdvance(line) for line in lines)
        return QSize(wide + 2 * Space.S + Space.XS, option.rect.height())

    def _paint_range(
        self,
        painter: QPainter,
        opt: QStyleOptionViewItem,
        inner: QRect,
        cell: tuple[str, str, Span],
    ) -> None:
        text, beside, span = cell
        upper = QRect(inner.x(), inner.y(), inner.width(), inner.height() // 2 + Space.XS // 2)
        lower = QRectF(inner.x(), upper.bottom() + 1, inner.width(), Size.RANGE)
        _paint_text(painter, opt, upper, (text, opt.palette.color(QPalette.ColorRole.Text)))
        free = inner.width() - painter.fontMetrics().horizontalAdvance(text) - Space.S
        if beside and free > 0:
            right = QRect(inner.right() - free, upper.y(), free, upper.height())
            opt.displayAlignment = Qt.AlignmentFlag.AlignRight
            painter.setFont(font(Type.TINY))
            _paint_text(painter, opt, right, (beside, _muted()))
        paint_range(painter, opt.palette, lower, span, self.scale)


def paint_range(
    painter: QPainter, colours: QPalette, area: QRectF, span: Span, scale: Scale
) -> None:
    """A bar from low to high on a line with the decades, and an upright mark at the ceiling."""
    middle = area.center().y()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(colours.color(QPalette.ColorRole.Mid))
    painter.drawLine(QPointF(area.x(), middle), QPointF(area.right(), middle))
    for mark in scale.marks:
        x = _x(area, scale, mark)
        painter.fillRect(QRectF(x - 0.5, middle - 3, 1, 6), colours.color(QPalette.ColorRole.Mid))
    low, high = _x(area, scale, span.low), _x(area, scale, span.high)
    bar = QRectF(low, area.y(), max(_LEAST_PX, high - low), area.height())
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colours.color(QPalette.ColorRole.Accent))
    painter.drawRoundedRect(bar, 2, 2)
    if span.ceiling is not None:
        x = _x(area, scale, span.ceiling)
        mark_at = QRectF(x - 1, area.y() - 2, 2, area.height() + 4)
        painter.fillRect(mark_at, colours.color(QPalette.ColorRole.Text))


class RangeHeader(QHeaderView):
    """Writes a scale's decades above a column of ranges."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._scale = Scale()
        self._columns: frozenset[int] = frozenset()
        self.setSectionsClickable(True)

    def show_scale(self, scale: Scale, columns: Sequence[int]) -> None:
        """Write the decades of `scale` above these columns."""
        self._scale, self._columns = scale, frozenset(columns)
        self.viewport().update()

    def paintSection(  # noqa: N802 - Qt's name
        self,
        painter: QPainter,
        rect: QRect,
        logicalIndex: int,  # noqa: N803 - Qt's name
    ) -> None:
        """As any header, then the decades."""
        painter.save()
        super().paintSection(painter, rect, logicalIndex)
        painter.restore()
        if logicalIndex not in self._columns:
            return
        painter.save()
        painter.setFont(font(Type.TINY))
        painter.setPen(_muted())
        self._paint_marks(painter, QRectF(rect.adjusted(Space.S, 0, -Space.S, -Space.XS)))
        painter.restore()

    def _paint_marks(self, painter: QPainter, area: QRectF) -> None:
        metrics = painter.fontMetrics()
        base = area.bottom() - metrics.descent()
        free_from = area.x()
        for mark in self._scale.marks:
            text = f"{mark:,g}"
            wide = metrics.horizontalAdvance(text)
            x = _x(area, self._scale, mark) - wide / 2
            x = min(max(area.x(), x), area.right() - wide)
            if x >= free_from:
                painter.drawText(round(x), round(base), text)
                free_from = x + wide + Space.S


def _paint_lines(
    painter: QPainter,
    opt: QStyleOptionViewItem,
    inner: QRect,
    lines: tuple[str, str],
    *,
    quiet: bool,
) -> None:
    first, second = lines
    strong = _muted() if quiet else opt.palette.color(QPalette.ColorRole.Text)
    if not second:
        _paint_text(painter, opt, inner, (first, strong))
        return
    half = inner.height() // 2
    upper = QRect(inner.x(), inner.y(), inner.width(), half)
    _paint_text(painter, opt, upper, (first, strong))
    _paint_text(painter, opt, upper.translated(0, half), (second, _muted()))


def _paint_text(
    painter: QPainter, opt: QStyleOptionViewItem, area: QRect, words: tuple[str, QColor]
) -> None:
    text, colour = words
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, area.width())
    painter.setPen(colour)
    flags = (opt.displayAlignment & Qt.AlignmentFlag.AlignHorizontal_Mask) | (
        Qt.AlignmentFlag.AlignVCenter
    )
    painter.drawText(area, int(flags), shown)


def _muted() -> QColor:
    """The application's: style rules give widgets another one, too faint to read."""
    return QGuiApplication.palette().color(QPalette.ColorRole.PlaceholderText)


def _x(area: QRectF, scale: Scale, value: float) -> float:
    return area.x() + area.width() * scale.at(value)
