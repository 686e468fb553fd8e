"""Where a person logs in by a code: the page, the code to enter there, and that this window waits for it."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QWidget

from app.kit import theme
from app.kit.boxes import column
from app.kit.safe_text import PlainLabel, one_line
from app.kit.scrolled import within


class CodeDialog(QDialog):
    """Closed by whoever waits for the log-in, or rejected by the reader, who then logs in no more."""

    def __init__(self, parent: QWidget, server: str, code: str, place: str, whole: str) -> None:
        """`whole` is the address that has the code in it, which is opened here; `place` is what a person types."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Log in"))
        self.resize(within(parent, 440, 220))
        self._code, self._whole = code, whole or place
        what = PlainLabel(self.tr("To log in to {server}, open this page in any browser and enter the code:").format(
            server=one_line(server, 80)), self, wrap=True)
        self.place = self._copied(place)
        self.code = self._copied(code)
        font = self.code.font()
        font.setPointSizeF(2 * font.pointSizeF())
        self.code.setFont(font)
        wait = PlainLabel(self.tr("This window closes by itself when you have agreed there."), self, wrap=True,
                          faint=True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.browse = buttons.addButton(self.tr("Open the page"), QDialogButtonBox.ButtonRole.ActionRole)
        self.copy = buttons.addButton(self.tr("Copy the code"), QDialogButtonBox.ButtonRole.ActionRole)
        self.browse.clicked.connect(self._on_browse)
        self.copy.clicked.connect(self._on_copy)
        buttons.rejected.connect(self.reject)
        self.browse.setDefault(True)
        column(what, self.place, self.code, wait, 1, buttons, on=self, spacing=2 * theme.GRID, margin=4 * theme.GRID)

    def _copied(self, text: str) -> PlainLabel:
        label = PlainLabel(one_line(text, 300), self, wrap=True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse
                                      | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        return label

    def _on_browse(self) -> None:
        QDesktopServices.openUrl(QUrl(self._whole))

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._code)
