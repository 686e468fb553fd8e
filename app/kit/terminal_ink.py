"""The colours of a terminal's cells on the theme's backgrounds: as recorded, but never unreadable."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtGui import QColor

from app.kit import contrast, theme
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
    parts = [(part(fore), part(towards)) for part in (QColor.redF, QColor.greenF, QColor.blueF)]
    for share in (0.0, 0.25, 0.5, 0.75):
        mixed = QColor.fromRgbF(*(start + (end - start) * share for start, end in parts))
        if _contrast(mixed, paper) >= _LEAST_CONTRAST:
            return mixed
    return towards


def _contrast(one: QColor, other: QColor) -> float:
    return contrast.ratio(one.name(), other.name())
