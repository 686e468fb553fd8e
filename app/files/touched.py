"""The touched files as a list, newest change first, or as a tree of folders."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QListView, QStackedWidget, QTreeView, QWidget

from app.files.model import FilesModel, Key
from app.files.row import FileDelegate
from app.files.tree import FileTreeModel
from app.kit import theme


class TouchedFiles(QStackedWidget):
    """`chosen` tells the key of the file that the reader selected."""

    chosen = Signal(object)

    def __init__(self, model: FilesModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._model = model
        self._tree_model = FileTreeModel(model, self)
        self.list, self.tree = QListView(self), QTreeView(self)
        self.list.setModel(model)
        self.list.setUniformItemSizes(True)
        self.list.setAccessibleName(self.tr("Touched files"))
        self.tree.setModel(self._tree_model)
        self.tree.setUniformRowHeights(True)
        self.tree.setHeaderHidden(True)
        self.tree.setIndentation(4 * theme.GRID)
        self.tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tree.setAccessibleName(self.tr("Touched files by folder"))
        for view in (self.list, self.tree):
            view.setMinimumHeight(self.fontMetrics().height() + 4 * theme.GRID)
            self.addWidget(view)
        self._rows, self._leaves = FileDelegate(self.list), FileDelegate(self.tree)
        self._leaves.shows_folder = False
        self.list.setItemDelegate(self._rows)
        self.tree.setItemDelegate(self._leaves)
        self._held: Key | None = None
        self.setFocusProxy(self.list)
        self.list.selectionModel().currentChanged.connect(self._choose_in_list)
        self.tree.selectionModel().currentChanged.connect(self._choose_in_tree)
        model.dataChanged.connect(self._repaint_tree)
        self._tree_model.modelReset.connect(self._unfold_tree)

    def show_tree(self, on: bool) -> None:
        """Show folders, or the list; the same file stays selected."""
        before, after = (self.list, self.tree) if on else (self.tree, self.list)
        focused = before.hasFocus()
        self.setCurrentWidget(after)
        self.setFocusProxy(after)
        self._unfold_tree()
        self.select(self._held)
        if focused:
            after.setFocus()

    def show_hosts(self, several: bool) -> None:
        """Whether the list tells each file's host."""
        self._rows.several_hosts = several

    def select(self, key: Key | None) -> None:
        """Select a file without telling it as chosen; None selects the first of the list."""
        if key is None and (first := self._model.file(0)) is not None:
            key = first.key
        self._held = key
        if key is None:
            return
        for view, index in ((self.list, self._model.index(max(0, self._model.row_of(key)))),
                            (self.tree, self._tree_model.index_of(key))):
            if index != view.currentIndex():
                view.selectionModel().blockSignals(True)
                view.setCurrentIndex(index)
                view.selectionModel().blockSignals(False)
                view.viewport().update()

    def _choose_in_list(self, index: QModelIndex, _: QModelIndex) -> None:
        self._choose(index.row())

    def _choose_in_tree(self, index: QModelIndex, _: QModelIndex) -> None:
        self._choose(self._tree_model.file_row(index))

    def _choose(self, row: int) -> None:
        file = self._model.file(row) if row >= 0 else None
        if file is not None:
            self._held = file.key
            self.chosen.emit(file.key)

    def _repaint_tree(self) -> None:
        self.tree.viewport().update()

    def _unfold_tree(self) -> None:
        if self.currentWidget() is self.tree:
            self.tree.expandAll()
            if self._held is not None:
                self.select(self._held)
