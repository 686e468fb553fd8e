"""A quiet line above the steps: what was said of the whole session, opened to read all of it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QToolButton, QWidget

from app.kit import theme
from app.kit.boxes import column, row
from app.kit.i18n import plural
from app.kit.long_text import LongText, Part
from app.kit.safe_text import PlainLabel, one_line

LINES = 8
"""So many lines are in sight when it is open."""


class RemarksBar(QWidget):
    """Hidden while there are no remarks."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = PlainLabel("", self, elide=True, faint=True)
        self.toggle = QToolButton(self, autoRaise=True)
        self.toggle.setCheckable(True)
        self.toggle.setToolTip(self.tr("Show all that was said of the whole session"))
        self.toggle.setAccessibleName(self.tr("Remarks on the session"))
        self.text = LongText(self, name=self.tr("Remarks on the session"))
        self.text.setFixedHeight(LINES * self.fontMetrics().height())
        self.text.hide()
        line = row((self.label, 1), self.toggle, spacing=theme.GRID, margin=(theme.GRID, 0, 0, 0))
        column(line, self.text, on=self, spacing=theme.GRID, margin=0)
        self.toggle.toggled.connect(self._on_toggled)
        self.hide()

    def show_remarks(self, remarks: Sequence[tuple[str, str]]) -> None:
        """Show remarks, each with who said it and when; without any there is nothing to see."""
        self.setVisible(bool(remarks))
        if not remarks:
            self.toggle.setChecked(False)
        self.label.setText("ⓘ " + one_line(remarks[0][0], 400) if remarks else "")
        self.toggle.setText(self.tr("%Ln remark(s)", None, plural(len(remarks))))
        self.text.show_parts([part for text, about in remarks for part in (
            Part(text=text.rstrip() + "\n"), Part(text=f"{about}\n\n", style="meta"))])

    def _on_toggled(self, on: bool) -> None:
        """Before it hides: the focus must not fall on what a letter would drive."""
        if not on and self.text.isAncestorOf(self.focusWidget() or self):
            self.toggle.setFocus()
        self.text.setVisible(on)
        if on:
            self.text.setFocus()
