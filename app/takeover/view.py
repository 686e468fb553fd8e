"""The Take over panel: who has the session, the tools of its environment, one of them as a form."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QAction, QFontMetrics
from PySide6.QtWidgets import QComboBox, QFrame, QPlainTextEdit, QPushButton, QScrollArea, QSizePolicy, QWidget

from app.kit import icons, theme, tokens
from app.kit.action_button import ActionButton
from app.kit.boxes import column, named, row, words_box
from app.kit.empty import Empty, Faces
from app.kit.safe_text import PlainLabel, one_line
from app.takeover.form import ArgumentForm
from core.domain.tool_form import ToolForm

WHOLE = 120
"""So high the tool, what it is for and a box of a longer text are all seen, at 100 %."""


class TakeoverView(QWidget):
    """Nothing but a hint and a button while the agent works; the form while the reader has the session."""

    submitted = Signal(str, object, str)
    """(tool, {argument: text}, why)."""
    edited = Signal()

    def __init__(self, take: QAction, back: QAction, parent: QWidget) -> None:
        super().__init__(parent)
        self.empty = Empty("", self, action=take)
        self.status = PlainLabel("", self, wrap=True)
        self.seen = named(QPlainTextEdit(self, readOnly=True), self.tr("What the agent read last"))
        self.seen.setFont(theme.font_of("reading"))
        self.seen.hide()
        self.tool = named(QComboBox(self), self.tr("Tool"))
        self.about = PlainLabel("", self, elide=True, faint=True, font=theme.font_of("fact"))
        self.form = ArgumentForm(self)
        self.why = words_box(self, self.tr("Why (the agent reads it as its own thought)"), self.tr("Why"))
        self.problem = PlainLabel("", self, wrap=True)
        self.problem.set_meaning("error")
        self.carry_out = QPushButton(icons.icon("send", "on_fill"), self.tr("Carry out") + "  Ctrl+Enter", self)
        self.carry_out.setToolTip(self.tr("Carry the action out as the session's next step"))
        self.carry_out.setDefault(True)
        icons.beside_words(self.carry_out)
        bold = QFontMetrics(theme.bold_font(self.carry_out.font()))
        self.carry_out.setMinimumWidth(bold.horizontalAdvance(self.carry_out.text()) + theme.px(60))
        self.back = ActionButton(back, "ink", self, capped=False)
        self._forms: tuple[ToolForm, ...] = ()
        self._lay_out()
        self.tool.currentIndexChanged.connect(self._show_tool)
        self.form.submitted.connect(self.submit)
        self.form.edited.connect(self._on_edit)
        self.why.textEdited.connect(self.edited)
        self.why.returnPressed.connect(self.submit)
        self.carry_out.clicked.connect(self.submit)
        self.problem.hide()

    def _lay_out(self) -> None:
        self.tool.hide()
        self._scrolled = scrolled = named(QScrollArea(self), self.tr("The action"))
        inner = QWidget(scrolled)
        column(self.tool, self.about, self.form, 1, on=inner, spacing=theme.px(tokens.WITHIN), margin=0)
        scrolled.setWidgetResizable(True)
        scrolled.setFrameShape(QFrame.Shape.NoFrame)
        scrolled.setWidget(inner)
        scrolled.setMinimumHeight(theme.px(WHOLE))
        last = row((self.why, 1), self.back, self.carry_out, spacing=theme.px(tokens.BETWEEN))
        middle = row((self.seen, 1), (scrolled, 1), spacing=theme.px(tokens.BETWEEN))
        self._content, gap = QWidget(self), theme.px(tokens.BETWEEN)
        column(self.status, (middle, 1), self.problem, last, on=self._content, spacing=gap, margin=gap)
        self._faces = Faces(self._content, self.empty, self)

    def _show_content(self, *, on: bool) -> None:
        """Behind the hint the form asks for no room: Qt counts it in."""
        policy = QSizePolicy.Policy.Preferred if on else QSizePolicy.Policy.Ignored
        self._content.setSizePolicy(policy, policy)
        self._faces.show_content(on)

    # ---- what the controller says ----------------------------------------------------------------

    def show_nobody(self, hint: str, *, may_take: bool) -> None:
        """The agent works, or nobody can stand in for it: say why."""
        self.empty.set_hint(hint, helps=may_take)
        self.show_seen("")
        self._show_content(on=False)
        self.offer(())

    def show_holder(self, words: str, *, may_act: bool) -> None:
        """Who has the session; whether that is the reader, and the tools are known."""
        self._show_content(on=True)
        self.status.setText(words)
        for widget in (self.tool, self.form, self.why, self.carry_out):
            widget.setEnabled(may_act)

    def offer(self, forms: Sequence[ToolForm]) -> None:
        """The tools that there are; the chosen one stays."""
        if tuple(forms) == self._forms:
            return
        chosen = self.tool.currentData()
        self._forms = tuple(forms)
        blocked = self.tool.blockSignals(True)
        self.tool.clear()
        for form in forms:
            self.tool.addItem(one_line(form.name, 60), form.name)
        place = self.tool.findData(chosen)
        self.tool.setCurrentIndex(place if place >= 0 else _likely(forms))
        self.tool.blockSignals(blocked)
        self.tool.setVisible(len(forms) > 1)
        self._show_tool()

    def say_problem(self, sentence: str, field: str = "") -> None:
        """What is wrong with what was filled in; "" for nothing."""
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))
        if field:
            self.form.start_writing(field)
            QTimer.singleShot(0, self._show_field)  # the sentence takes its room first

    def _show_field(self) -> None:
        field = self.focusWidget()
        if field is not None:
            self._scrolled.ensureWidgetVisible(field)

    def show_seen(self, text: str) -> None:
        """What the agent read last; "" where the step list shows it."""
        if text != self.seen.toPlainText():
            self.seen.setPlainText(text)
        self.seen.setVisible(bool(text))

    def _on_edit(self) -> None:
        self.say_problem("")
        self.edited.emit()

    def sent_ok(self) -> None:
        """What was filled in cannot be lost any more."""
        self.say_problem("")
        self.form.clear()
        self.why.clear()
        self.form.start_writing()

    def submit(self) -> None:
        """Ask for the action that is filled in."""
        if self.form.form is not None and self.carry_out.isEnabled():
            self.submitted.emit(self.form.form.name, self.form.given(), self.why.text().strip())

    def _show_tool(self, *_: object) -> None:
        form = self._forms[self.tool.currentIndex()] if 0 <= self.tool.currentIndex() < len(self._forms) else None
        self.form.show_tool(form)
        self.form.chain(self.tool, self.why)
        about = one_line(form.about, 300) if form is not None else ""
        self.about.setText(about)
        self.about.setVisible(bool(about))
        self.say_problem("")


def _likely(forms: Sequence[ToolForm]) -> int:
    """The place of the first tool that has to be given something: opening and listing is not what people come for."""
    return next((i for i, form in enumerate(forms) if any(field.is_required for field in form.fields)), 0)
