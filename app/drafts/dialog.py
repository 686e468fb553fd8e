"""The drafts of generated tasks: what each author gave, what the gates said, and a person's word, by keys alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QSplitter, QWidget

from app.drafts.words import answer_line, answer_parts, draft_line, facts_of, gates_passed
from app.kit import theme
from app.kit.boxes import column, row, words_box
from app.kit.entries import EntriesModel, EntryList, EntryRole
from app.kit.long_text import LongText
from app.kit.safe_text import PlainLabel
from app.kit.scrolled import within
from core.domain.drafts import DraftAnswer, DraftRecord, DraftState

KEYS = {"accepted": "A", "refused": "R", "to mend": "M"}


class DraftsDialog(QDialog):
    """`decided` gives a draft's id, what becomes of it and why; `session_asked` a session of its author or policy;
    `answers_asked` the number of the draft whose answers are to be shown."""

    answers_asked = Signal(int)
    decided = Signal(str, str, str)
    session_asked = Signal(str)

    def __init__(self, folder: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Generated tasks in {folder}").format(folder=folder))
        self.resize(within(parent, 1080, 680))
        self.is_waiting = False
        """A word is being stored: the next one waits until it is there."""
        self._records: dict[str, DraftRecord] = {}
        self._answers: Sequence[DraftAnswer] = ()
        self.drafts, self.answers = EntriesModel(self), EntriesModel(self)
        self.list = EntryList(self.drafts, self.tr("Drafts"), self)
        self.history = EntryList(self.answers, self.tr("Answers of the author"), self)
        self.text = LongText(self, name=self.tr("The chosen answer"))
        self.title = PlainLabel("", self, wrap=True, font=theme.bold_font(self.font()))
        self.facts = PlainLabel("", self, faint=True, elide=True)
        self.gates = PlainLabel("", self, wrap=True)
        self.reason = words_box(self, self.tr("Why (needed to refuse, or to have it mended)"), self.tr("Why"))
        shown: tuple[tuple[DraftState, str], ...] = (
            ("accepted", self.tr("Accept (A)")), ("refused", self.tr("Refuse (R)")),
            ("to mend", self.tr("To mend (M)")))
        self.buttons = {state: QPushButton(words, self) for state, words in shown}
        self.session = QPushButton(self.tr("Session of its author"), self)
        self._wanted: DraftState = "refused"
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        right, sides = QWidget(self), QSplitter(Qt.Orientation.Horizontal, self, childrenCollapsible=False)
        parts = QSplitter(Qt.Orientation.Horizontal, right)
        parts.addWidget(self.history)
        parts.addWidget(self.text)
        parts.setSizes([230, 470])
        column(self.title, self.facts, self.gates, (parts, 1), on=right, spacing=theme.GRID, margin=0)
        sides.addWidget(self.list)
        sides.addWidget(right)
        sides.setSizes([320, 720])
        close = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        close.rejected.connect(self.reject)
        column((sides, 1), row((self.reason, 1), *self.buttons.values(), spacing=theme.GRID),
               row(self.session, 1, close, spacing=theme.GRID), on=self, spacing=2 * theme.GRID, margin=3 * theme.GRID)

    def _connect(self) -> None:
        self.list.selectionModel().currentChanged.connect(self._show_draft)
        self.history.selectionModel().currentChanged.connect(self._show_answer)
        self.reason.returnPressed.connect(self._decide_as_wanted)
        self.session.clicked.connect(self._ask_session)
        for state, button in self.buttons.items():
            button.setAutoDefault(False)
            decide = partial(self.decide, state)
            button.clicked.connect(decide)
            for place in (self.list, self.history, self.text):
                key = QShortcut(QKeySequence(KEYS[state]), place, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
                key.activated.connect(decide)
        self.session.setAutoDefault(False)

    def show_drafts(self, records: Sequence[DraftRecord]) -> None:
        """Show these; the chosen draft stays chosen."""
        self.is_waiting = False
        self._records = {one.id: one for one in records}
        self.drafts.show([(one.id, draft_line(one)) for one in records])
        if not self.list.currentIndex().isValid() and records:
            self.list.setCurrentIndex(self.drafts.index(0))
        self._show_draft()

    def decide(self, state: DraftState, *_: object) -> None:
        """Say what becomes of the chosen draft; without a reason the box waits for one where it is needed."""
        record, reason = self.chosen, self.reason.text().strip()
        if record is None or self.is_waiting:
            return
        if state != "accepted" and not reason:
            self._wanted = state
            self.reason.setFocus()
            return
        self.is_waiting = True
        self.decided.emit(record.id, state, reason)

    def go_on(self) -> None:
        """The word was taken: to the next draft."""
        self.reason.clear()
        self.list.setFocus()
        following = self.list.currentIndex().row() + 1
        if following < self.drafts.rowCount():
            self.list.setCurrentIndex(self.drafts.index(following))

    @property
    def chosen(self) -> DraftRecord | None:
        """The draft that is looked at."""
        index = self.list.currentIndex()
        return self._records.get(str(index.data(EntryRole))) if index.isValid() else None

    def _decide_as_wanted(self) -> None:
        if self.reason.text().strip():
            self.decide(self._wanted)

    def _ask_session(self) -> None:
        if self.chosen is not None:
            self.session_asked.emit(self.chosen.session)

    def _show_draft(self) -> None:
        record = self.chosen
        if record is None:
            return
        self.title.setText(record.title or record.id)
        self.facts.setText(facts_of(record, ()))
        self.gates.clear()
        self.session.setEnabled(bool(record.session))
        self._answers = ()
        self.answers.show(())
        self.text.placeholder(self.tr("reading …"))
        self.answers_asked.emit(record.number)

    def show_answers(self, number: int, answers: Sequence[DraftAnswer]) -> None:
        """Show what the author of a draft gave; nothing where another one is looked at by now."""
        record = self.chosen
        if record is None or record.number != number:
            return
        self._answers = answers
        self.facts.setText(facts_of(record, answers))
        gates = gates_passed(record, answers)
        self.gates.setText("   ".join(f"{'✓' if passed else '✗'} {name}" for name, passed in gates))
        self.answers.show([((record.id, at), answer_line(one)) for at, one in enumerate(answers)])
        if answers:
            self.history.setCurrentIndex(self.answers.index(len(answers) - 1))
        self._show_answer()

    def _show_answer(self) -> None:
        index = self.history.currentIndex()
        if not self._answers:
            self.text.placeholder(self.tr("What its author gave was not noted."))
        elif index.isValid() and index.row() < len(self._answers):
            self.text.show_parts(answer_parts(self._answers, index.row()))
