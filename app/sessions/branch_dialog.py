"""Going another way from a step on: with the advice that was given there, without it, with another, or as it was."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QPlainTextEdit,
    QSpinBox,
    QWidget,
)

from app.kit import quantities, theme
from app.kit.boxes import column
from app.kit.i18n import plural
from app.kit.safe_text import PlainLabel, one_line
from core.domain.guidance import Guidance

MOST = 50
"""So many branches of a kind; each works for itself and costs what a session costs."""


class BranchArm(msgspec.Struct, frozen=True):
    """Branches of one kind: what they are called, which advice they are not given, and which they are."""

    name: str
    without: tuple[str, ...] = ()
    text: str = ""


class BranchDialog(QDialog):
    """`chosen` gives the arms, how many branches each has, and whether steps since the snapshot are taken again."""

    chosen = Signal(object, int, bool)

    def __init__(self, title: str, step: int, given: Sequence[Guidance], parent: QWidget) -> None:
        """`given` is what the agent was given at the step after this one."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Branch after step {n}").format(n=quantities.number(step)))
        self._given = tuple(given)
        self.same = QCheckBox(self.tr("With the advice that was given") if given else self.tr("As it was"), self)
        self.without = QCheckBox(self.tr("Without it"), self)
        self.text = QPlainTextEdit(self, tabChangesFocus=True, placeholderText=self.tr("May be empty"))
        self.times = QSpinBox(self, minimum=1, maximum=MOST)
        self.replays = QCheckBox(self.tr("Take the steps since the snapshot again, with the recorded answers"), self)
        self.total = PlainLabel("", self)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.agree = self.buttons.addButton(self.tr("Branch"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.agree.setShortcut("Ctrl+Return")  # as every other box for advice
        self._lay_out(title)
        self._prepare()

    def _lay_out(self, title: str) -> None:
        about = PlainLabel(self.tr(
            "Sessions of their own share the past of “{title}” up to this step and go on from there, with files and "
            "context of the newest snapshot up to it. What was done outside the sandboxes is not undone.").format(
                title=title), self, wrap=True)
        form = QFormLayout()
        for label, box in ((self.tr("With another advice"), self.text), (self.tr("Branches of each kind"), self.times)):
            box.setAccessibleName(label)
            form.addRow(label, box)
        words = "\n".join(f"“{one_line(one.text, 120)}”" for one in self._given)
        advice = PlainLabel(words, self, wrap=True)
        advice.setVisible(bool(words))
        column(about, self.same, advice, self.without, form, self.replays, self.total, self.buttons, on=self,
               spacing=3 * theme.GRID, margin=4 * theme.GRID)
        self.setMinimumWidth(480)

    def _prepare(self) -> None:
        self.same.setChecked(True)
        self.without.setChecked(bool(self._given))
        self.without.setVisible(bool(self._given))
        self.replays.setChecked(True)
        self.text.setFixedHeight(theme.px(72))
        self.times.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.PlusMinus)
        for changed in (self.same.toggled, self.without.toggled, self.text.textChanged, self.times.valueChanged):
            changed.connect(self._show_total)
        self.buttons.accepted.connect(self._accept_choice)
        self.buttons.rejected.connect(self.reject)
        self._show_total()

    def arms(self) -> list[BranchArm]:
        """What was chosen."""
        ids = tuple(one.id for one in self._given)
        text = self.text.toPlainText().strip()
        found = [BranchArm("with" if ids else "again")] if self.same.isChecked() else []
        found += [BranchArm("without", ids)] if ids and self.without.isChecked() else []
        return found + ([BranchArm("other advice", ids, text)] if text else [])

    def _show_total(self, *_: object) -> None:
        count = len(self.arms()) * self.times.value()
        self.total.setText(self.tr("%Ln session(s) begin.", None, plural(count)))
        self.agree.setEnabled(count > 0)

    def _accept_choice(self) -> None:
        self.chosen.emit(self.arms(), self.times.value(), self.replays.isChecked())
        self.accept()
