"""Fonts, colours, signs and widths of the step list's rows, made once per font and palette: painting is quick."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen, QPixmap, QStaticText

from app.kit import icons, theme, tokens
from core.domain.path_parts import separator_of

_MOST_WIDTHS = 2000
_MOST_WORDS = 600
"""Texts whose letters are held as they were laid out: those of the rows in sight and some more."""

NO_TIME, NO_DURATION = 520, 440
"""Below these widths, in pixels at 10 pt, a row goes without its time, and without its duration."""

SIGN = 14
"""The diameter of a verdict's disk, in pixels at 10 pt."""

STEP_IN = 12
"""A subagent's rows stand so many pixels further in."""

WIDEST_TOOL = "run_command"
"""Of our own tools the one that people read most; it stands there whole in any font."""


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
        self.columns["tool"] = max(self.columns["tool"], self.bold_metrics.horizontalAdvance(WIDEST_TOOL))
        self.height = max(theme.px(tokens.HEIGHTS["step"]), self.metrics.height() + 4)
        self.icon_size, self.chip, self.step_in = theme.px(icons.SIDE), theme.px(16), theme.px(STEP_IN)
        self.no_time, self.no_duration = theme.px(NO_TIME), theme.px(NO_DURATION)
        self._ascents = {id(font): metrics.ascent() for font, metrics in (
            (font, self.metrics), (self.bold, self.bold_metrics), (self.small, self.small_metrics),
            (self.mono, self.mono_metrics))}
        self._widths: dict[tuple[str, int], int] = {}
        self._words: dict[tuple[str, int], QStaticText] = {}
        self.forget_colours()

    def forget_colours(self) -> None:
        """The palette is another one."""
        self._colours: dict[str, QColor] = {}
        self._pictures: dict[tuple[str, str, float], QPixmap] = {}
        self.is_high_contrast = theme.is_high_contrast()

    def colour(self, name: str) -> QColor:
        """A colour of the theme."""
        held = self._colours.get(name)
        if held is None:
            held = self._colours[name] = theme.colour(name)
        return held

    def put(self, painter: QPainter, x: float, base: int, text: str, font: QFont) -> None:
        """Draw a text, with `font` one of these, at its base line. Letters are laid out once, where no other font must
        help out with some: such a text is otherwise higher, and would stand elsewhere than `drawText` sets it."""
        painter.setFont(font)
        if not text.isascii():
            painter.drawText(QPointF(x, base), text)
            return
        key = (text, id(font))
        held = self._words.get(key)
        if held is None:
            if len(self._words) > _MOST_WORDS:
                self._words.clear()
            held = self._words[key] = QStaticText(text)
            held.setTextFormat(Qt.TextFormat.PlainText)
        painter.drawStaticText(QPointF(x, base - self._ascents[id(font)]), held)

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
        scale, side = painter.deviceTransform().m11(), self.icon_size
        held = self._pictures.get((name, meaning, scale))
        if held is None:
            held = self._picture(QSize(side, side), scale)
            with QPainter(held) as inner:
                icons.draw(inner, name, QRectF(0, 0, side, side), self.colour(meaning))
            self._pictures[name, meaning, scale] = held
        painter.drawPixmap(QPointF(x, round(middle - side / 2)), held)

    def sign(self, painter: QPainter, state: str, x: int, top: int) -> None:
        """The sign of a verdict in its column: a person's is filled, a machine's is hollow, so that it reads without
        colour."""
        if state not in _SIGNS:
            return
        scale, wide = painter.deviceTransform().m11(), self.columns["verdict"]
        held = self._pictures.get((state, "", scale))
        if held is None:
            held = self._picture(QSize(wide, self.height), scale)
            with QPainter(held) as inner:
                inner.setRenderHint(QPainter.RenderHint.Antialiasing)
                self._draw_sign(inner, QPointF(wide / 2, self.height / 2), *_SIGNS[state])
            self._pictures[state, "", scale] = held
        painter.drawPixmap(QPointF(x, top), held)

    def _picture(self, size: QSize, scale: float) -> QPixmap:
        made = QPixmap(size * scale)
        made.setDevicePixelRatio(scale)
        made.fill(Qt.GlobalColor.transparent)
        return made

    def _draw_sign(self, painter: QPainter, centre: QPointF, disk: tuple[str, float, bool] | None,
                   mark: tuple[str, str] | None) -> None:
        if disk is not None:
            ink, radius, is_filled = disk
            painter.setPen(Qt.PenStyle.NoPen if is_filled else QPen(self.colour(ink), 1.25))
            painter.setBrush(self.colour(ink) if is_filled else Qt.BrushStyle.NoBrush)
            painter.drawEllipse(centre, radius, radius)
            painter.setBrush(Qt.BrushStyle.NoBrush)
        if mark is not None:
            self._glyph(painter, centre, *mark)

    def _glyph(self, painter: QPainter, centre: QPointF, mark: str, ink: str) -> None:
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


_SIGNS: dict[str, tuple[tuple[str, float, bool] | None, tuple[str, str] | None]] = {
    "mask": (("mask", SIGN / 2, True), ("/", "base")), "partly": (("mask", SIGN / 2, False), ("/", "mask")),
    "unsure": (("attention", SIGN / 2, True), ("?", "base")), "keep": (None, ("✓", "keep")),
    "undecided": (("edge", 3.5, False), None), "live": (("live", 4, True), None),
    "proposed_mask": (("edge", SIGN / 2 - 1, False), ("/", "edge")), "proposed_keep": (None, ("✓", "edge"))}
"""Of each verdict's sign the disk (colour, radius, whether it is filled), and what stands in it with its colour."""


@lru_cache(maxsize=4096)
def short_path(path: str, cells: int) -> tuple[str, str]:
    """A path in so many characters as its folder and its name: the name and the first folder stay, the middle goes."""
    shown, dot, rest = path.partition(" · ")
    between = separator_of(shown)
    folder, slash, name = shown.rstrip(between).rpartition(between)
    tail = name + dot + rest
    if len(path) <= cells or not slash:
        return (folder + slash, tail) if len(path) <= cells else ("", _cut(path, cells))
    parts = folder.split(between)
    lead = between.join(parts[: 2 if folder.startswith(between) else 1])
    for start in (f"{lead}{between}…", "…"):
        for skip in range(1, len(parts) + 1):
            shown = between.join([start, *parts[skip + 1 :]]) + between
            if len(shown) + len(tail) <= cells:
                return shown, tail
    return "", _cut(tail, cells)


def _cut(text: str, cells: int) -> str:
    """A name that is too long even alone loses its middle, not its ending."""
    if len(text) <= cells:
        return text
    left = max(0, (cells - 1) // 2)
    return text[:left] + "…" + text[len(text) - max(0, cells - 1 - left) :]
