"""Paints the group of one task: a head for each session, a cell for each step, with what both were worth."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import QHeaderView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.kit import icons, quantities, theme, tokens
from app.kit.flat_model import Index
from app.kit.i18n import plural
from app.kit.row_paint import write
from app.kit.safe_text import one_line
from app.learning.group_model import MemberRole, StepRole
from app.learning.samples import tokens_of
from core.workers.reinforcement import SessionSheet, StepSheet

CELL, HEAD, WIDTH = 42, 44, 148
"""The heights of a cell and of a head, and the least width of a column."""



def worth(advantage: float) -> str:
    """An advantage with its sign."""
    return quantities.signed(advantage, ".2f")


def meaning_of(advantage: float) -> str:
    """Green for what is made more likely, red for what is made less so."""
    return "keep" if advantage > 0 else "error" if advantage < 0 else "edge"


class StepCells(QStyledItemDelegate):
    """Two lines: the policy's words; what they were worth, how sure it was, how many tokens."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(theme.px(WIDTH), theme.px(CELL))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one step; nothing behind a session's end."""
        step: StepSheet | None = index.data(StepRole)
        rect: QRect = option.rect
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
            theme.fill_selected(painter, rect, active=focused)
        if step is not None:
            bar = QRect(rect.left(), rect.top() + 3, theme.px(tokens.CURSOR), rect.height() - 6)
            painter.fillRect(bar, theme.colour(meaning_of(step.advantage)))
            self._lines(painter, step, rect.adjusted(theme.px(9), theme.px(3), -theme.px(6), -theme.px(3)), option.font)
        painter.setPen(theme.colour("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.restore()

    def _lines(self, painter: QPainter, step: StepSheet, room: QRect, font: QFont) -> None:
        upper, lower = QRect(room), QRect(room)
        upper.setHeight(room.height() // 2)
        lower.setTop(upper.bottom() + 1)
        mark = "circle-x" if step.is_error else "circle-slash" if step.masked else ""
        if mark:
            side = theme.px(12)
            icons.draw(painter, mark, QRectF(upper.left(), upper.center().y() - side / 2 + 1, side, side),
                       theme.colour("error" if step.is_error else "mask"))
            upper.setLeft(upper.left() + side + theme.px(4))
        write(painter, upper, one_line(step.text, 120), "ink", font)
        write(painter, lower, worth(step.advantage), meaning_of(step.advantage) if step.advantage else "muted",
              theme.font_of("caption", font))
        write(painter, lower, self.tr("%Ln token(s)", None, plural(step.tokens)), "muted", right=True)


class MemberHead(QHeaderView):
    """One session at the head of its column: its reward and advantage, its steps and tokens."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.setMinimumSectionSize(theme.px(WIDTH))
        self.setHighlightSections(False)

    def sizeHint(self) -> QSize:
        """Two lines."""
        return QSize(super().sizeHint().width(), theme.px(HEAD))

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        """Draw one head."""
        member: SessionSheet | None = self.model().headerData(section, Qt.Orientation.Horizontal, MemberRole)
        painter.save()
        painter.fillRect(rect, theme.colour("window"))
        if member is not None:
            self._lines(painter, member, rect.adjusted(theme.px(9), theme.px(4), -theme.px(6), -theme.px(4)))
        painter.setPen(theme.colour("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.restore()

    def _lines(self, painter: QPainter, member: SessionSheet, room: QRect) -> None:
        upper, lower = QRect(room), QRect(room)
        upper.setHeight(room.height() // 2)
        lower.setTop(upper.bottom() + 1)
        write(painter, upper, f"{member.reward:.2f}", "ink", theme.bold_font(self.font()))
        write(painter, upper, worth(member.advantage), meaning_of(member.advantage) if member.advantage else "muted",
              theme.font_of("caption", self.font()), right=True)
        failed = sum(step.is_error for step in member.steps)
        words = [self.tr("%Ln step(s)", None, plural(len(member.steps))),
                 self.tr("{n} tokens").format(n=quantities.tokens(tokens_of(member)))]
        words += [self.tr("{n} failed").format(n=failed)] if failed else []
        write(painter, lower, " · ".join(words), "muted")
