"""The border row of the eye over what entered the context for a step: how many messages, and how many tokens."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QTableView

from app.kit import quantities, theme, tokens
from app.kit.flat_model import Index
from app.kit.i18n import plural, translate
from app.step.context_lines import ContextLine

BorderRole = int(Qt.ItemDataRole.UserRole) + 2
"""The words of a border row and its figures; None for a message."""


def border_figures(line: ContextLine) -> str:
    """How many messages a border row stands over, and their tokens."""
    messages = translate("ContextModel", "%Ln message(s)", None, plural(1 + len(line.more)))
    return f"{messages} · " + translate("EyeView", "+{tokens} tokens").format(tokens=quantities.number(line.tokens))


class BorderRows(QStyledItemDelegate):
    """Draws border rows over all columns, and leaves messages as they are."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """The words of a border row lie over all columns, and make none of them wider."""
        hint = super().sizeHint(option, index)
        return QSize(0, hint.height()) if index.data(BorderRole) else hint

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The line of what entered, its words in bold, its figures behind them."""
        found = index.data(BorderRole)
        if found is None:
            super().paint(painter, option, index)
            return
        painter.save()
        painter.fillRect(option.rect, theme.colour("keep_tint"))
        painter.fillRect(QRect(option.rect.topLeft(), QSize(option.rect.width(), tokens.BORDER)), theme.colour("keep"))
        left = option.rect.left() + theme.px(tokens.SIDE)
        for words, ink, font in zip(found, ("keep", "muted"), self._fonts(option), strict=True):
            painter.setFont(font)
            painter.setPen(theme.colour(ink))
            room = option.rect.adjusted(left - option.rect.left(), tokens.BORDER, 0, 0)
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, words)
            left += painter.fontMetrics().horizontalAdvance(words) + theme.px(tokens.SIDE)
        painter.restore()

    def _fonts(self, option: QStyleOptionViewItem) -> tuple[QFont, QFont]:
        small = theme.font_of("fact", option.font)
        return theme.bold_font(small), small


def span_borders(table: QTableView) -> None:
    """Let each border row of a table lie over all of its columns."""
    table.clearSpans()
    model = table.model()
    for row in range(model.rowCount()):
        if model.index(row, 0).data(BorderRole):
            table.setSpan(row, 0, 1, model.columnCount())
