"""The design system: spacing, type, radii, and colours for light and dark. The only place for them.

Components and pages take every measure and colour from here, so that one look holds everywhere.
"""

from enum import StrEnum
from typing import Final, NamedTuple

from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetrics, QGuiApplication, QPalette

from desktop.ui.stylesheet import TEMPLATE


class Space:
    """Distances in device-independent pixels: a scale of four."""

    XS: Final = 4
    S: Final = 8
    M: Final = 12
    L: Final = 16
    XL: Final = 24
    XXL: Final = 32


class Radius:
    """Corner radii in device-independent pixels."""

    SMALL: Final = 6
    CARD: Final = 12


class Size:
    """Fixed sizes in device-independent pixels."""

    WINDOW_MIN: Final = (1024, 640)
    WINDOW: Final = (1280, 800)
    RAIL: Final = 168
    SIDE: Final = 304
    BAR: Final = 8
    GRAPH_MIN: Final = 240
    MARK: Final = 28
    RANGE: Final = 8


class Type(StrEnum):
    """The type scale."""

    TINY = "tiny"
    """Marks of a scale, and what is said beside a figure."""
    SMALL = "small"
    BODY = "body"
    SUBHEADING = "subheading"
    HEADING = "heading"
    FIGURE = "figure"


_RATIO: Final = {
    Type.TINY: 0.79,
    Type.SMALL: 0.93,
    Type.BODY: 1.0,
    Type.SUBHEADING: 1.14,
    Type.HEADING: 1.5,
    Type.FIGURE: 2.15,
}
# Windows' 12 px is too small for a page of numbers; larger system fonts are followed
_BASE_MIN_PX: Final = 14


class Scheme(StrEnum):
    """The two looks."""

    LIGHT = "light"
    DARK = "dark"


# a named tuple, as in errors and paths: making a dataclass takes a millisecond and importing the
# module three, which the first paint would wait for
class Colours(NamedTuple):
    """One scheme's colours as `#rrggbb`. Text on its ground is at least 4.5:1 (`TEXT_PAIRS`)."""

    window: str
    rail: str
    card: str
    hover: str
    border: str
    text: str
    muted: str
    accent: str
    accent_hover: str
    on_accent: str
    tint: str
    """A quiet ground in the accent's colour: selections, badges."""
    disabled: str
    info_ground: str
    info: str
    warn_ground: str
    warn: str
    error_ground: str
    error: str
    generation: str
    prompt: str
    power: str


TEXT_PAIRS: Final = (
    *((text, ground) for text in ("text", "muted") for ground in ("window", "rail", "card")),
    ("text", "hover"),
    ("muted", "hover"),
    ("text", "tint"),
    ("accent", "card"),
    ("accent", "tint"),
    ("on_accent", "accent"),
    ("on_accent", "accent_hover"),
    *((kind, f"{kind}_ground") for kind in ("info", "warn", "error")),
    *((series, "card") for series in ("generation", "prompt", "power")),
)
"""Every pair of text and ground that the window shows, as names of `Colours`."""

COLOURS: Final = {
    Scheme.LIGHT: Colours(
        window="#f5f7f8",
        rail="#ecf0f2",
        card="#ffffff",
        hover="#e6ebee",
        border="#d9e0e4",
        text="#15212a",
        muted="#52606b",
        accent="#0c6b65",
        accent_hover="#095550",
        on_accent="#ffffff",
        tint="#e0f0ee",
        disabled="#8b98a2",
        info_ground="#e4f0f8",
        info="#12496b",
        warn_ground="#fdf1d8",
        warn="#714400",
        error_ground="#fce9e8",
        error="#94201b",
        generation="#0c6b65",
        prompt="#a8480b",
        power="#6741b8",
    ),
    Scheme.DARK: Colours(
        window="#11171b",
        rail="#0d1215",
        card="#192126",
        hover="#253037",
        border="#2e3a42",
        text="#e7edf1",
        muted="#9fadb7",
        accent="#56cdbd",
        accent_hover="#78dccf",
        on_accent="#04211e",
        tint="#173833",
        disabled="#66747e",
        info_ground="#152f3f",
        info="#a8d6f2",
        warn_ground="#37290e",
        warn="#ffd58c",
        error_ground="#3d1c1c",
        error="#ffb5ae",
        generation="#56cdbd",
        prompt="#f4a95b",
        power="#b9a1ff",
    ),
}


def font(size: Type = Type.BODY, *, strong: bool = False) -> QFont:
    """The system's family at one step of the scale, with figures of equal width."""
    made = QFont(QGuiApplication.font())
    base_px = max(_BASE_MIN_PX, _system_px())
    made.setPixelSize(round(base_px * _RATIO[size]))
    made.setWeight(QFont.Weight.DemiBold if strong else QFont.Weight.Normal)
    made.setFeature(QFont.Tag("tnum"), 1)
    return made


def wide(characters: float, size: Type = Type.SMALL) -> int:
    """Pixels that so many figures take: widths that follow the size of text."""
    return round(characters * QFontMetrics(font(size)).horizontalAdvance("0"))


def palette(scheme: Scheme) -> QPalette:
    """Qt's palette of one scheme, for everything that no style rule reaches."""
    c = COLOURS[scheme]
    made = QPalette()
    for role, colour in _roles(c).items():
        made.setColor(role, QColor(colour))
    for role in _TEXT_ROLES:
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(c.disabled))
    return made


def stylesheet(scheme: Scheme) -> str:
    """The style rules of one scheme."""
    values: dict[str, object] = {name: getattr(COLOURS[scheme], name) for name in _colour_names()}
    values |= {"radius": Radius.SMALL, "card_radius": Radius.CARD, "bar": Size.BAR}
    values |= {"xs": Space.XS, "s": Space.S, "m": Space.M, "l": Space.L}
    return TEMPLATE.substitute(values)


_TEXT_ROLES: Final = (
    QPalette.ColorRole.WindowText,
    QPalette.ColorRole.Text,
    QPalette.ColorRole.ButtonText,
)


def _system_px() -> int:
    return QFontInfo(QGuiApplication.font()).pixelSize()


def _colour_names() -> tuple[str, ...]:
    return Colours._fields


def _roles(c: Colours) -> dict[QPalette.ColorRole, str]:
    role = QPalette.ColorRole
    return {
        role.Window: c.window,
        role.WindowText: c.text,
        role.Base: c.card,
        role.AlternateBase: c.window,
        role.Text: c.text,
        role.PlaceholderText: c.muted,
        role.Button: c.card,
        role.ButtonText: c.text,
        role.ToolTipBase: c.card,
        role.ToolTipText: c.text,
        role.Highlight: c.tint,
        role.HighlightedText: c.text,
        role.Accent: c.accent,
        role.Link: c.accent,
        role.Light: c.hover,
        role.Mid: c.border,
        role.Dark: c.border,
    }
