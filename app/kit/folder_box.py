"""A folder to choose: a path and a button that looks for one."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget

from app.kit import theme
from app.kit.boxes import named, row
from app.kit.tool_button import tool_button


class FolderBox(QWidget):
    """A folder's path and a button that looks for one."""

    changed = Signal(str)

    def __init__(self, name: str, hint: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self.edit = named(QLineEdit(self, placeholderText=hint), name)
        button = tool_button(self, "folder-open", name)
        button.clicked.connect(self._ask_folder)
        row((self.edit, 1), button, on=self, spacing=theme.GRID, margin=0)
        self.setFocusProxy(self.edit)
        self.edit.editingFinished.connect(self._announce_path)

    @property
    def path(self) -> str:
        """What is entered."""
        return self.edit.text().strip()

    def _ask_folder(self) -> None:
        dialog = QFileDialog(self, self._name, self.path, fileMode=QFileDialog.FileMode.Directory)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._on_chosen)
        dialog.open()

    def _on_chosen(self, path: str) -> None:
        self.edit.setText(path)
        self._announce_path()

    def _announce_path(self) -> None:
        self.changed.emit(self.path)
