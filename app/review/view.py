"""The opinions on the chosen step: every verdict and remark, what the session counts, and how others' are seen."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QCheckBox, QPushButton, QStackedLayout, QWidget

from app.kit import theme
from app.kit.boxes import column, row
from app.kit.empty import Empty
from app.kit.long_text import LongText, Part
from app.kit.quantities import clock, duration, number
from app.kit.safe_text import PlainLabel, one_line
from app.review.bar import ReviewBar
from app.review.opinions import StepOpinions, author_words, value_word
from app.review.targets import Target
from app.review.verdict_book import Tally

SIGNS = {"keep": "✓", "mask": "⊘", "unsure": "?"}
MEANINGS = {"keep": "keep", "mask": "mask", "unsure": "attention"}


class ReviewView(QWidget):
    """Intents: `rules_asked`, `blind_asked`, `advance_asked`; what judges is its `bar`."""

    rules_asked = Signal()
    blind_asked = Signal(bool)
    advance_asked = Signal(bool)

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        """`actions`: keep, mask, unsure, note, tag, undo, next undecided, next session, in this order."""
        super().__init__(parent)
        self.bar = ReviewBar(actions, self)
        self._empty = Empty(self.tr(
            "Here stand the verdicts of rules, judges and people on the step that is looked at. "
            "K keeps it for training, M masks it."), self, title=self.tr("No step to judge yet"))
        self._title = PlainLabel("", self, elide=True, font=theme.bold_font(self.font()))
        self._final = PlainLabel("", self, font=theme.bold_font(self.font()))
        self._opinions = LongText(self, name=self.tr("Opinions"))
        self._counts = PlainLabel("", self, font=theme.small_font(self.font()), wrap=True)
        self._spent = PlainLabel("", self, font=theme.small_font(self.font()))
        self._spent.setToolTip(self.tr("Only while the window is in front and keys or mouse are used"))
        self._spent.hide()
        self._lay_out()

    def _lay_out(self) -> None:
        top = row((self._title, 1), self._final, spacing=2 * theme.GRID)
        body = QWidget(self)
        column(top, (self._opinions, 1), on=body, spacing=2 * theme.GRID, margin=2 * theme.GRID)
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
        actions = row(self.blind, self.advance, 1, self.rules, spacing=2 * theme.GRID)
        column(self._counts, self._spent, actions, on=foot, spacing=theme.GRID,
               margin=(2 * theme.GRID, theme.GRID, 2 * theme.GRID, 2 * theme.GRID))
        return foot

    def _toggle(self, text: str, tip: str) -> QCheckBox:
        box = QCheckBox(text, self)
        box.setToolTip(tip)
        return box

    # ---- what is shown ----------------------------------------------------------------------------

    def show_nothing(self) -> None:
        """No step is selected."""
        self._stack.setCurrentIndex(0)
        self.bar.show_nothing()

    def show_step(self, opinions: StepOpinions) -> None:
        """One step's opinions."""
        self._stack.setCurrentIndex(1)
        title = self.tr("Step {number} · {title}").format(number=opinions.number,
                                                          title=one_line(opinions.title))
        if opinions.marked > 1:
            title = self.tr("{count} marked steps").format(count=number(opinions.marked))
        self._title.setText(title)
        self._show_final(opinions)
        self.bar.show_step(opinions)
        self._opinions.show_parts(self._parts(opinions))
        if not opinions.verdicts and not opinions.notes:
            self._opinions.placeholder(self.tr("Nobody has judged this step: it is undecided."))

    def show_time(self, seconds: float) -> None:
        """How long the reader was at work on this session."""
        text = self.tr("your active time {time}").format(time=duration(round(seconds))) if seconds >= 1 else ""
        self._spent.setText(text)
        self._spent.setVisible(bool(text))

    def show_tally(self, tally: Tally, pending: int, asked: int | None = None) -> None:
        """The counts of the session; `asked`: so many steps are asked for by its queue."""
        text = self.tr("all opinions together: kept {kept} · masked {masked} · neither {unjudged}").format(
            kept=number(tally.kept), masked=number(tally.masked), unjudged=number(tally.unjudged))
        if tally.partly:
            text += " · " + self.tr("masked in part {count}").format(count=number(tally.partly))
        text += " · " + self.tr("judged by people {count}").format(count=number(tally.judged))
        if pending:
            text += " · " + self.tr("{count} on the way").format(count=number(pending))
        self._counts.setText(text if tally.total else "")
        self.bar.show_tally(tally, tally.total if asked is None else asked, has_next=asked is not None)

    def show_rules(self, running: bool) -> None:
        """Whether the rules are at work."""
        self.rules.setEnabled(not running)
        self.rules.setText(self.tr("Rules run …") if running else self.tr("Run rules"))

    def _show_final(self, opinions: StepOpinions) -> None:
        text, meaning = {"mask": (self.tr("⊘ masked"), "mask"), "keep": (self.tr("✓ kept"), "keep"),
                         "partly": (self.tr("◐ masked in part"), "attention"),
                         "undecided": (self.tr("undecided"), "muted")}[opinions.outcome]
        if opinions.outcome == "undecided" and opinions.masked:
            text, meaning = self.tr("◐ masked in part, else undecided"), "attention"
        self._final.setText("" if opinions.others_hidden or opinions.marked > 1 else text)
        self._final.set_meaning(meaning)

    def _parts(self, opinions: StepOpinions) -> list[Part]:
        if opinions.others_hidden:
            return [Part(text=self.tr("Blind: the others' opinions show when you have decided."), meaning="muted")]
        parts: list[Part] = []
        for verdict in reversed(opinions.verdicts):
            head = f"{SIGNS.get(verdict.value, '·')} {value_word(verdict.value)}"
            parts.append(Part(text=head, meaning=MEANINGS.get(verdict.value, "")))
            if verdict.action:
                on_one = self.tr("action {n}").format(n=number(verdict.action))
                parts.append(Part(text=f"   {on_one}", meaning="attention"))
            parts.append(Part(text=f"   {author_words(verdict.author)}\n", style="meta"))
            parts.append(Part(text=f"{verdict.reason}\n\n" if verdict.reason else "\n"))
        for note in reversed(opinions.notes):
            parts.append(Part(text="✎ " + self.tr("remark"), meaning="person"))
            parts.append(Part(text=f"   {author_words(note.author)}, {clock(note.at)}\n", style="meta"))
            parts.append(Part(text=f"{note.text}\n\n"))
        return parts

    def question(self, target: Target, value: str) -> tuple[str, str]:
        """What is asked before what is out of sight is judged, and the word that means yes."""
        first, last = target.entries[0].head.number, target.entries[-1].head.number
        verb = {"keep": self.tr("Keep"), "mask": self.tr("Mask"), "unsure": self.tr("Unsure"), "tag": self.tr("Tag"),
                "note": self.tr("Remark"), "none": self.tr("Take back")}[value]
        if len(target.entries) == 1:
            sentence = self.tr("{verb}: step {n}, which the list does not show?").format(verb=verb, n=number(first))
        else:
            sentence = self.tr("{verb}: {count} steps, {first} to {last}, of which {unseen} are not in sight?").format(
                verb=verb, count=number(len(target.entries)), first=number(first), last=number(last),
                unseen=number(target.unseen))
        return sentence, verb
