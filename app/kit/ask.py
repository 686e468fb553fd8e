"""Questions to the reader: dialogs that are opened and report by a signal. No nested event loop, ever.

A modal loop inside a coroutine kills other tasks for good (style study §0.2).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFileDialog, QInputDialog, QMessageBox, QWidget

from app.kit.safe_text import visible


async def yes_or_no(parent: QWidget, question: str, yes: str, *, detail: str = "", careful: bool = False) -> bool:
    """Whether the reader presses the button `yes`; Escape and closing mean no, where one is `careful` Enter too."""
    box = QMessageBox(parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setWindowTitle("Tiphys")
    box.setText(visible(question))
    box.setInformativeText(visible(detail))
    agreed = box.addButton(yes, QMessageBox.ButtonRole.AcceptRole)
    cancel = box.addButton(QMessageBox.StandardButton.Cancel)
    if careful:
        box.setIcon(QMessageBox.Icon.Warning)
        box.setDefaultButton(cancel)
    await opened(box)
    return box.clickedButton() is agreed


async def files_to_open(parent: QWidget, title: str, *, folder: bool = False) -> list[str]:
    """The files (or the folder) that the reader chooses; empty when none."""
    dialog = QFileDialog(parent, title)
    dialog.setFileMode(QFileDialog.FileMode.Directory if folder else QFileDialog.FileMode.ExistingFiles)
    if await opened(dialog) != QDialog.DialogCode.Accepted:
        return []
    return list(dialog.selectedFiles())


async def file_to_save(parent: QWidget, title: str, name: str) -> str:
    """The file that the reader names; "" when none. Qt asks before one is written over."""
    dialog = QFileDialog(parent, title)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(name.rpartition(".")[2])
    dialog.selectFile(name)
    if await opened(dialog) != QDialog.DialogCode.Accepted:
        return ""
    return next(iter(dialog.selectedFiles()), "")


def ask_line(parent: QWidget, title: str, label: str, taken: Callable[[str], object], choices: Sequence[str] = ()
             ) -> None:
    """Ask for a line of text, or for one of some choices; `taken` gets it where the reader agrees."""
    dialog = QInputDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setLabelText(label)
    if choices:
        dialog.setComboBoxItems(list(choices))
        dialog.setComboBoxEditable(False)
    dialog.textValueSelected.connect(taken)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


async def opened(dialog: QDialog) -> int:
    """Open a dialog and wait, without a loop of its own, until it is finished; returns its result code."""
    done: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def finish(code: int) -> None:
        if not done.done():
            done.set_result(code)

    dialog.finished.connect(finish)
    dialog.open()
    try:
        return await done
    finally:
        dialog.deleteLater()
