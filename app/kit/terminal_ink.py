"""The colours of a terminal's cells on the theme's backgrounds: as recorded, but never unreadable."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtGui import QColor

from app.kit import theme
from app.kit.terminal_cells import PLAIN, Cell

_LEAST_CONTRAST = 3.5


@lru_cache(maxsize=4096)
def ink(style: Cell, default: int, base: int) -> tuple[QColor, QColor | None]:
    """The colours of a style, pulled apart where they would not be readable."""
    if style is PLAIN or style == PLAIN:
        return QColor(default), None
    bright = f"bright{style.fg}"
    fore = (style.bold and theme.terminal_colour(bright)) or theme.terminal_colour(style.fg) or QColor(default)
    back = theme.terminal_colour(style.bg)
    if style.reverse:
        fore, back = back or QColor(base), fore
    paper = back or QColor(base)
    return _readable(fore, paper, max((QColor(default), QColor(base)), key=lambda c: _contrast(c, paper))), back


def _readable(fore: QColor, paper: QColor, towards: QColor) -> QColor:
    """The colour itself, or as much of another in it as reading needs."""
    for share in (0.0, 0.25, 0.5, 0.75):
        mixed = QColor.fromRgbF(_between(fore.redF(), towards.redF(), share),
                                _between(fore.greenF(), towards.greenF(), share),
                                _between(fore.blueF(), towards.blueF(), share))
        if _contrast(mixed, paper) >= _LEAST_CONTRAST:
            return mixed
    return towards


def _between(start: float, end: float, share: float) -> float:
    return start + (end - start) * share


def _contrast(one: QColor, other: QColor) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: QColor) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
             for c in (colour.redF(), colour.greenF(), colour.blueF())]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
