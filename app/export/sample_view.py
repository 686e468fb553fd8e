"""A sample token by token: what training sees is underlined, tinted and signed; everything else is context."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QProgressBar, QToolButton, QWidget

from app.export.model import state_words
from app.export.words import reason, waiting_words
from app.kit import theme
from app.kit.boxes import column, named, row
from app.kit.elided_box import ElidedBox
from app.kit.empty import Empty, Faces
from app.kit.i18n import plural
from app.kit.quantities import number
from app.kit.safe_text import PlainLabel, one_line, set_hint, visible
from app.kit.tool_button import tool_button
from core.workers.export import Preview, TokenPart

PAGE = 4_000
"""Tokens on one page."""

MOST_REASONS = 3


class SampleView(QWidget):
    """Intents: `asked` session, sample, first token."""

    asked = Signal(str, int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page = Preview()
        self._session = ""
        self._marks: list[int] = []
        self.sessions = named(ElidedBox(self), self.tr("Session"), is_tip=True)
        self.samples = named(ElidedBox(self), self.tr("Sample"), is_tip=True)
        self._share = PlainLabel("", self, wrap=True, font=theme.small_font(self.font()))
        self._left_out = PlainLabel("", self, wrap=True, font=theme.small_font(self.font()))
        self._where = PlainLabel("", self, font=theme.small_font(self.font()))
        self._starts: list[int] = []
        self._text = named(QPlainTextEdit(self, readOnly=True, undoRedoEnabled=False), self.tr("Tokens"))
        self._text.setFont(theme.mono_font())
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        self._place = PlainLabel("", self, font=theme.small_font(self.font()))
        self._busy = QProgressBar(self, minimum=0, maximum=0, textVisible=False)
        self._busy.setFixedHeight(theme.GRID)
        self._empty = Empty(self.tr(
            "Tick sessions on the first page. Here you then read a sample exactly as the model will, token by token: "
            "what training sees is marked ▸ and underlined."), self, title=self.tr("Nothing to preview yet"))
        self._lay_out()
        self.sessions.activated.connect(self._ask_session)
        self.samples.activated.connect(self._ask_sample)
        self._text.cursorPositionChanged.connect(self._show_where)

    def _lay_out(self) -> None:
        top = row((self.sessions, 3), (self.samples, 2), spacing=theme.GRID)
        self._steppers = [self._button("chevron-up", self.tr("Previous sample"), partial(self._ask_sample_beside, -1)),
                          self._button("chevron-down", self.tr("Next sample"), partial(self._ask_sample_beside, 1))]
        for button in self._steppers:
            top.addWidget(button)
        self._buttons = [
            self._button("chevrons-left", self.tr("Previous part that is trained"), partial(self._go_to_trained, -1)),
            self._button("chevron-left", self.tr("Previous page"), partial(self._go_to_page, -1)),
            self._button("chevron-right", self.tr("Next page"), partial(self._go_to_page, 1)),
            self._button("chevrons-right", self.tr("Next part that is trained"), partial(self._go_to_trained, 1)),
        ]
        foot = row(self._place, (self._where, 1), *self._buttons, spacing=theme.GRID)
        full = QWidget(self)
        column(top, self._share, self._left_out, self._busy, (self._text, 1), foot, on=full, spacing=theme.GRID,
               margin=2 * theme.GRID)
        self._faces = Faces(full, self._empty, self)

    def _button(self, icon: str, tip: str, slot: object) -> QToolButton:
        button = tool_button(self, icon, tip)
        button.clicked.connect(slot)
        return button

    def show_sessions(self, sessions: list[tuple[str, str]]) -> None:
        """The ticked sessions as (id, title)."""
        self._faces.show_content(bool(sessions))
        held = [self.sessions.itemData(i) for i in range(self.sessions.count())]
        if held == [s for s, _ in sessions]:
            return
        current = self.sessions.currentData()
        self.sessions.clear()
        for session, title in sessions:
            self.sessions.addItem(title, session)
        self.sessions.setCurrentIndex(max(0, self.sessions.findData(current)))

    def show_busy(self, busy: bool) -> None:
        """Whether the worker is at it."""
        self._busy.setVisible(busy)
        if busy:
            set_hint(self._text, waiting_words())

    def show_failure(self, sentence: str) -> None:
        """Why there is nothing to see."""
        self._page = Preview()
        self._text.setPlainText("")
        set_hint(self._text, visible(sentence))
        for label in (self._share, self._left_out, self._place, self._where):
            label.setText("")
        self.show_busy(False)

    def show_preview(self, session: str, page: Preview) -> None:
        """A page of a sample."""
        self._page, self._session = page, session
        self.show_busy(False)
        self._show_samples()
        self._show_share()
        self._show_left_out()
        self._fill()
        for button, beside in zip(self._steppers, (page.sample - 1, page.sample + 1), strict=True):
            button.setEnabled(0 <= beside < len(page.samples))
        last = page.start + len(page.tokens)
        self._place.setText(self.tr("tokens {first}–{last} of {total}").format(
            first=number(page.start + 1), last=number(last), total=number(page.total)) if page.total else "")
        trained = page.trained > 0
        for button, on in zip(self._buttons, (trained, page.start > 0, last < page.total, trained), strict=True):
            button.setEnabled(on)

    def _show_samples(self) -> None:
        names = []
        for i, sample in enumerate(self._page.samples, 1):
            kind = self.tr("summary") if sample.kind == "summary" else self.tr("steps")
            names.append(self.tr("{number} · {kind} to step {step}").format(number=i, kind=kind, step=sample.step))
        if names != [self.samples.itemText(i) for i in range(self.samples.count())]:
            self.samples.clear()
            self.samples.addItems(names)
        self.samples.setCurrentIndex(self._page.sample if names else -1)

    def _show_share(self) -> None:
        page = self._page
        if not page.samples:
            why = reason(page.refused[0]) if page.refused else ""
            self._share.setText("")
            set_hint(self._text, visible(self.tr("This session gives no sample. {why}").format(why=why)))
            return
        share = 100 * page.trained / page.total if page.total else 0.0
        text = self.tr("▸ {trained} of {total} tokens are trained ({share} %)").format(
            trained=number(page.trained), total=number(page.total), share=f"{share:.1f}")
        masked = sum(p.state == "masked" for p in page.parts)
        if masked:
            text += " · " + self.tr("✗ %Ln masked action(s)", "", plural(masked))
        undecided = sum(p.state == "undecided" for p in page.parts)
        if undecided:
            text += " · " + self.tr("? %Ln action(s) that nobody judged", "", plural(undecided))
        if page.template_refused is not None:
            text += "\n" + reason(page.template_refused)
        self._share.setText(text)

    def _show_left_out(self) -> None:
        """What an export would leave out of this session, and why: each reason once."""
        reasons = Counter(reason(r) for r in self._page.refused)
        lines = [f"✗ {one_line(sentence, 240)}" + (f" (×{times})" if times > 1 else "")
                 for sentence, times in reasons.most_common(MOST_REASONS)]
        more = len(reasons) - len(lines)
        if more > 0:
            lines.append(self.tr("and %Ln reason(s) more", "", plural(more)))
        self._left_out.setText("\n".join(lines))
        self._left_out.setVisible(bool(lines) and bool(self._page.samples))

    def _show_where(self) -> None:
        """Where the text under the cursor came from, and what training does with it."""
        at = bisect_right(self._starts, self._text.textCursor().position()) - 1
        part = self._part_at(self._page.start + at) if at >= 0 else None
        if part is None or part.step is None:
            self._where.setText(state_words(part.state if part else "context") if self._page.tokens else "")
            return
        sentence = self.tr("step {step}: {state}")
        self._where.setText(sentence.format(step=number(part.step), state=state_words(part.state)))

    def _part_at(self, token: int) -> TokenPart | None:
        return next((p for p in self._page.parts if p.start <= token < p.end), None)

    def _fill(self) -> None:
        self._starts = []
        self._text.clear()
        cursor = QTextCursor(self._text.document())
        plain, formats = QTextCharFormat(), {}
        plain.setForeground(theme.colour("muted"))
        for state, meaning in (("kept", "keep"), ("summary", "ink"), ("masked", "mask")):
            formats[state] = [self._format(meaning, alpha, trained=state != "masked") for alpha in (34, 62)]
        formats["undecided"] = [_tinted("attention", alpha) for alpha in (34, 62)]
        signs = {"masked": ("✗", "mask"), "undecided": ("?", "attention")}
        cursor.beginEditBlock()
        self._marks = []
        state_at = self._states()
        before = ""
        for i, (text, mask) in enumerate(self._page.tokens):
            state = state_at(self._page.start + i)
            trained = "summary" if state == "summary" else "kept"
            wanted = trained if mask else state if state in signs else ""
            self._starts.append(cursor.position())
            now = "trained" if mask else wanted
            if now and now != before:
                if mask:
                    self._marks.append(cursor.position())
                sign, meaning = signs.get(now, ("▸", "keep"))
                cursor.insertText(sign, self._sign(meaning))
            before = now
            shown = visible(text).replace("\n", "⏎\n") if mask else visible(text)
            cursor.insertText(shown, formats[wanted][i % 2] if wanted else plain)
        cursor.endEditBlock()
        self._show_mark(self._marks[0] if self._marks else 0)

    def _states(self) -> Callable[[int], str]:
        parts = sorted(self._page.parts, key=lambda p: p.start)
        starts = [p.start for p in parts]

        def state(token: int) -> str:
            at = bisect_right(starts, token) - 1
            return parts[at].state if at >= 0 and token < parts[at].end else ""

        return state

    def _format(self, meaning: str, alpha: int, *, trained: bool) -> QTextCharFormat:
        made = _tinted(meaning, alpha)
        if trained:
            made.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
            made.setUnderlineColor(theme.colour(meaning))
        else:
            made.setFontStrikeOut(True)
            made.setForeground(theme.colour(meaning))
        return made

    def _sign(self, meaning: str) -> QTextCharFormat:
        made = QTextCharFormat()
        made.setForeground(theme.colour(meaning))
        made.setFontWeight(700)
        return made

    def _trained_beside(self, direction: int) -> int | None:
        """Where the next trained part before or behind this page begins."""
        starts = [p.start for p in self._page.parts if p.state in ("kept", "summary")]
        if direction < 0:
            return next((start for start in reversed(starts) if start < self._page.start), None)
        return next((start for start in starts if start >= self._page.start + len(self._page.tokens)), None)

    def _show_mark(self, position: int) -> None:
        """Put a mark near the top, with what came before it in sight."""
        cursor = QTextCursor(self._text.document())
        cursor.setPosition(position)
        self._text.setTextCursor(cursor)
        bar = self._text.verticalScrollBar()
        self._text.ensureCursorVisible()
        bar.setValue(bar.value() + self._text.cursorRect().top() // max(1, self._text.fontMetrics().height()) - 3)

    def _mark_beside(self, direction: int) -> int | None:
        here = self._text.textCursor().position()
        found = [m for m in self._marks if (m > here if direction > 0 else m < here)]
        return (found[0] if direction > 0 else found[-1]) if found else None

    def _go(self, start: int | None) -> None:
        if start is not None:
            self.asked.emit(self._session, self._page.sample, max(0, start))

    def _go_to_trained(self, direction: int, *_: object) -> None:
        mark = self._mark_beside(direction)
        self._go(self._trained_beside(direction)) if mark is None else self._show_mark(mark)

    def _go_to_page(self, direction: int, *_: object) -> None:
        self._go(self._page.start + direction * PAGE)

    def _ask_session(self) -> None:
        self.asked.emit(str(self.sessions.currentData() or ""), 0, 0)

    def _ask_sample_beside(self, direction: int, *_: object) -> None:
        beside = self._page.sample + direction
        if 0 <= beside < len(self._page.samples):
            self._ask_sample(beside)

    def _ask_sample(self, index: int) -> None:
        self.asked.emit(str(self.sessions.currentData() or ""), index, 0)


def _tinted(meaning: str, alpha: int) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setBackground(theme.tint(meaning, alpha))
    return made
