"""How it looks: the colours and lengths of `app/kit/tokens.py` as Qt draws them, fonts with a CJK fallback, the sheet.

Chrome comes from the palette. Every colour of a meaning has a contrast of 4.5:1 or better on every ground that text may
lie on, in high contrast 7:1, which a test computes.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from PySide6.QtCore import QLocale, QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QGuiApplication, QPainter, QPalette, QPen
from PySide6.QtWidgets import QApplication

from app.kit import contrast, tokens

GRID = tokens.WITHIN
"""The unit of all margins and gaps, in pixels."""

FRAME = 2
"""Width of the frame of what is selected, in high contrast; `contrast.qss` has the same."""

RESOURCES = Path(__file__).resolve().parents[2] / "resources"
STYLE = RESOURCES / "style"

_UI_FAMILIES = ("Inter", "Noto Sans", "Cantarell", "Ubuntu", "Noto Sans CJK SC", "Source Han Sans SC")
_CJK = ("Noto Sans CJK SC", "Source Han Sans SC", "Microsoft YaHei UI", "PingFang SC", "WenQuanYi Micro Hei")
_CJK_MONO = ("Noto Sans Mono CJK SC", *_CJK)


def is_dark() -> bool:
    """Whether the application draws on dark backgrounds now."""
    return _scheme(QGuiApplication.palette().color(QPalette.ColorRole.Window).rgb())[0]


def is_high_contrast() -> bool:
    """Whether it draws in high contrast now: on pure white or black."""
    return _scheme(QGuiApplication.palette().color(QPalette.ColorRole.Window).rgb())[1]


@cache
def _scheme(ground: int) -> tuple[bool, bool]:
    """Whether a window of that colour is dark, and whether it is one of high contrast."""
    window = QColor.fromRgb(ground)
    return window.lightness() < 128, window.name() in tokens.COLOURS["window"][2:]


def colour(name: str) -> QColor:
    """A colour by its name in `tokens.COLOURS`, for the scheme of now. Raises KeyError for an unknown name."""
    return _value(name, *_scheme(QGuiApplication.palette().color(QPalette.ColorRole.Window).rgb()))


def ground_of(meaning: str) -> QColor:
    """The tint that carries a meaning (of `tokens.MEANINGS`) behind text; in high contrast the plain ground."""
    return colour(f"{meaning}_tint")


def _value(name: str, dark: bool, high: bool) -> QColor:
    return QColor(tokens.COLOURS[name][dark + 2 * high])


def fill_selected(painter: QPainter, rect: QRect, *, active: bool = True) -> None:
    """Draw the ground of a selected row; in high contrast it has a frame."""
    painter.fillRect(rect, colour("selected" if active else "selected_idle"))
    frame_selected(painter, rect)


def frame_selected(painter: QPainter, rect: QRect) -> None:
    """Draw the frame of what is selected, where contrast is high."""
    if is_high_contrast():
        painter.save()
        pen = QPen(colour("line"), FRAME)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(rect.adjusted(1, 1, -1, -1))
        painter.restore()


def terminal_colour(name: str) -> QColor | None:
    """A terminal's colour by its name or its six hexadecimal digits; None for its default."""
    if name in tokens.TERMINAL:
        ink = tokens.TERMINAL[name][is_dark()]
        return QColor(contrast.strong(ink, is_dark()) if is_high_contrast() else ink)
    own = QColor(f"#{name}") if len(name) == 6 else QColor()
    return own if own.isValid() else None


def px(length: float) -> int:
    """A length of `tokens` in pixels: scaled with the application's font, whose text line is 18 high at 10 pt."""
    return round(length * _unit())


@cache
def _unit() -> float:
    """Held until `apply` gives the application another font: every row asks for lengths."""
    return QFontMetricsF(QGuiApplication.font()).height() / 18


def tint(name: str, alpha: int = 26) -> QColor:
    """A faint background in the colour of a meaning, `alpha` of 255 opaque."""
    ink = colour(name)
    ink.setAlpha(alpha)
    return ink


