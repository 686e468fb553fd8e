"""What a task asks of a computer before its first run, and the word that allows it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFrame, QWidget

from app.desk.right_words import rights_words
from app.kit import theme
from app.kit.boxes import column
from app.kit.safe_text import PlainLabel
from core.domain.host_rights import HostRight


class RightsSheet(QFrame):
    """Names every right. On this computer a checkbox allows them; another server's operator must have done so there."""

    toggled = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.rights: tuple[HostRight, ...] = ()
        self._can_allow = False
        self.title = PlainLabel("", self, wrap=True)
        self.title.setFont(theme.bold_font(self.title.font()))
        self.lines = PlainLabel("", self, wrap=True)
        self.remedy = PlainLabel("", self, wrap=True)
        self.allow = QCheckBox(self.tr("I allow this, as long as the task's folder stays as it is"), self)
        self.allow.toggled.connect(self.toggled)
        column(self.title, self.lines, self.remedy, self.allow, on=self, spacing=2 * theme.GRID, margin=3 * theme.GRID)

    def show_rights(self, rights: tuple[HostRight, ...], task: str, here: bool, can_allow: bool) -> None:
        """Name these rights of a task; other ones than before must be allowed anew. `can_allow`: by a tick, here."""
        if rights != self.rights or can_allow != self._can_allow:
            self.allow.setChecked(False)
        self.rights, self._can_allow = rights, can_allow
        self.title.setText(self.tr("This task asks for more than a closed container on this computer:") if here else
                           self.tr("This task asks for more than a closed container on the server's computer:"))
        self.lines.setText(rights_words(rights))
        command = f"tiphys allow task {task}"
        self.remedy.setText(
            self.tr("The task's folder cannot be read whole, so that nothing can be allowed to it.") if here else
            self.tr("Nobody has allowed it there. Who runs the server can: {command}").format(command=command))
        self.remedy.setVisible(not can_allow)
        self.allow.setVisible(can_allow)

    @property
    def is_allowed(self) -> bool:
        """Whether nothing is asked, or a person has allowed it."""
        return not self.rights or (self._can_allow and self.allow.isChecked())
