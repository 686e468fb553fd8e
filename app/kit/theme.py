"""How it looks: one table of colours (light, dark), fonts with a CJK fallback, one 4-px grid, the style sheet.

Chrome comes from the palette; the named colours mean something and never stand alone (a sign or word is beside
them). Every named colour has a contrast of 4.5:1 or better on every background below, which a test computes.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QGuiApplication,
    QIcon,
    QIconEngine,
    QPainter,
    QPalette,
    QPixmap,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from app.kit import contrast

GRID = 4
"""The unit of all margins and gaps, in pixels."""

RESOURCES = Path(__file__).resolve().parents[2] / "resources"

COLOURS: dict[str, tuple[str, str]] = {
    "error": ("#b3261e", "#ff9d94"),
    "attention": ("#7d4b00", "#f2bd5c"),
    "guidance": ("#1450a3", "#92bdff"),
    "summary": ("#65389c", "#cdb0ff"),
    "score": ("#0a5f56", "#65d8c9"),
    "keep": ("#17623a", "#84dba0"),
    "mask": ("#8a3642", "#e9a9b0"),
    "live": ("#0b5d7a", "#76cfec"),
    "muted": ("#545c68", "#a9b1bd"),
    "added": ("#17623a", "#84dba0"),
    "removed": ("#b3261e", "#ff9d94"),
    "keyword": ("#7a2f8f", "#d9a6ec"),
    "string": ("#17623a", "#9ad6a8"),
    "number": ("#1450a3", "#92bdff"),
    "comment": ("#545c68", "#a9b1bd"),
    "name": ("#7d4b00", "#e7c07b"),
}
"""What a colour means → its value on light and on dark backgrounds."""

SURFACES: dict[str, tuple[str, str]] = {
    "window": ("#f4f5f7", "#191b1f"),
    "base": ("#ffffff", "#1f2226"),
    "alternate": ("#f8f9fb", "#23262b"),
    "selected": ("#dbe7fb", "#2d3a50"),
    "button": ("#fbfbfc", "#2a2d33"),
    "line": ("#d5d9df", "#363b43"),
    "text": ("#1b1f24", "#e4e7eb"),
    "accent": ("#1d5fc4", "#8ab4f8"),
    "on_accent": ("#ffffff", "#10151c"),
}
"""The chrome: backgrounds, lines and the text on them."""

TERMINAL: dict[str, tuple[str, str]] = {
    "black": ("#1b1f24", "#7d8590"),
    "red": ("#b3261e", "#ff9d94"),
    "green": ("#17623a", "#84dba0"),
    "brown": ("#7d4b00", "#f2bd5c"),
    "blue": ("#1450a3", "#92bdff"),
    "magenta": ("#7a2f8f", "#d9a6ec"),
    "cyan": ("#0b5d7a", "#76cfec"),
    "white": ("#545c68", "#d5d9df"),
    "brightblack": ("#545c68", "#a9b1bd"),
    "brightred": ("#c2281f", "#ffb3ac"),
    "brightgreen": ("#1a7042", "#a4ecbc"),
    "brightbrown": ("#8a5300", "#ffd48a"),
    "brightblue": ("#1d5fc4", "#b3d1ff"),
    "brightmagenta": ("#8c3aa3", "#e8c4f5"),
    "brightcyan": ("#0d6b8c", "#a3e2f5"),
    "brightwhite": ("#1b1f24", "#ffffff"),
}
"""The sixteen names of a terminal's colours → what reads well on a light and on a dark background."""

_UI_FAMILIES = ("Inter", "Noto Sans", "Cantarell", "Ubuntu", "Noto Sans CJK SC", "Source Han Sans SC")
_CJK = ("Noto Sans CJK SC", "Source Han Sans SC", "Microsoft YaHei UI", "PingFang SC", "WenQuanYi Micro Hei")
_CJK_MONO = ("Noto Sans Mono CJK SC", *_CJK)


def is_dark() -> bool:
    """Whether the application draws on dark backgrounds now."""
    return QGuiApplication.palette().color(QPalette.ColorRole.Window).lightness() < 128


def is_high_contrast() -> bool:
    """Whether it draws in high contrast now: on pure white or black."""
    return QGuiApplication.palette().color(QPalette.ColorRole.Window).name() in contrast.SURFACES["window"]


def colour(name: str) -> QColor:
    """The colour of a meaning (a key of COLOURS) or of a surface, for the backgrounds of now."""
    return _value(name, is_dark(), is_high_contrast())


def _value(name: str, dark: bool, high: bool) -> QColor:
    pair = COLOURS.get(name) or SURFACES[name]
    if high:
        return QColor(contrast.SURFACES[name][dark] if name in contrast.SURFACES else contrast.strong(pair[dark], dark))
    return QColor(pair[dark])


def terminal_colour(name: str) -> QColor | None:
    """A terminal's colour by its name or its six hexadecimal digits; None for its default."""
    if name in TERMINAL:
        ink = TERMINAL[name][is_dark()]
        return QColor(contrast.strong(ink, is_dark()) if is_high_contrast() else ink)
    own = QColor(f"#{name}") if len(name) == 6 else QColor()
    return own if own.isValid() else None