def mono_font(point_size: float | None = None) -> QFont:
    """The one monospace font, with CJK fallback; a little smaller than the application's font or than `point_size`."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setFamilies([font.family(), "DejaVu Sans Mono", *_CJK_MONO])
    font.setStyleHint(QFont.StyleHint.Monospace)
    size = point_size or QGuiApplication.font().pointSizeF()
    font.setPointSizeF(max(6.0, size * tokens.MONO[0] / tokens.TYPE["row"][0]))
    return font


def font_of(use: str, of: QFont | None = None) -> QFont:
    """The font for a use of `tokens.TYPE`, made of the application's or of `of`, which is taken as a row's; figures
    have one width, so that columns of them align."""
    return QFont(_use_font(use)) if of is None else _font_of(use, of)


@cache
def _use_font(use: str) -> QFont:
    """Held until `apply` gives the application another font."""
    return _font_of(use, QGuiApplication.font())


def _font_of(use: str, of: QFont) -> QFont:
    font = QFont(of)
    font.setPointSizeF(max(6.0, font.pointSizeF() * tokens.TYPE[use][0] / tokens.TYPE["row"][0]))
    font.setFeature(QFont.Tag("tnum"), 1)
    if use in ("title", "start"):
        font.setWeight(QFont.Weight.DemiBold)
    return font


def ui_font(point_size: float) -> QFont:
    """The platform's font with CJK fallback; where the desktop names none, the best installed one."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    families = [font.family()]
    if font.family() in ("DejaVu Sans", "Sans Serif", "Sans", ""):
        installed = set(QFontDatabase.families())
        families = [f for f in _UI_FAMILIES if f in installed][:1] + families
    font.setFamilies([*families, *_CJK])
    if families[0] in _CJK and QLocale().language() != QLocale.Language.Chinese:
        # such fonts draw “ ” and · as wide as a Chinese character unless asked not to; in Chinese that is right
        font.setFeature(QFont.Tag("palt"), 1)
    font.setFeature(QFont.Tag("tnum"), 1)
    font.setPointSizeF(point_size)
    return font


def small_font(of: QFont) -> QFont:
    """One size down, for secondary text."""
    return font_of("fact", of)


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
    _unit.cache_clear()
    _use_font.cache_clear()
    high = strength == "high" or (strength == "system" and system_wants_contrast())
    app.setPalette(_palette(dark, high))
    app.setStyleSheet(_sheet(dark, high))


def _sheet(dark: bool, high: bool) -> str:
    """The style sheet with colours and lengths of now in place of its `@` words."""
    words = {name: _value(name, dark, high).name() for name in tokens.COLOURS}
    words |= {"style": STYLE.as_posix(), "mode": "dark" if dark else "light"}
    text = "".join((STYLE / f"{name}.qss").read_text(encoding="utf-8").partition("*/")[2]
                   for name in ("base", *(["contrast"] if high else [])))
    return re.sub(r"@(\w+)", lambda m: f"{px(int(m[1]))}px" if m[1].isdigit() else words[m[1]], text)


def system_wants_contrast() -> bool:
    """Whether the desktop asks for high contrast; an older Qt does not know."""
    hints = getattr(QGuiApplication.styleHints(), "accessibility", None)
    return hints is not None and hints().contrastPreference() == Qt.ContrastPreference.HighContrast


def _palette(dark: bool, high: bool) -> QPalette:
    """Our own palette: Fusion's default is for tools, not for long reading."""

    def of(name: str) -> QColor:
        return _value(name, dark, high)

    role = QPalette.ColorRole
    palette = QPalette(of("field"), of("window"))
    for target, name in (
        (role.Window, "window"), (role.WindowText, "ink"), (role.Base, "base"), (role.AlternateBase, "hover"),
        (role.Text, "ink"), (role.Button, "field"), (role.ButtonText, "ink"), (role.BrightText, "error"),
        (role.Highlight, "selected"), (role.HighlightedText, "ink"), (role.Accent, "person"),
        (role.Link, "person"), (role.LinkVisited, "person"), (role.ToolTipBase, "base"),
        (role.ToolTipText, "ink"), (role.PlaceholderText, "muted"), (role.Mid, "line"), (role.Midlight, "line"),
        (role.Light, "base"), (role.Dark, "edge"),
    ):
        palette.setColor(target, of(name))
    for target in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        palette.setColor(QPalette.ColorGroup.Disabled, target, of("muted"))
    palette.setColor(QPalette.ColorGroup.Inactive, role.Highlight, of("selected_idle"))
    return palette
