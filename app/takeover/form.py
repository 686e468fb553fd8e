"""The form of one tool: a field for each argument, its choices where they are few, and why."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QComboBox, QFormLayout, QLineEdit, QPlainTextEdit, QWidget

from app.kit import theme
from app.kit.safe_text import PlainLabel, one_line, plain_tooltip
from core.domain.tool_form import FormField, ToolForm

LINES = 3
"""Lines of a box for a longer text."""


class ArgumentForm(QWidget):
    """The fields of a tool. Enter in a line, Ctrl+Enter anywhere, asks for it."""

    submitted = Signal()
    edited = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.form: ToolForm | None = None
        self.fields: dict[str, QWidget] = {}
        self._rows = QFormLayout(self, fieldGrowthPolicy=QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(theme.GRID)

    def show_tool(self, form: ToolForm | None) -> None:
        """Lay the fields of a tool out, empty."""
        self.form, self.fields = form, {}
        while self._rows.rowCount():
            self._rows.removeRow(0)
        for field in form.fields if form is not None else ():
            widget = self._field(field)
            self.fields[field.name] = widget
            name = one_line(field.name, 40)
            words = name if field.is_required else self.tr("{name} (optional)").format(name=name)
            self._rows.addRow(PlainLabel(words, self, buddy=widget), widget)

    def chain(self, before: QWidget, after: QWidget) -> None:
        """Have Tab go from what stands before the form through its fields to what stands behind it."""
        order = [before, *self.fields.values(), after]
        for first, then in pairwise(order):
            QWidget.setTabOrder(first, then)

    def given(self) -> dict[str, str]:
        """What was filled in."""
        return {name: self._text(widget) for name, widget in self.fields.items()}

    def clear(self) -> None:
        """Empty the fields for the next action."""
        for widget in self.fields.values():
            if isinstance(widget, QLineEdit | QPlainTextEdit):
                widget.clear()

    def start_writing(self, name: str = "") -> None:
        """Put the writer into a field, or the first."""
        widget = self.fields.get(name) or next(iter(self.fields.values()), None)
        if widget is not None:
            widget.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ctrl+Enter in a box asks for it; Enter alone is for the text."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and (
                event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
                and event.modifiers() & Qt.KeyboardModifier.ControlModifier):
            self.submitted.emit()
            return True
        return super().eventFilter(watched, event)

    def _field(self, field: FormField) -> QWidget:
        made: QWidget
        if field.choices or field.kind == "boolean":
            made = QComboBox(self)
            made.addItem("", "")
            for one in field.choices or ("true", "false"):
                made.addItem(one_line(one, 60), one)
            made.currentIndexChanged.connect(self.edited)
        elif field.is_long and not self._is_only(field):
            made = QPlainTextEdit(self, tabChangesFocus=True)
            made.setFont(theme.mono_font())
            made.setFixedHeight(LINES * QFontMetrics(made.font()).lineSpacing() + 3 * theme.GRID)
            made.textChanged.connect(self.edited)
        else:
            made = QLineEdit(self)
            made.textEdited.connect(self.edited)
            made.returnPressed.connect(self.submitted)
        made.installEventFilter(self)
        made.setAccessibleName(one_line(field.name, 60))
        made.setToolTip(plain_tooltip(field.about[:500]))
        return made

    def _is_only(self, field: FormField) -> bool:
        """Whether the tool takes one line of words: Enter carries it out."""
        return self.form is not None and len(self.form.fields) == 1

    @staticmethod
    def _text(widget: QWidget) -> str:
        if isinstance(widget, QComboBox):
            return str(widget.currentData() or "")
        return widget.toPlainText() if isinstance(widget, QPlainTextEdit) else widget.text()  # type: ignore[attr-defined]
