"""Paints a touched file, or a folder of the tree of them."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from app.files.model import FilesModel, TouchedFile
from app.files.tree import FileTreeModel
from app.kit import quantities, theme
from app.kit.flat_model import Index
from app.kit.i18n import plural
from app.kit.row_paint import fill_ground, write
from app.kit.safe_text import one_line


class FileDelegate(QStyledItemDelegate):
    """A row: name, folder, host where there are several, +added −removed, step."""

    several_hosts = False
    shows_folder = True

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """One line with air."""
        return QSize(60, QFontMetrics(option.font).height() + 2 * theme.GRID)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw from the right: the counts and step keep their place, the path takes what is left."""
        file, folder = index.data(FilesModel.FileRole), index.data(FileTreeModel.FolderRole)
        self.initStyleOption(option, index)
        fill_ground(painter, option)
        painter.save()
        room = QRectF(option.rect).adjusted(2 * theme.GRID, 0, -2 * theme.GRID, 0)
        if isinstance(file, TouchedFile):
            self._file(painter, option, room, file, index.data(FilesModel.CountsRole))
        elif isinstance(folder, tuple):
            self._folder(painter, option, room, *folder)
        painter.restore()

    def _folder(self, painter: QPainter, option: QStyleOptionViewItem, room: QRectF, name: str, count: int) -> None:
        room = self._right(painter, room, self.tr("%Ln file(s)", None, plural(count)), "muted", option, "")
        write(painter, room, one_line(f"{name.rstrip('/')}/"), "ink", option.font, cut=Qt.TextElideMode.ElideMiddle)

    def _file(self, painter: QPainter, option: QStyleOptionViewItem, room: QRectF, file: TouchedFile,
              counts: object) -> None:
        step = file.reads[-1] if file.is_only_read else file.last.step
        room = self._right(painter, room, quantities.number(step) if step else "", "muted", option, "00000")
        for mark, meaning in self._marks(file, counts):
            room = self._right(painter, room, mark, meaning, option, "")
        name = one_line(file.name, 120)
        ink, font = ("muted", option.font) if file.is_only_read else ("ink", theme.bold_font(option.font))
        write(painter, room, name, ink, font, cut=Qt.TextElideMode.ElideMiddle)
        room.setLeft(room.left() + painter.fontMetrics().horizontalAdvance(name) + 2 * theme.GRID)
        where = one_line(f"{file.host}:{file.folder}" if self.several_hosts and file.host else file.folder)
        if self.shows_folder and room.width() > 24:
            write(painter, room, where, "muted", theme.small_font(option.font), cut=Qt.TextElideMode.ElideLeft)

    def _right(self, painter: QPainter, room: QRectF, text: str, meaning: str, option: QStyleOptionViewItem,
               least: str) -> QRectF:
        width = max(write(painter, room, text, meaning, theme.small_font(option.font), right=True),
                    painter.fontMetrics().horizontalAdvance(least))
        room.setRight(room.right() - width - (2 * theme.GRID if width else 0))
        return room

    def _marks(self, file: TouchedFile, counts: object) -> list[tuple[str, str]]:
        if file.is_only_read:
            return [(self.tr("read"), "muted")]
        change = file.last
        if change.too_large:
            return [(self.tr("too large"), "muted")]
        if not change.after:
            return [(self.tr("deleted"), "error")]
        marks: list[tuple[str, str]] = []
        if isinstance(counts, tuple):
            marks = [(f"−{counts[1]}", "error"), (f"+{counts[0]}", "keep")]
        if len(file.changes) > 1:
            marks.append((f"×{quantities.number(len(file.changes))}", "muted"))
        if not change.before:
            marks.append((self.tr("new"), "keep"))
        return marks
