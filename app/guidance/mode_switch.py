"""When a guidance text reaches the agent: two buttons side by side, one of which is down."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QButtonGroup, QToolButton, QWidget

from app.kit import icons
from app.kit.boxes import named, row

MODES = ("note", "interrupt")


class ModeSwitch(QWidget):
    """`mode` is one of MODES."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("How it is sent"))
        words = {"note": (self.tr("At the next step"), self.tr("Waits for the next step.")),
                 "interrupt": (self.tr("Interrupt now"), self.tr("Also ends the action that is running."))}
        self._group = QButtonGroup(self)
        self.buttons: dict[str, QToolButton] = {}
        for mode in MODES:
            button = self.buttons[mode] = named(QToolButton(self), words[mode][0])
            button.setText(words[mode][0])
            button.setToolTip(words[mode][1])
            button.setCheckable(True)
            button.setObjectName("segment")
            self._group.addButton(button)
        self.buttons["interrupt"].setIcon(icons.icon("zap"))
        icons.beside_words(self.buttons["interrupt"])
        self.buttons["interrupt"].setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.mode = MODES[0]
        row(*self.buttons.values(), on=self, spacing=0, margin=0)

    @property
    def mode(self) -> str:
        """The mode that is chosen."""
        return next(mode for mode, button in self.buttons.items() if button.isChecked())

    @mode.setter
    def mode(self, mode: str) -> None:
        self.buttons[mode if mode in MODES else MODES[0]].setChecked(True)
