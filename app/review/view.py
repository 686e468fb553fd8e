"""The Review panel: every opinion on the selected step, the final outcome, and the keys that decide."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from app.kit import theme
from app.kit.action_button import ActionButton
from app.kit.boxes import column, row
from app.kit.empty import Empty
from app.kit.long_text import LongText, Part
from app.kit.quantities import clock, duration, number
from app.kit.safe_text import PlainLabel, one_line
from app.review.tag_line import TagLine
from app.review.targets import Target
from app.review.verdict_book import Decision, Tally
from core.domain.steps import Note
from core.domain.verdict import Author, StepOutcome, Verdict

SIGNS = {"keep": "✓", "mask": "✗", "unsure": "?"}
MEANINGS = {"keep": "keep", "mask": "mask", "unsure": "attention"}


class StepOpinions(msgspec.Struct, frozen=True):
    """What the panel shows of one step. `actions` are its tools, `action` is the chosen one (0: the whole step),
    `masked` those that are masked alone; `void` is what the reader chose before the step changed."""

    number: int
    title: str
    outcome: StepOutcome
    mine: Decision
    verdicts: tuple[Verdict, ...]
    notes: tuple[Note, ...] = ()
    others_hidden: bool = False
    marked: int = 0
    tags: frozenset[str] = frozenset()
    actions: tuple[str, ...] = ()
    action: int = 0
    masked: tuple[int, ...] = ()
    void: Decision = Decision()


class ReviewView(QWidget):
    """Intents: `judged` value and reason, `noted` text, `undo_asked`, `next_asked`, `rules_asked`, `blind_asked`."""

    judged = Signal(str, str)
    noted = Signal(str)
    rules_asked = Signal()
    blind_asked = Signal(bool)
    advance_asked = Signal(bool)
    action_chosen = Signal(int)
    """Which action of the step is to be judged; 0: the whole step."""

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        """`actions`: keep, mask, unsure, note, tag, undo, next undecided, in this order."""
        super().__init__(parent)
        self._actions = list(actions)
        self._empty = Empty(self.tr(
            "Here stand the verdicts of rules, judges and people on the step that is looked at. "
            "K keeps it for training, M masks it."), self, title=self.tr("No step to judge yet"))
        self._title = PlainLabel("", self, elide=True)
        self._title.setFont(theme.bold_font(self.font()))
        self._final = PlainLabel("", self)
        self._final.setFont(theme.bold_font(self.font()))
        self.action = QComboBox(self)
        self.action.setAccessibleName(self.tr("What is judged"))
        self.action.setToolTip(self.tr("Judge the step, or one of its actions alone (I chooses the next)"))
        self.action.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.action.activated.connect(self.action_chosen)
        self.action.hide()
        self.again = QPushButton("", self)
        self.again.setToolTip(self.tr("It was not taken, for the step says something else now. Look first."))
        self.again.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.again.clicked.connect(self._say_again)
        self.again.hide()
        self._void = Decision()
        self.reason = self._reason_box()
        self._opinions = LongText(self, name=self.tr("Opinions"))
        self._note = QPlainTextEdit(self)
        self._note.setPlaceholderText(self.tr("Note on this step … Ctrl+Enter stores it, Esc leaves."))
        self._note.setAccessibleName(self.tr("Note"))
        self._note.setFixedHeight(3 * self.fontMetrics().height() + 3 * theme.GRID)
        self._note.setTabChangesFocus(True)
        self._note.installEventFilter(self)
        self._note.hide()
        self.tags = TagLine(self)
        self.tags.left.connect(self._leave_line)
        self._counts = PlainLabel("", self)
        self._counts.setFont(theme.small_font(self.font()))
        self._counts.setWordWrap(True)
        self._spent = PlainLabel("", self)
        self._spent.setFont(theme.small_font(self.font()))
        self._spent.setToolTip(self.tr("Only while the window is in front and keys or mouse are used"))
        self._spent.hide()
        self._lay_out()

    def _lay_out(self) -> None:
        top = row((self._title, 1), self._final, spacing=2 * theme.GRID)
        keys = QGridLayout()
        keys.setSpacing(theme.GRID)
        meanings = ("keep", "mask", "attention", "ink", "ink")
        for place, (action, meaning) in enumerate(zip(self._actions[:5], meanings, strict=True)):
            keys.addWidget(self._button(action, meaning), place // 3, place % 3)
        keys.addWidget(self._button(self._actions[5], "ink"), 1, 2)
        body = QWidget(self)
        column(top, self.action, self.again, keys, self.reason, self.tags, (self._opinions, 1), self._note, on=body,
               spacing=2 * theme.GRID, margin=2 * theme.GRID)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(body)
        column((self._stack, 1), self._foot(), on=self, spacing=0, margin=0)

    def _foot(self) -> QWidget:
        self.blind = self._toggle(self.tr("Blind"), self.tr("Hide the others' opinions until you have decided"))
        self.blind.toggled.connect(self.blind_asked)
        self.advance = self._toggle(self.tr("Advance"),
                                    self.tr("After a verdict go to the next step that no person has judged"))
        self.advance.toggled.connect(self.advance_asked)
        self.rules = QPushButton(self.tr("Run rules"), self)
        self.rules.setToolTip(self.tr("Let the rules propose verdicts for every step; a person's verdict always wins"))
        self.rules.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.rules.clicked.connect(self.rules_asked)
        foot = QWidget(self)
        actions = row(self.blind, self.advance, 1, self._button(self._actions[6], "ink"), self.rules,
                      spacing=2 * theme.GRID)
        column = QVBoxLayout(foot)
        column.setContentsMargins(2 * theme.GRID, theme.GRID, 2 * theme.GRID, 2 * theme.GRID)
        column.setSpacing(theme.GRID)
        column.addWidget(self._counts)
        column.addWidget(self._spent)
        column.addLayout(actions)
        return foot

    def _reason_box(self) -> QComboBox:
        box = QComboBox(self)
        box.setEditable(True)
        box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        box.setAccessibleName(self.tr("Reason"))
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._usual = (
            self.tr("Repeats what failed before"), self.tr("Acts on a wrong belief"),
            self.tr("Uses data that it must not use"), self.tr("Changes a file without looking at it"),
            self.tr("Waits for nothing"), self.tr("Malformed or empty action"), self.tr("Follows guidance well"),
        )
        edit = QLineEdit(box)
        box.setLineEdit(edit)
        edit.setPlaceholderText(self.tr("Reason (optional); give it before the verdict, or Enter adds it to yours"))
        box.addItems(self._usual)
        box.setCurrentIndex(-1)
        edit.returnPressed.connect(self._on_reason_entered)
        return box

    def _toggle(self, text: str, tip: str) -> QCheckBox:
        box = QCheckBox(text, self)
        box.setToolTip(tip)
        return box

    def _button(self, action: QAction, meaning: str) -> QPushButton:
        button = ActionButton(action, meaning, self)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    # ---- what is shown ----------------------------------------------------------------------------

    def show_nothing(self) -> None:
        """No step is selected."""
        self._stack.setCurrentIndex(0)

    def show_step(self, opinions: StepOpinions) -> None:
        """One step's opinions."""
        self._stack.setCurrentIndex(1)
        title = self.tr("Step {number} · {title}").format(number=number(opinions.number),
                                                          title=one_line(opinions.title))
        if opinions.marked > 1:
            title = self.tr("{count} marked steps").format(count=number(opinions.marked))
        self._title.setText(title)
        self._show_actions(opinions)
        self._show_final(opinions)
        self._show_void(opinions.void)
        for action, value in zip(self._actions[:3], ("keep", "mask", "unsure"), strict=True):
            action.setCheckable(True)
            action.setChecked(opinions.mine.value == value)
        self.tags.show_tags(opinions.tags)
        self._opinions.show_parts(self._parts(opinions))
        if not opinions.verdicts and not opinions.notes:
            self._opinions.placeholder(self.tr("Nobody has judged this step: it is undecided."))
        if not self.reason.hasFocus():
            self.reason.setEditText(opinions.mine.reason or opinions.void.reason)

    def show_time(self, seconds: float) -> None:
        """How long the reader was at work on this session."""
        text = self.tr("your active time {time}").format(time=duration(round(seconds))) if seconds >= 1 else ""
        self._spent.setText(text)
        self._spent.setVisible(bool(text))

    def show_tally(self, tally: Tally, pending: int) -> None:
        """The counts of the session."""
        text = self.tr("kept {kept} · masked {masked} · undecided {undecided}").format(
            kept=number(tally.kept), masked=number(tally.masked), undecided=number(tally.undecided))
        if tally.partly:
            text += " · " + self.tr("masked in part {count}").format(count=number(tally.partly))
        text += " · " + self.tr("judged by people {count}").format(count=number(tally.by_people))
        if pending:
            text += " · " + self.tr("{count} on the way").format(count=number(pending))
        self._counts.setText(text if tally.total else "")

    def show_rules(self, running: bool) -> None:
        """Whether the rules are at work."""
        self.rules.setEnabled(not running)
        self.rules.setText(self.tr("Rules run …") if running else self.tr("Run rules"))

    def write_note(self) -> None:
        """Open the note box and put the cursor there."""
        self._note.show()
        self._note.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def offer_note(self, text: str) -> None:
        """A note that was not taken, to be looked at and stored again; what is being written stays."""
        if not self._note.toPlainText().strip():
            self._note.setPlainText(text)
            self._note.show()

    def offer_reasons(self, reasons: Sequence[str]) -> None:
        """The reasons to choose from; the usual ones where there are none."""
        held = self.reason.currentText()
        self.reason.clear()
        self.reason.addItems(reasons or self._usual)
        self.reason.setCurrentIndex(-1)
        self.reason.setEditText(held)

    def take_reason(self) -> str:
        """The reason that goes with the next verdict."""
        return self.reason.currentText().strip()[:2000]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ctrl+Enter stores the note, Esc leaves it."""
        if watched is self._note and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            entered = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            if entered and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                text = self._note.toPlainText().strip()
                self._note.clear()
                self._leave_note()
                if text:
                    self.noted.emit(text)
                return True
            if event.key() == Qt.Key.Key_Escape:
                self._leave_note()
                return True
        return super().eventFilter(watched, event)

    def _leave_note(self) -> None:
        self._leave_line()
        self._note.hide()

    def _leave_line(self) -> None:
        """Before it hides: the focus must not fall on a button that Space would press."""
        self._opinions.setFocus()

    def _show_actions(self, opinions: StepOpinions) -> None:
        """What there is to choose from: the step, and each of its actions where it has several."""
        words, masked = [self.tr("The whole step")], " · ⊘ " + self.tr("masked")
        for place, tool in enumerate(opinions.actions, 1):
            text = self.tr("Action {n} · {tool}").format(n=number(place), tool=one_line(tool, 60))
            words.append(text + masked * (place in opinions.masked and not opinions.others_hidden))
        if [self.action.itemText(i) for i in range(self.action.count())] != words:
            self.action.clear()
            self.action.addItems(words)
        self.action.setCurrentIndex(opinions.action)
        self.action.setVisible(len(opinions.actions) > 1 and opinions.marked < 2)

    def _show_void(self, void: Decision) -> None:
        self._void = void
        words = self.tr("You chose “{value}” before this step changed: say it again")
        self.again.setText(f"{SIGNS.get(void.value, '·')} {words.format(value=self._value(void.value))}")
        self.again.setVisible(void.value != "none")

    def _say_again(self) -> None:
        self.judged.emit(self._void.value, self.take_reason() or self._void.reason)

    def _show_final(self, opinions: StepOpinions) -> None:
        text, meaning = {"mask": (self.tr("✗ masked"), "mask"), "keep": (self.tr("✓ kept"), "keep"),
                         "partly": (self.tr("◐ masked in part"), "attention"),
                         "undecided": (self.tr("undecided"), "muted")}[opinions.outcome]
        if opinions.outcome == "undecided" and opinions.masked:
            text, meaning = self.tr("◐ masked in part, else undecided"), "attention"
        self._final.setText("" if opinions.others_hidden or opinions.marked > 1 else text)
        palette = self._final.palette()
        palette.setColor(self._final.foregroundRole(), theme.colour(meaning))
        self._final.setPalette(palette)

    def _parts(self, opinions: StepOpinions) -> list[Part]:
        if opinions.others_hidden:
            return [Part(text=self.tr("Blind: the others' opinions show when you have decided."), meaning="muted")]
        parts: list[Part] = []
        for verdict in reversed(opinions.verdicts):
            head = f"{SIGNS.get(verdict.value, '·')} {self._value(verdict.value)}"
            parts.append(Part(text=head, meaning=MEANINGS.get(verdict.value, "")))
            if verdict.action:
                on_one = self.tr("action {n}").format(n=number(verdict.action))
                parts.append(Part(text=f"   {on_one}", meaning="attention"))
            parts.append(Part(text=f"   {self._author(verdict.author)}\n", style="meta"))
            parts.append(Part(text=f"{verdict.reason}\n\n" if verdict.reason else "\n"))
        for note in reversed(opinions.notes):
            parts.append(Part(text="✎ " + self.tr("note"), meaning="person"))
            parts.append(Part(text=f"   {self._author(note.author)}, {clock(note.at)}\n", style="meta"))
            parts.append(Part(text=f"{note.text}\n\n"))
        return parts

    def _value(self, value: str) -> str:
        return {"keep": self.tr("keep"), "mask": self.tr("mask"), "unsure": self.tr("unsure")}.get(value, value)

    def _author(self, author: Author) -> str:
        kind = {"person": self.tr("person"), "rule": self.tr("rule"), "judge": self.tr("judge"),
                "import": self.tr("import")}.get(author.kind, author.kind)
        name = f"{kind} {one_line(author.name, 60)}".rstrip()
        if not author.version:
            return name
        return self.tr("{name}, version {version}").format(name=name, version=one_line(author.version, 30))

    def question(self, target: Target, value: str) -> tuple[str, str]:
        """What is asked before what is out of sight is judged, and the word that means yes."""
        first, last = target.entries[0].head.number, target.entries[-1].head.number
        verb = {"keep": self.tr("Keep"), "mask": self.tr("Mask"), "unsure": self.tr("Unsure"), "tag": self.tr("Tag"),
                "note": self.tr("Note"), "none": self.tr("Take back")}[value]
        if len(target.entries) == 1:
            sentence = self.tr("{verb}: step {n}, which the list does not show?").format(verb=verb, n=number(first))
        else:
            sentence = self.tr("{verb}: {count} steps, {first} to {last}, of which {unseen} are not in sight?").format(
                verb=verb, count=number(len(target.entries)), first=number(first), last=number(last),
                unseen=number(target.unseen))
        return sentence, verb

    def _on_reason_entered(self) -> None:
        value = next((v for a, v in zip(self._actions, ("keep", "mask", "unsure"), strict=False) if a.isChecked()), "")
        if value:
            self.judged.emit(value, self.take_reason())
        self._opinions.setFocus()
