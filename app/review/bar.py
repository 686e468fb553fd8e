"""The bar that judges: verdicts, reason, remark, tag, undo and progress in one line at the bottom of the window."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QComboBox, QFrame, QLineEdit, QPushButton, QSizePolicy, QWidget

from app.desk.step_words import verdict_state
from app.kit import icons, theme, tokens
from app.kit.action_button import ActionButton
from app.kit.boxes import column, named, row
from app.kit.elided_box import ElidedBox
from app.kit.quantities import number
from app.kit.safe_text import PlainLabel, one_line, set_tooltip
from app.review.bar_parts import JudgedBar, StepRemarkBox, TagLine
from app.review.opinions import StepOpinions, value_word
from app.review.verdict_book import Decision, Tally

STATES = {"keep": ("check", "keep"), "mask": ("circle-slash", "mask"), "unsure": ("circle-question-mark", "attention"),
          "partly": ("circle-slash", "attention"), "undecided": ("circle", "muted"),
          "proposed_keep": ("check", "muted"), "proposed_mask": ("circle-slash", "muted")}
"""Icon and colour of a step's state."""

WIDE = 1340
"""Below this width remark, tag, undo and reason are keys alone."""


class ReviewBar(QWidget):
    """Intents: `judged` value and reason; `noted` of its remark box, `tagged` of its tag line; the rest are actions."""

    judged = Signal(str, str)
    action_chosen = Signal(int)
    """Which action of the step is to be judged; 0: the whole step."""

    left = Signal()
    """The keyboard has nothing to do here any more."""

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        """`actions`: keep, mask, unsure, note, tag, undo, next undecided, next session, in this order."""
        super().__init__(parent)
        self._actions = list(actions)
        self._void = Decision()
        self.remark, self.tags = StepRemarkBox(self), TagLine(self)
        self.again = self._again_button()
        self.number = PlainLabel("", self, font=theme.bold_font(self.font()))
        self.state = PlainLabel("", self, faint=True)
        self._sign = PlainLabel("", self)
        self.action = self._action_box()
        self.reason = self._reason_box()
        self.count = PlainLabel("", self)
        self.parts = {"mask": PlainLabel("", self), "attention": PlainLabel("", self)}
        self.count.setFont(theme.bold_font(self.font()))
        self.bar = JudgedBar(self)
        self._lay_out()
        for strip in (self.remark, self.tags):
            strip.left.connect(self.left)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_nothing()

    def _lay_out(self) -> None:
        keep, mask, unsure, note, tag, undo, ahead, following = self._actions
        undo.setIconText(undo.iconText())
        verdicts = [self._button(a, m) for a, m in ((keep, "keep"), (mask, "mask"), (unsure, "attention"))]
        line = QFrame(self, frameShape=QFrame.Shape.VLine)
        line.setForegroundRole(self.palette().ColorRole.Mid)
        self._extra = [line, self._button(note, "muted", flat=True), self._button(tag, "muted", flat=True),
                       self._button(undo, "muted", flat=True, bare=True), self.reason]
        gap = theme.px(tokens.BETWEEN)
        strip = row(self.again, (self.remark, 1), (self.tags, 1), spacing=gap,
                    margin=(theme.px(tokens.SIDE), 0, theme.px(tokens.SIDE), 0))
        following.setIconText(self.tr("Next session"))
        self.ahead, self.following = self._button(ahead, "muted"), self._button(following, "person")
        self.following.hide()
        over, side = theme.px(7), theme.px(tokens.SIDE)
        self._main = row(self._sign, self.number, self.state, self.action, *verdicts, *self._extra, 1, self.count,
                         self.bar, *self.parts.values(), self.ahead, self.following, spacing=gap,
                         margin=(side, over, side, over))
        column(strip, self._main, on=self, spacing=0, margin=0)

    def _button(self, action: QAction, meaning: str, *, flat: bool = False, bare: bool = False) -> ActionButton:
        return ActionButton(action, meaning, self, flat=flat, bare=bare)

    def _again_button(self) -> QPushButton:
        made = QPushButton("", self)
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        made.setToolTip(self.tr("It was not taken, for the step says something else now. Look first."))
        made.clicked.connect(self._say_again)
        made.hide()
        return made

    def _action_box(self) -> ElidedBox:
        box = named(ElidedBox(self, least=12), self.tr("What is judged"))
        box.setToolTip(self.tr("Judge the step, or one of its actions alone (I chooses the next)"))
        box.activated.connect(self.action_chosen)
        box.hide()
        return box

    def _reason_box(self) -> QComboBox:
        box = named(QComboBox(self, editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert), self.tr("Reason"))
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumWidth(theme.px(168))
        self._usual = (
            self.tr("Repeats what failed before"), self.tr("Acts on a wrong belief"),
            self.tr("Uses data that it must not use"), self.tr("Changes a file without looking at it"),
            self.tr("Waits for nothing"), self.tr("Malformed or empty action"), self.tr("Follows guidance well"),
        )
        edit = QLineEdit(box, placeholderText=self.tr("Why (optional)"))
        box.setLineEdit(edit)
        for taker in (box, edit):  # by R or the mouse: a box that the window begins in takes the letters of commands
            taker.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        set_tooltip(box, self.tr("Reason (R): written before the verdict, or after it, then Enter adds it"))
        box.addItems(self._usual)
        box.setCurrentIndex(-1)
        edit.returnPressed.connect(self._on_reason_entered)
        return box

    # ---- what is shown ----------------------------------------------------------------------------

    def show_nothing(self) -> None:
        """No step is selected."""
        self.reason.setEnabled(False)
        self._say("undecided", self.tr("no step to judge"))

    def show_step(self, opinions: StepOpinions) -> None:
        """The step that a verdict is about, and its state."""
        self.reason.setEnabled(True)
        state = verdict_state(opinions.verdicts, len(opinions.actions))
        words = {"keep": self.tr("kept"), "mask": self.tr("masked"), "partly": self.tr("masked in part"),
                 "unsure": self.tr("unsure"), "undecided": self.tr("undecided")}
        if opinions.marked > 1:
            self._say("undecided", self.tr("{count} marked steps").format(count=number(opinions.marked)))
        else:
            hidden = opinions.others_hidden
            self._say("undecided" if hidden else state,
                      self.tr("blind") if hidden else words.get(state, words["undecided"]),
                      self.tr("Step {n}").format(n=opinions.number))
        for action, value in zip(self._actions[:3], ("keep", "mask", "unsure"), strict=True):
            action.setCheckable(True)
            action.setChecked(opinions.mine.value == value)
        self._show_actions(opinions)
        self.tags.show_tags(opinions.tags)
        if not self.reason.hasFocus():
            self.reason.setEditText(opinions.mine.reason or opinions.void.reason)
        self._show_void(opinions.void)

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
        self._fit()

    def _show_void(self, void: Decision) -> None:
        self._void = void
        words = self.tr("You chose “{value}” before this step changed: say it again")
        self.again.setText(words.format(value=value_word(void.value)))
        self.again.setVisible(void.value != "none")

    def _say_again(self) -> None:
        self.judged.emit(self._void.value, self.take_reason() or self._void.reason)

    def _say(self, state: str, text: str, step: str = "") -> None:
        icon, meaning = STATES[state]
        self._sign.setPixmap(icons.icon(icon, meaning).pixmap(theme.px(icons.SIDE), theme.px(icons.SIDE)))
        self.number.setText(step)
        self.number.setVisible(bool(step))
        self.state.setText(text)

    def show_tally(self, tally: Tally, asked: int, *, has_next: bool = False) -> None:
        """How far the session is judged, of the steps that are `asked` for; with nothing left the way on is the next
        session of the queue, where there is one."""
        judged = min(asked, tally.judged)
        is_done = asked == judged and (asked > 0 or has_next)
        self.ahead.setVisible(not (is_done and has_next))
        self.following.setVisible(is_done and has_next)
        self.count.set_meaning("keep" if is_done else "ink")
        self.count.setText(self.tr("Nothing is asked here") if not asked else
                           self.tr("All {asked} judged").format(asked=number(asked)) if is_done else
                           self.tr("{judged}/{asked} judged").format(judged=number(judged), asked=number(asked)))
        self.bar.show_parts((("keep", tally.people_keep), ("mask", tally.people_mask),
                              ("attention", tally.unsure)), asked)
        for meaning, words, count in (("mask", self.tr("{count} masked"), tally.people_mask),
                                      ("attention", self.tr("{count} unsure"), tally.unsure)):
            self.parts[meaning].setText(words.format(count=number(count)))
            self.parts[meaning].set_meaning(meaning)
            self.parts[meaning].setVisible(bool(asked and count))
        for widget in (self.count, self.bar):
            widget.setVisible(bool(asked) or is_done)
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """The bar holds no window open: what has no room there is a key."""
        return QSize(theme.px(400), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """What has no room goes."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """A narrow bar keeps verdicts, progress and the way on; the rest are keys. So goes, one by one, what a wide one
        has no room for either: its numbers say what the parts count, and a reason that is written stays."""
        wide = self.width() >= theme.px(WIDE) or self.reason.hasFocus()
        shown = dict.fromkeys(self._extra, wide)
        for widget, on in shown.items():
            widget.setVisible(on)
        for widget in (self._extra[3], self._extra[2], self._extra[1], self._extra[0], self.reason):
            if not wide or self._main.minimumSize().width() <= self.width() or self.reason.hasFocus():
                break
            widget.hide()

    # ---- what is entered ----------------------------------------------------------------------------

    def write_reason(self) -> None:
        """Put the cursor into the reason."""
        self.reason.show()
        self.reason.setFocus(Qt.FocusReason.ShortcutFocusReason)

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

    def _on_reason_entered(self) -> None:
        value = next((v for a, v in zip(self._actions, ("keep", "mask", "unsure"), strict=False) if a.isChecked()), "")
        if value:
            self.judged.emit(value, self.take_reason())
        self.left.emit()
