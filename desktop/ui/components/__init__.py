"""The few components that every page is composed of."""

from desktop.ui.components.banner import Action, Banner, Kind
from desktop.ui.components.buttons import PrimaryButton, QuietButton, as_primary, as_stop
from desktop.ui.components.card import Card, Facts
from desktop.ui.components.figure import Figure
from desktop.ui.components.inputs import MenuButton, SearchField, Tabs
from desktop.ui.components.layouts import column, fill_page, row, scrolled
from desktop.ui.components.progress import Progress
from desktop.ui.components.reading import Reading
from desktop.ui.components.records_table import Field, RecordsModel, RecordsTable
from desktop.ui.components.scale import Scale, Span, scale_over
from desktop.ui.components.table import Column, RowsModel, Table
from desktop.ui.components.text import Badge, Body, Heading, Muted, Subheading

__all__ = [
    "Action",
    "Badge",
    "Banner",
    "Body",
    "Card",
    "Column",
    "Facts",
    "Field",
    "Figure",
    "Heading",
    "Kind",
    "MenuButton",
    "Muted",
    "PrimaryButton",
    "Progress",
    "QuietButton",
    "Reading",
    "RecordsModel",
    "RecordsTable",
    "RowsModel",
    "Scale",
    "SearchField",
    "Span",
    "Subheading",
    "Table",
    "Tabs",
    "as_primary",
    "as_stop",
    "column",
    "fill_page",
    "row",
    "scale_over",
    "scrolled",
]
