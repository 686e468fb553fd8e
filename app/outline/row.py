"""Paints one line of the outline: a fold's sign or an icon, the words, and at the right its steps and failures."""

from __future__ import annotations

from PySide6.QtCore import QObject, QRect, QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.kit import icons, quantities, theme, tokens
from app.kit.flat_model import Index
from app.kit.row_paint import write
from app.outline.lines import LineText, OutlineLine
from app.outline.model import LineRole, LineTextRole, OutlineModel


class OutlineDelegate(QStyledItemDelegate):
    """Every line has the same height; the line that is read has the cursor's bar."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.here = -1
        """The row of what is read now."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """One line."""
        return QSize(80, theme.px(tokens.HEIGHTS["outline"]))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line, text = index.data(LineRole), index.data(LineTextRole)
        if not isinstance(line, OutlineLine) or not isinstance(text, LineText):
            return
        painter.save()
        rect = option.rect
        self._ground(painter, option, index)
        room = self._right(painter, text, QRect(rect.left() + theme.px(tokens.BETWEEN), rect.top(),
                                                rect.width() - 2 * theme.px(tokens.BETWEEN), rect.height()))
        room.setLeft(room.left() + line.depth * theme.px(12))
        side = theme.px(icons.SIDE)
        if icon := self._icon(index, line, text):
            meaning = "muted" if icon.startswith("chevron") else text.meaning
            icons.draw(painter, icon, QRectF(room.left(), rect.center().y() - side / 2 + 1, side, side),
                       theme.colour(meaning))
        room.setLeft(room.left() + side + theme.px(6))
        font = theme.font_of("fact", option.font)
        write(painter, room, text.words, "person" if text.meaning == "person" else "ink",
              theme.bold_font(font) if text.is_strong else font)
        painter.restore()

    def _icon(self, index: Index, line: OutlineLine, text: LineText) -> str:
        """A phase shows whether it is open, but for one that a person or a summary began."""
        model = index.model()
        if line.kind != "phase" or text.icon in ("user-round", "scroll-text", "flag"):
            return text.icon
        if isinstance(model, OutlineModel) and model.is_phase(index.row()):
            return "chevron-right" if model.is_folded(index.row()) else "chevron-down"
        return text.icon

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        is_here = index.row() == self.here
        has_keys = option.widget is not None and option.widget.hasFocus()
        is_current = bool(option.state & QStyle.StateFlag.State_Selected) and has_keys
        if is_here or is_current:
            theme.fill_selected(painter, option.rect, active=is_current or not has_keys)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, theme.colour("hover"))
        if is_here:
            bar = QRect(option.rect.left(), option.rect.top(), tokens.CURSOR, option.rect.height())
            painter.fillRect(bar, theme.colour("person"))

    def _right(self, painter: QPainter, text: LineText, room: QRect) -> QRect:
        """Draw the failures and before them the steps; returns the room that is left."""
        font = theme.font_of("caption")
        failed = f"✗ {quantities.number(text.failed)}" if text.failed else ""
        for words, meaning in ((failed, "error"), (text.right, "muted")):
            if words:
                room.setRight(room.right() - write(painter, room, words, meaning, font, right=True) - theme.px(6))
        return room
