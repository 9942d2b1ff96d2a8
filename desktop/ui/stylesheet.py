"""The style rules as a template; `design.stylesheet` fills in measures and colours.

Fonts are not set here: `design.font` does that, because style rules cannot ask for figures of
equal width. Borders are always there and only change colour, so that focus moves nothing.
"""

from string import Template
from typing import Final

TEMPLATE: Final = Template("""
QMainWindow, #content, #page { background: $window; }
#rail { background: $rail; border: none; border-right: 1px solid $border; }
QScrollArea, #scrolled { background: transparent; border: none; }
QLabel { color: $text; background: transparent; }
QLabel[role="muted"] { color: $muted; }
QLabel[role="badge"] {
    color: $accent; background: $tint; border-radius: ${radius}px; padding: 3px ${s}px;
}
QLabel[role="badge-quiet"] {
    color: $muted; background: $hover; border-radius: ${radius}px; padding: 3px ${s}px;
}
QFrame[role="card"] {
    background: $card; border: 1px solid $border; border-radius: ${card_radius}px;
}
QFrame[role="line"] { background: $border; border: none; max-height: 1px; min-height: 1px; }

QPushButton {
    color: $text; background: $card; border: 2px solid $border; border-radius: ${radius}px;
    padding: 5px ${m}px;
}
QPushButton:hover { background: $hover; }
QPushButton:pressed { background: $border; }
QPushButton:focus { border-color: $accent; }
QPushButton:disabled { color: $disabled; background: $window; }
QPushButton[role="primary"] {
    color: $on_accent; background: $accent; border-color: $accent; padding: 9px 22px;
}
QPushButton[role="primary"]:hover { background: $accent_hover; border-color: $accent_hover; }
QPushButton[role="primary"]:pressed { background: $accent; }
QPushButton[role="primary"]:focus { border-color: $text; }
QPushButton[role="primary"]:disabled {
    color: $disabled; background: $hover; border-color: $hover;
}
QPushButton[role="stop"] {
    color: $text; background: $card; border-color: $muted; padding: 9px 22px;
}
QPushButton[role="stop"]:hover { background: $hover; }
QPushButton[role="stop"]:focus { border-color: $accent; }
QPushButton[role="stop"]:disabled { color: $disabled; border-color: $border; }
QPushButton[role="nav"] {
    color: $muted; background: transparent; border-color: transparent; text-align: left;
    padding: 7px ${m}px;
}
QPushButton[role="nav"]:hover { color: $text; background: $hover; }
QPushButton[role="nav"]:checked { color: $text; background: $tint; }
QPushButton[role="nav"]:focus { border-color: $accent; }

QPushButton[role="menu"] { padding: 5px ${s}px; }
QPushButton[role="menu"]::menu-indicator { image: none; width: 0; }
QPushButton[role="link"] {
    color: $accent; background: transparent; border-color: transparent; text-align: left;
    padding: 3px ${xs}px;
}
QPushButton[role="link"]:hover { background: $hover; }
QPushButton[role="link"]:focus { border-color: $accent; }

QLineEdit {
    color: $text; background: $card; border: 2px solid $border; border-radius: ${radius}px;
    padding: 4px ${s}px; selection-background-color: $accent; selection-color: $on_accent;
}
QLineEdit:focus { border-color: $accent; }
QPlainTextEdit {
    color: $text; background: transparent; border: 2px solid transparent;
    border-radius: ${radius}px;
    selection-background-color: $accent; selection-color: $on_accent;
}
QPlainTextEdit:focus { border-color: $accent; }

QSlider { min-height: 28px; }
QSlider::groove:horizontal { background: $border; height: 4px; border-radius: 2px; }
QSlider::sub-page:horizontal { background: $accent; border-radius: 2px; }
QSlider::handle:horizontal {
    background: $card; border: 3px solid $accent; width: 12px; height: 12px; margin: -7px 0;
    border-radius: 9px;
}
QSlider::handle:horizontal:hover { background: $tint; }
QSlider::handle:horizontal:focus { background: $accent; border-color: $text; }
QSlider::handle:horizontal:disabled { border-color: $disabled; }

QTabBar { background: transparent; border: none; }
QTabBar::tab {
    color: $muted; background: transparent; border: 2px solid transparent;
    border-radius: ${radius}px; padding: 6px ${m}px; margin-right: ${xs}px;
}
QTabBar::tab:hover { color: $text; background: $hover; }
QTabBar::tab:selected { color: $text; background: $tint; }
QTabBar::tab:focus { border-color: $accent; }

QFrame[role="banner-info"] { background: $info_ground; border-radius: ${card_radius}px; }
QFrame[role="banner-info"] QLabel { color: $info; }
QFrame[role="banner-warn"] { background: $warn_ground; border-radius: ${card_radius}px; }
QFrame[role="banner-warn"] QLabel { color: $warn; }
QFrame[role="banner-error"] { background: $error_ground; border-radius: ${card_radius}px; }
QFrame[role="banner-error"] QLabel { color: $error; }

QProgressBar {
    background: $hover; border: none; border-radius: ${xs}px;
    min-height: ${bar}px; max-height: ${bar}px;
}
QProgressBar::chunk { background: $accent; border-radius: ${xs}px; }

QTableView {
    color: $text; background: $card; alternate-background-color: $card; gridline-color: $border;
    border: 2px solid $border; border-radius: ${card_radius}px; outline: none;
    selection-background-color: $tint; selection-color: $text;
}
QTableView:focus { border-color: $accent; }
QTableView::item { padding: 0 ${s}px; border: none; border-bottom: 1px solid $border; }
QTableView::item:selected { color: $text; background: $tint; }
QHeaderView { background: transparent; border: none; }
QHeaderView::section {
    color: $muted; background: $card; border: none; border-bottom: 1px solid $border;
    padding: ${s}px;
}
QHeaderView::section:first { border-top-left-radius: 10px; }
QHeaderView::section:last { border-top-right-radius: 10px; }

QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: $border; border-radius: ${xs}px; margin: 1px; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; }
QScrollBar::handle:hover { background: $disabled; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QToolTip { color: $text; background: $card; border: 1px solid $border; padding: ${xs}px; }
QMenu { color: $text; background: $card; border: 1px solid $border; padding: ${xs}px; }
QMenu::item { padding: 6px ${l}px; border-radius: ${xs}px; }
QMenu::item:selected { background: $tint; }
QMenu::item:disabled { color: $disabled; }
""")
