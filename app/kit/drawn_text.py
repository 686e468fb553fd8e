"""A text whose lines can be folded, which lies on grounds of its own in parts, and has pictures between its lines."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QTextBlock, QTextCursor
from PySide6.QtWidgets import QToolTip

from app.kit import icons, theme, tokens
from app.kit.choosable_text import ChoosableText
from app.kit.safe_text import plain_tooltip
from app.kit.text_folds import LineFold, TextFolds

SIGN, SIGN_GAP = 12, 3
"""An icon beside a line, and the room between both."""

MARGIN = SIGN + SIGN_GAP
"""The document's own margin, in which the signs of folds and headings stand. It lies above the first line, too, and is
therefore no wider than they are; the rest of the side is outside the text. What lies on a ground of its own begins by
the padding further out."""

PADDING = 2 * theme.GRID
"""How far the ground of a block reaches beyond its letters."""


class PlacedPicture(msgspec.Struct, frozen=True):
    """An image over the empty lines from a line on, in pixels."""

    line: int
    image: QImage
    width: int
    height: int


class DrawnText(ChoosableText):
    """Enter on a line with a fold, or a click on its sign, opens and closes it; elsewhere it shows outputs whole."""

    turned = Signal()
    """A fold was opened or closed."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.document().setDocumentMargin(MARGIN)
        self.setViewportMargins(tokens.GROUP - MARGIN, 0, tokens.GROUP - MARGIN, 0)
        self.folds = TextFolds(self.document())
        self.pictures: list[PlacedPicture] = []
        self.grounds: list[tuple[int, int]] = []
        """First and last line of what lies on the ground of chrome, such as a terminal's output."""

        self.signs: list[tuple[int, str, str]] = []
        """Icons in the margin: the line, the icon, the colour of its meaning."""

        self.tinted: dict[int, str] = {}
        """The colour on which a line lies, beyond that of its ground."""

    def forget_drawing(self) -> None:
        """The text is another one."""
        self.folds.clear()
        self.pictures, self.grounds, self.signs = [], [], []
        self.tinted.clear()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens and closes the fold of the line with the text cursor."""
        fold = self.folds.at(self.textCursor().blockNumber())
        if fold is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self._is_choice():
            self._turn(fold)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not self._is_choice() and self.open_rest():
            event.accept()
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on the sign of a fold, or on the line that counts what is left out."""
        fold = self._fold_below(event)
        if fold is not None and event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self._turn(fold)
        else:
            super().mouseReleaseEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The pointer says what can be opened."""
        super().mouseMoveEvent(event)
        if self._fold_below(event) is not None:
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)

    def words_under(self, point: QPoint) -> str:
        """What is said of the words at a place of the viewport; "" for nothing."""
        below = self.cursorForPosition(point)
        at, is_left = below.position(), point.x() < self.cursorRect(below).left()
        return next((one.format.toolTip() for one in self.extraSelections() if one.format.toolTip()
                     and one.cursor.selectionStart() <= at <= one.cursor.selectionEnd()), "") or self.words_at(
                         at - is_left)

    def words_at(self, position: int) -> str:
        """What is said of the character behind a position; "" for nothing."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(max(0, position))
        return cursor.charFormat().toolTip() if cursor.movePosition(QTextCursor.MoveOperation.Right) else ""

    def viewportEvent(self, event: QEvent) -> bool:
        """The tooltip of marked words is what is said of them."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), plain_tooltip(self.words_under(event.pos())), self.viewport())
            return True
        return super().viewportEvent(event)

    def next_rest(self) -> LineFold | None:
        """The first fold that counts what is left out of an output, while it does."""
        return next((fold for fold in self.folds.folds.values() if fold.is_rest and fold.is_folded), None)

    def open_rest(self) -> bool:
        """Show all of the outputs of which only the beginning stands there; whether there was one."""
        found = False
        while (fold := self.next_rest()) is not None:
            self._turn(fold)
            found = True
        return found

    def _turn(self, fold: LineFold) -> None:
        self.folds.toggle(fold)
        self.viewport().update()
        self.turned.emit()

    def _is_choice(self) -> bool:
        return bool(self.choice_at(self.textCursor().selectionStart()))

    def _fold_below(self, event: QMouseEvent) -> LineFold | None:
        point = event.position().toPoint()
        fold = self.folds.at(self.cursorForPosition(point).blockNumber()) if self.folds.folds else None
        return fold if fold is not None and (fold.is_rest or point.x() <= MARGIN + PADDING) else None

    # ---- drawing ---------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Grounds below the letters, pictures and signs above them."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for first, last in self.grounds:
            if (room := self._room(first, last)) is not None:
                self._ground(painter, room, first, last)
        painter.end()
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        for picture in self.pictures:
            self._picture(painter, picture)
        for fold in self.folds.folds.values():
            self._sign(painter, fold)
        for line, icon, meaning in self.signs:
            self._in_margin(painter, self.document().findBlockByNumber(line), icon, meaning)
        painter.end()

    def _ground(self, painter: QPainter, room: QRectF, first: int, last: int) -> None:
        """A frame with round corners around the lines that lie on it, and a little of the room above and below them."""
        frame, radius = room.adjusted(0.5, -2.5, -0.5, 2.5), tokens.RADII["control"]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("window"))
        painter.drawRoundedRect(frame, radius, radius)
        self._tint(painter, first, last)
        painter.setPen(theme.colour("line"))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame, radius, radius)

    def _tint(self, painter: QPainter, first: int, last: int) -> None:
        """What goes and what comes, of the lines that are in sight."""
        block = self.firstVisibleBlock()
        for line in range(max(first, block.blockNumber()), last + 1) if self.tinted else ():
            room = self._room(line, line)
            if room is None or room.top() > self.viewport().height():
                return
            if line in self.tinted:
                painter.fillRect(room, theme.colour(self.tinted[line]))

    def _picture(self, painter: QPainter, picture: PlacedPicture) -> None:
        block = self.document().findBlockByNumber(picture.line)
        if not block.isVisible():
            return
        at = self._top_left(block)
        most = max(1, self.viewport().width() - round(at.x()) - MARGIN)
        wide = min(picture.width, most)
        high = picture.height * wide / picture.width
        if at.y() < self.viewport().height() and at.y() + high > 0:
            painter.drawImage(QRectF(at.x(), at.y(), wide, high), picture.image)

    def _sign(self, painter: QPainter, fold: LineFold) -> None:
        """Beside a fold's head whether it is open, and behind it how many lines it hides."""
        block = self.document().findBlockByNumber(fold.head)
        if not block.isVisible() or fold.is_rest:
            return
        at, high = self._top_left(block), self.blockBoundingRect(block).height()
        if not -high < at.y() < self.viewport().height():
            return
        self._in_margin(painter, block, "chevron-right" if fold.is_folded else "chevron-down", "muted")
        if fold.is_folded:
            end = block.layout().lineAt(block.layout().lineCount() - 1)
            painter.setPen(theme.colour("muted"))
            painter.setFont(theme.font_of("caption", self.font()))
            painter.drawText(QPointF(at.x() + end.naturalTextWidth() + MARGIN, at.y() + end.y() + end.ascent()),
                             f"… {fold.last - fold.first + 1}")

    def _in_margin(self, painter: QPainter, block: QTextBlock, icon: str, meaning: str) -> None:
        """An icon beside the first line of a block."""
        at = self._top_left(block)
        if block.isVisible() and -theme.px(icons.SIDE) < at.y() < self.viewport().height():
            high = block.layout().lineAt(0).height()
            side = min(float(SIGN), high)
            icons.draw(painter, icon, QRectF(at.x() - side - SIGN_GAP, at.y() + (high - side) / 2, side, side),
                       theme.colour(meaning))

    def _top_left(self, block: QTextBlock) -> QPointF:
        return self.blockBoundingGeometry(block).translated(self.contentOffset()).topLeft() + QPointF(MARGIN, 0)

    def _room(self, first: int, last: int) -> QRectF | None:
        """Where some lines stand; None where none of them is in sight."""
        blocks = (self.document().findBlockByNumber(first), self.document().findBlockByNumber(last))
        if not all(block.isValid() for block in blocks):
            return None
        last_seen = blocks[1]
        while not last_seen.isVisible() and last_seen.blockNumber() > first:
            last_seen = last_seen.previous()
        offset = self.contentOffset()
        top = self.blockBoundingGeometry(blocks[0]).translated(offset).top()
        bottom = self.blockBoundingGeometry(last_seen).translated(offset).bottom()
        left, width = MARGIN - PADDING, self.viewport().width() - 2 * (MARGIN - PADDING)
        return QRectF(left, top, width, bottom - top) if bottom > 0 and top < self.height() else None
