"""Fonts, colours, signs and widths of the step list's rows, made once per font and palette: painting is quick."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen

from app.kit import icons, theme, tokens

_MOST_WIDTHS = 2000
SIGN = 14
"""The diameter of a verdict's disk, in pixels at 10 pt."""


class RowInk:
    """What rows are drawn with."""

    def __init__(self, font: QFont) -> None:
        self.font, self.bold = font, theme.bold_font(font)
        self.small = theme.font_of("caption", font)
        self.mono = theme.mono_font(font.pointSizeF())
        self.metrics, self.bold_metrics = QFontMetrics(font), QFontMetrics(self.bold)
        self.small_metrics, self.mono_metrics = QFontMetrics(self.small), QFontMetrics(self.mono)
        self.cell = self.mono_metrics.horizontalAdvance("m" * 64) / 64
        self.columns = {name: theme.px(width) for name, width in tokens.STEP_COLUMNS.items()}
        self.height = max(theme.px(tokens.HEIGHTS["step"]), self.metrics.height() + 4)
        self.icon_size = theme.px(icons.SIDE)
        self._colours: dict[str, QColor] = {}
        self._widths: dict[tuple[str, int], int] = {}

    def forget_colours(self) -> None:
        """The palette is another one."""
        self._colours.clear()

    def colour(self, name: str) -> QColor:
        """A colour of the theme."""
        held = self._colours.get(name)
        if held is None:
            held = self._colours[name] = theme.colour(name)
        return held

    def width(self, text: str, metrics: QFontMetrics) -> int:
        """The width of a short text that many rows share."""
        key = (text, id(metrics))
        held = self._widths.get(key)
        if held is None:
            if len(self._widths) > _MOST_WIDTHS:
                self._widths.clear()
            held = self._widths[key] = metrics.horizontalAdvance(text)
        return held

    def icon(self, painter: QPainter, name: str, meaning: str, x: int, middle: float) -> None:
        """Draw an icon in the colour of a meaning."""
        side = self.icon_size
        icons.draw(painter, name, QRectF(x, middle - side / 2, side, side), self.colour(meaning))

    def sign(self, painter: QPainter, state: str, centre: QPointF) -> None:
        """The sign of a verdict: a person's is filled, a machine's is hollow, so that it reads without colour."""
        _SIGNS.get(state, _nothing)(self, painter, centre)

    def disk(self, painter: QPainter, centre: QPointF, ink: str, *, radius: float = SIGN / 2, filled: bool = True
             ) -> None:
        """A disk, or a ring."""
        painter.setPen(Qt.PenStyle.NoPen if filled else QPen(self.colour(ink), 1.25))
        painter.setBrush(self.colour(ink) if filled else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(centre, radius, radius)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def glyph(self, painter: QPainter, centre: QPointF, mark: str, ink: str) -> None:
        """A letter, a slash or a check in a sign."""
        painter.setPen(QPen(self.colour(ink), 1.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        x, y = centre.x(), centre.y()
        if mark == "/":
            painter.drawLine(QPointF(x - 2.5, y + 2.5), QPointF(x + 2.5, y - 2.5))
        elif mark == "✓":
            painter.drawPolyline([QPointF(x - 4, y), QPointF(x - 1, y + 3), QPointF(x + 4.5, y - 3.5)])
        else:
            painter.setFont(self.small)
            painter.drawText(QRectF(x - 7, y - 7, 14, 14), Qt.AlignmentFlag.AlignCenter, mark)


def _nothing(ink: RowInk, painter: QPainter, centre: QPointF) -> None:
    return


def _masked(ink: RowInk, painter: QPainter, centre: QPointF) -> None:
    ink.disk(painter, centre, "mask")
    ink.glyph(painter, centre, "/", "base")


def _partly(ink: RowInk, painter: QPainter, centre: QPointF) -> None:
    ink.disk(painter, centre, "mask", filled=False)
    ink.glyph(painter, centre, "/", "mask")


def _unsure(ink: RowInk, painter: QPainter, centre: QPointF) -> None:
    ink.disk(painter, centre, "attention")
    ink.glyph(painter, centre, "?", "base")


def _proposed(ink: RowInk, painter: QPainter, centre: QPointF) -> None:
    ink.disk(painter, centre, "edge", filled=False, radius=SIGN / 2 - 1)
    ink.glyph(painter, centre, "/", "edge")


def _keep(ink: RowInk, painter: QPainter, centre: QPointF) -> None:
    ink.glyph(painter, centre, "✓", "keep")


def _proposed_keep(ink: RowInk, painter: QPainter, centre: QPointF) -> None:
    ink.glyph(painter, centre, "✓", "edge")


def _undecided(ink: RowInk, painter: QPainter, centre: QPointF) -> None:
    ink.disk(painter, centre, "edge", filled=False, radius=3.5)


def _live(ink: RowInk, painter: QPainter, centre: QPointF) -> None:
    ink.disk(painter, centre, "live", radius=4)


_SIGNS = {"mask": _masked, "partly": _partly, "unsure": _unsure, "keep": _keep, "undecided": _undecided,
          "proposed_mask": _proposed, "proposed_keep": _proposed_keep, "live": _live}


@lru_cache(maxsize=4096)
def short_path(path: str, cells: int) -> tuple[str, str]:
    """A path in so many characters as its folder and its name: the name and the first folder stay, the middle goes."""
    shown, dot, rest = path.partition(" · ")
    folder, slash, name = shown.rstrip("/").rpartition("/")
    tail = name + dot + rest
    if len(path) <= cells or not slash:
        return (folder + slash, tail) if len(path) <= cells else ("", _cut(path, cells))
    parts = folder.split("/")
    lead = "/".join(parts[: 2 if folder.startswith("/") else 1])
    for start in (f"{lead}/…", "…"):
        for skip in range(1, len(parts) + 1):
            shown = "/".join([start, *parts[skip + 1 :]]) + "/"
            if len(shown) + len(tail) <= cells:
                return shown, tail
    return "", _cut(tail, cells)


def _cut(text: str, cells: int) -> str:
    """A name that is too long even alone loses its middle, not its ending."""
    if len(text) <= cells:
        return text
    left = max(0, (cells - 1) // 2)
    return text[:left] + "…" + text[len(text) - max(0, cells - 1 - left) :]
