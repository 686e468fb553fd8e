"""The touched files as a tree of hosts and folders, over the flat list; folders with one folder inside are one row."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, Qt

from app.files.model import FilesModel, Key
from app.kit.flat_model import Index
from app.kit.safe_text import visible
from core.domain.path_parts import separator_of

_TOP = 0


@dataclass
class _Node:
    name: str
    parent: int
    file: int = -1
    """Its row in the flat list; -1 for a folder."""
    children: list[int] = field(default_factory=list)
    row: int = 0
    count: int = 1


class FileTreeModel(QAbstractItemModel):
    """Folders first, then files, each by name."""

    FolderRole = FilesModel.CountsRole + 1
    """(name, number of files) of a folder; None for a file."""

    def __init__(self, files: FilesModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._files = files
        self._nodes = [_Node("", -1)]
        files.modelReset.connect(self._rebuild_nodes)
        self._rebuild_nodes()

    def index_of(self, key: Key) -> QModelIndex:
        """Where a file stands; invalid when it is not there."""
        row = self._files.row_of(key)
        at = next((i for i, node in enumerate(self._nodes) if row >= 0 and node.file == row), _TOP)
        return self.createIndex(self._nodes[at].row, 0, at) if at else QModelIndex()

    def file_row(self, index: Index) -> int:
        """The row of a file in the flat list; -1 for a folder."""
        return self._nodes[index.internalId()].file if index.isValid() else -1

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:
        node = self._node(parent)
        if column or not 0 <= row < len(node.children):
            return QModelIndex()
        return self.createIndex(row, 0, node.children[row])

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        """The folder that holds it."""
        at = self._nodes[index.internalId()].parent if index.isValid() else -1
        return self.createIndex(self._nodes[at].row, 0, at) if at > _TOP else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """How many entries a folder has."""
        return len(self._node(parent).children)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 1

    def flags(self, index: Index) -> Qt.ItemFlag:
        """A file never has children: Left goes to its folder at once."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemNeverHasChildren if self.file_row(index) >= 0 else flags

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """A file's data as in the flat list; a folder's name and number of files."""
        if not index.isValid():
            return None
        node = self._nodes[index.internalId()]
        if node.file >= 0:
            return self._files.data(self._files.index(node.file), role)
        if role == self.FolderRole:
            return node.name, node.count
        return visible(node.name) if role == Qt.ItemDataRole.DisplayRole else None

    def _node(self, index: Index) -> _Node:
        return self._nodes[index.internalId() if index.isValid() else _TOP]

    def _rebuild_nodes(self) -> None:
        self.beginResetModel()
        self._nodes = [_Node("", -1)]
        folders: dict[tuple[str, ...], int] = {(): _TOP}
        hosts = {file.host for file in self._files.rows}
        for row, file in enumerate(self._files.rows):
            parts = [p for p in file.path.split(separator_of(file.path)) if p]
            above = ([file.host] if len(hosts) > 1 else []) + (["/"] if file.path.startswith("/") else []) + parts[:-1]
            self._add(_Node(parts[-1] if parts else file.path, self._folder(folders, tuple(above)), row))
        self._settle(_TOP)
        self.endResetModel()

    def _folder(self, folders: dict[tuple[str, ...], int], path: tuple[str, ...]) -> int:
        if path not in folders:
            parent = self._folder(folders, path[:-1])
            folders[path] = self._add(_Node(path[-1], parent))
        return folders[path]

    def _add(self, node: _Node) -> int:
        self._nodes.append(node)
        self._nodes[node.parent].children.append(len(self._nodes) - 1)
        return len(self._nodes) - 1

    def _settle(self, at: int) -> int:
        """Join folders that hold one folder only, order the entries, count the files."""
        node = self._nodes[at]
        while at and len(node.children) == 1 and self._nodes[node.children[0]].file < 0:
            only = self._nodes[node.children[0]]
            node.name = f"{node.name.rstrip('/')}/{only.name}"
            node.children = only.children
            for child in node.children:
                self._nodes[child].parent = at
        node.children.sort(key=lambda c: (self._nodes[c].file >= 0, self._nodes[c].name))
        if node.file < 0:
            node.count = sum(self._settle(child) for child in node.children)
        for row, child in enumerate(node.children):
            self._nodes[child].row = row
        return node.count
