"""The icons: Lucide's files in `resources/icons`, drawn in the colour of a meaning at the moment of painting.

So they follow light, dark and high contrast. The smaller an icon, the stronger its lines. What is
disabled is faint, and in high contrast struck through as well.
"""

from __future__ import annotations

from functools import cache, lru_cache

from PySide6.QtCore import QByteArray, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QIconEngine, QPainter, QPen, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton

from app.kit import theme
from app.kit.overrides import guarded

FOLDER = theme.RESOURCES / "icons"

SIDE = 16
"""The usual side of an icon, in pixels that scale with the text."""


def icon(name: str, meaning: str = "muted") -> QIcon:
    """The icon `resources/icons/NAME.svg` in the colour of a meaning. Raises FileNotFoundError for an unknown one.

    A copy: PySide calls the icon that is made of an engine the engine's parent. When the collector met both in one
    cycle (a panel that was closed, the interpreter's end) it took the engine first, and the icon died of that.
    """
    _svg(name)
    return QIcon(QIcon(_Ink(name, meaning)))


def beside_words(button: QAbstractButton) -> None:
    """Leave room between a button's icon and its words, for which styles have next to none."""
    button.setIconSize(QSize(theme.px(SIDE + 6), theme.px(SIDE)))


def draw(painter: QPainter, name: str, box: QRectF, ink: QColor) -> None:
    """Draw an icon into the middle of a box, in one colour; for delegates, from pixmaps that are drawn once."""
    side = min(box.width(), box.height())
    made = _drawn(name, round(side), ink.rgba(), painter.deviceTransform().m11())
    place = QRectF(round(box.center().x() - side / 2), round(box.center().y() - side / 2), side, side)
    painter.drawPixmap(place, made, QRectF(made.rect()))


@lru_cache(maxsize=2000)
def _drawn(name: str, side: int, rgba: int, scale: float) -> QPixmap:
    made = QPixmap(round(side * scale), round(side * scale))
    made.fill(Qt.GlobalColor.transparent)
    ink = QColor.fromRgba(rgba)
    text = _svg(name).replace("currentColor", ink.name()).replace('"2"', f'"{_line(side)}"', 1)
    painter = QPainter(made)
    painter.setOpacity(ink.alphaF())
    QSvgRenderer(QByteArray(text.encode())).render(painter, QRectF(made.rect()))
    painter.end()
    return made


def _line(side: int) -> float:
    """How strong the lines of an icon of a side are, on the files' grid of 24."""
    return 2.25 if side <= 12 else 1.75 if side < 20 else 1.5


@cache
def _svg(name: str) -> str:
    return (FOLDER / f"{name}.svg").read_text(encoding="utf-8")


@guarded
class _Ink(QIconEngine):
    """An icon drawn in the colour of a meaning at the moment of painting: it follows light and dark."""

    def __init__(self, name: str, meaning: str) -> None:
        super().__init__()
        self._name, self._meaning = name, meaning

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        off = mode == QIcon.Mode.Disabled
        painter.save()
        draw(painter, self._name, QRectF(rect), theme.colour("faint" if off else self._meaning))
        if off and theme.is_high_contrast():
            painter.setPen(QPen(theme.colour("ink"), 1.5))
            painter.drawLine(rect.bottomLeft(), rect.topRight())
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """The icon on a transparent ground."""
        made = QPixmap(size)
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return made

    def clone(self) -> QIconEngine:
        return _Ink(self._name, self._meaning)