def tint(name: str, alpha: int = 26) -> QColor:
    """A faint background in the colour of a meaning, `alpha` of 255 opaque."""
    ink = colour(name)
    ink.setAlpha(alpha)
    return ink


def mono_font(point_size: float | None = None) -> QFont:
    """The one monospace font, with CJK fallback; in the size of the application's font unless told otherwise."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setFamilies([font.family(), "DejaVu Sans Mono", *_CJK_MONO])
    font.setStyleHint(QFont.StyleHint.Monospace)
    size = point_size or QGuiApplication.font().pointSizeF()
    font.setPointSizeF(max(6.0, size - 0.5))
    return font


def ui_font(point_size: float) -> QFont:
    """The platform's font with CJK fallback; where the desktop names none, the best installed one."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    families = [font.family()]
    if font.family() in ("DejaVu Sans", "Sans Serif", "Sans", ""):
        installed = set(QFontDatabase.families())
        families = [f for f in _UI_FAMILIES if f in installed][:1] + families
    font.setFamilies([*families, *_CJK])
    if families[0] in _CJK:  # such fonts draw “ ” and · as wide as a Chinese character unless asked not to
        font.setFeature(QFont.Tag("palt"), 1)
    font.setPointSizeF(point_size)
    return font


def small_font(of: QFont) -> QFont:
    """One size down, for secondary text."""
    font = QFont(of)
    font.setPointSizeF(max(6.5, of.pointSizeF() * 0.9))
    return font


def bold_font(of: QFont) -> QFont:
    """The same font, stronger."""
    font = QFont(of)
    font.setWeight(QFont.Weight.DemiBold)
    return font


def apply(app: QApplication, scheme: str = "system", point_size: float = 10.0, strength: str = "system") -> None:
    """Give the application its style, palette, fonts and style sheet.

    `scheme`: system, light or dark. `strength`, the contrast: system, normal or high.
    """
    wanted = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}.get(scheme, Qt.ColorScheme.Unknown)
    hints = app.styleHints()
    hints.setColorScheme(wanted)
    if app.style().objectName() != "fusion":
        app.setStyle("Fusion")
    dark = scheme == "dark" or (scheme != "light" and hints.colorScheme() == Qt.ColorScheme.Dark)
    app.setFont(ui_font(point_size))
    high = strength == "high" or (strength == "system" and system_wants_contrast())
    app.setPalette(_palette(dark, high))
    sheet = (RESOURCES / "base.qss").read_text(encoding="utf-8")
    mode = "dark" if dark else "light"
    app.setStyleSheet(sheet.replace("@icons", (RESOURCES / "icons").as_posix()).replace("@mode", mode))


def system_wants_contrast() -> bool:
    """Whether the desktop asks for high contrast; an older Qt does not know."""
    hints = getattr(QGuiApplication.styleHints(), "accessibility", None)
    return hints is not None and hints().contrastPreference() == Qt.ContrastPreference.HighContrast


def _palette(dark: bool, high: bool) -> QPalette:
    """Our own palette: Fusion's default is for tools, not for long reading."""

    def of(name: str) -> QColor:
        return _value(name, dark, high)

    role = QPalette.ColorRole
    palette = QPalette(of("button"), of("window"))
    for target, name in (
        (role.Window, "window"), (role.WindowText, "text"), (role.Base, "base"), (role.AlternateBase, "alternate"),
        (role.Text, "text"), (role.Button, "button"), (role.ButtonText, "text"), (role.BrightText, "error"),
        (role.Highlight, "selected"), (role.HighlightedText, "text"), (role.Accent, "accent"),
        (role.Link, "accent"), (role.LinkVisited, "summary"), (role.ToolTipBase, "button"),
        (role.ToolTipText, "text"), (role.PlaceholderText, "muted"), (role.Mid, "line"), (role.Midlight, "line"),
        (role.Light, "base"), (role.Dark, "line"),
    ):
        palette.setColor(target, of(name))
    for target in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        palette.setColor(QPalette.ColorGroup.Disabled, target, of("muted"))
    return palette


class _Ink(QIconEngine):
    """An icon drawn in the colour of a meaning at the moment of painting: it follows light and dark."""

    def __init__(self, name: str, meaning: str) -> None:
        super().__init__()
        self._name, self._meaning = name, meaning

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        """Draw the icon into a rectangle."""
        side = min(rect.width(), rect.height())
        place = QRectF(rect.center().x() - side / 2 + 0.5, rect.center().y() - side / 2 + 0.5, side, side)
        ink = colour("line" if mode == QIcon.Mode.Disabled else self._meaning).name()
        QSvgRenderer(QByteArray(_svg(self._name).replace("currentColor", ink).encode())).render(painter, place)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """The icon on a transparent ground."""
        made = QPixmap(size)
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return made

    def clone(self) -> QIconEngine:
        """The same icon once more."""
        return _Ink(self._name, self._meaning)


@cache
def _svg(name: str) -> str:
    return (RESOURCES / "icons" / f"{name}.svg").read_text(encoding="utf-8")


def icon(name: str, meaning: str = "text") -> QIcon:
    """The icon `resources/icons/NAME.svg`, its `currentColor` in the colour of a meaning."""
    return QIcon(_Ink(name, meaning))
