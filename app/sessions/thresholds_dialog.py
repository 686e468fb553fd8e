"""When a session asks for a look: its thresholds, and the dialog that sets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QPushButton,
    QSpinBox,
    QWidget,
)

from app.kit import theme
from app.kit.boxes import column
from app.kit.i18n import translate
from app.kit.safe_text import PlainLabel
from core.domain.attention import Thresholds

if TYPE_CHECKING:
    from app.desk.settings import Settings


class Field(msgspec.Struct, frozen=True):
    """One threshold in a form; `decimals` 0 is a count."""

    name: str
    label: str
    high: float
    decimals: int = 0


def fields() -> tuple[Field, ...]:
    """Every threshold, in the reader's language."""
    return (
        Field("errors", translate("Thresholds", "Failed steps in a row"), 10_000),
        Field("same", translate("Thresholds", "Equal actions in a row"), 10_000),
        Field("waits", translate("Thresholds", "Waiting steps in a row"), 10_000),
        Field("stall_min", translate("Thresholds", "Minutes in which no step ends"), 100_000, 1),
        Field("budget", translate("Thresholds", "Used share of a limit"), 1, 2),
        Field("diversity", translate(
            "Thresholds", "Different commands of the last 50 since the first error: share, at most"), 1, 2),
    )


def from_settings(settings: Settings) -> Thresholds:
    """What new sessions get that are started here."""
    return Thresholds(**{f.name: settings.get(f"attention.{f.name}") for f in fields()})  # type: ignore[arg-type]


class ThresholdsDialog(QDialog):
    """`chosen` gives the thresholds when the reader agrees."""

    chosen = Signal(object)

    def __init__(self, title: str, now: Thresholds, usual: Thresholds, parent: QWidget) -> None:
        """`usual` are those of the settings."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("When it asks for a look"))
        self._usual = usual
        self.boxes: dict[str, QSpinBox | QDoubleSpinBox] = {}
        form = QFormLayout()
        for field in fields():
            box = self.boxes[field.name] = _box(field, self)
            form.addRow(PlainLabel(field.label, self, wrap=True, buddy=box), box)
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, self)
        self.usual = QPushButton(self.tr("As in the settings"), self, autoDefault=False)
        self.buttons.addButton(self.usual, QDialogButtonBox.ButtonRole.ResetRole)
        about = PlainLabel(self.tr("“{title}” asks for a look from these numbers on; everybody who watches it is told. "
                                   "0 means never.").format(title=title), self, wrap=True)
        column(about, form, self.buttons, on=self, spacing=3 * theme.GRID, margin=4 * theme.GRID)
        self.usual.clicked.connect(self._show_usual)
        self.buttons.accepted.connect(self._accept_values)
        self.buttons.rejected.connect(self.reject)
        self.setMinimumWidth(420)
        self.show_thresholds(now)

    def show_thresholds(self, thresholds: Thresholds) -> None:
        """Fill the form."""
        for name, box in self.boxes.items():
            box.setValue(getattr(thresholds, name))

    def _show_usual(self) -> None:
        self.show_thresholds(self._usual)

    def _accept_values(self) -> None:
        values: Any = {name: box.value() for name, box in self.boxes.items()}
        self.chosen.emit(Thresholds(**values))
        self.accept()


def _box(field: Field, parent: QWidget) -> QSpinBox | QDoubleSpinBox:
    box: QSpinBox | QDoubleSpinBox
    if field.decimals:
        box = QDoubleSpinBox(parent, decimals=field.decimals, singleStep=0.05 if field.high <= 1 else 5)
        box.setMaximum(field.high)
    else:
        box = QSpinBox(parent)
        box.setMaximum(int(field.high))
    box.setAccessibleName(field.label)
    box.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.PlusMinus)
    return box
