"""A read-only view for long foreign texts: plain, first 200 KB at once, long lines broken, colours off-thread."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from time import perf_counter

import msgspec
from PySide6.QtCore import QLocale, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QTextCursor
from PySide6.QtWidgets import QPushButton, QWidget

from app.kit import theme
from app.kit.ansi import PLAIN, drawn, is_drawn
from app.kit.boxes import column, row
from app.kit.code_colours import CodeColours, CodePlace
from app.kit.drawn_text import DrawnText
from app.kit.furnishing import furnish, set_apart
from app.kit.safe_text import PlainLabel, displayable, set_hint
from app.kit.text_ink import dressed, format_of, slices
from app.kit.text_marks import TextMarks
from core.domain.anchor import TextAnchor

FIRST = 200_000
"""How many characters are shown before "Show all" is asked for."""

NEW_LINE = "⏎"
"""Our sign for a line's end that is told of itself."""

FEED_S, FEED_PAUSE_MS = 0.008, 4
"""How long inserting may hold the window, and how long it then rests."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a text view.

    `style`: text (proportional), mono, heading (a bold label; on a band where it is the chosen one) or meta (small);
    of what is read as prose (`markdown`) prose, strong, subhead, code (within a line) or block (lines of code on a
    ground of their own). `meaning` names a
    colour of the theme. `lexer` is a Pygments name. `escapes` shows terminal escapes instead of taking them out;
    `terminal` draws the text as a terminal would: its colours, and what it wrote over, on a ground of its own; of a
    long one the first lines. `choice`: this heading can be chosen, and is announced as that number; 0: it is only text.
    `folds`: laid-out JSON whose objects can be folded. `picture` names the picture that stands below the text.
    `shade` names a colour of the theme for the ground of the letters, `hint` is what is said of them where one points;
    the style `doubted` is mono with a dotted line below it. `icon` stands in the margin beside the first line.
    """

    text: str
    style: str = "text"
    meaning: str = ""
    lexer: str = ""
    escapes: bool = False
    terminal: bool = False
    choice: int = 0
    folds: bool = False
    picture: str = ""
    shade: str = ""
    hint: str = ""
    icon: str = ""


class LongText(QWidget):
    """Shows parts of plain text one below the other; never markup, never more than was asked for."""

    all_asked = Signal()

    def __init__(self, parent: QWidget | None = None, *, name: str = "") -> None:
        super().__init__(parent)
        self.edit = DrawnText(self)
        self.edit.setReadOnly(True)
        self.edit.setUndoRedoEnabled(False)
        self.edit.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        self.edit.setAccessibleName(name)
        self.setFocusProxy(self.edit)
        self._cut = PlainLabel("", self)
        self._more = QPushButton(self.tr("Show all"), self)
        self._more.clicked.connect(self.show_all)
        self._bar = QWidget(self)
        row((self._cut, 1), self._more, on=self._bar, margin=(theme.GRID, 0, 0, 0))
        column((self.edit, 1), self._bar, on=self, spacing=theme.GRID, margin=0)
        self._bar.hide()
        self._parts: tuple[Part, ...] = ()
        self._marks = TextMarks(self.edit)
        self._colours = CodeColours(self.edit.document(), self)
        self._pictures: dict[str, QImage | str] = {}
        """What came for the names of pictures: an image, or why there is none."""
        self._rest: Iterator[tuple[Part, str]] = iter(())
        self._feeder = QTimer(self, interval=FEED_PAUSE_MS)
        self._feeder.timeout.connect(self._feed_rest)

    def show_text(self, text: str, lexer: str = "", *, mono: bool = True) -> None:
        """Show one text from its start."""
        self.show_parts([Part(text=text, style="mono" if mono else "text", lexer=lexer)])

    def show_parts(self, parts: Sequence[Part], *, keep_place: bool = False) -> None:
        """Show parts from the start of the first; `keep_place` leaves the scroll bar where it is."""
        if tuple(parts) == self._parts:
            return
        self._parts = tuple(parts)
        self._pictures = {name: self._pictures[name] for name in self.pictures if name in self._pictures}
        self._fill(FIRST, keep_place=keep_place)

    @property
    def pictures(self) -> list[str]:
        """The names of the pictures of what is shown."""
        return [part.picture for part in self._parts if part.picture]

    def show_picture(self, name: str, found: QImage | str) -> None:
        """Put an image in its place, or the sentence on why there is none; the reader's place stays."""
        if name in self.pictures and self._pictures.get(name) is not found:
            self._pictures[name] = found
            self._fill(FIRST, keep_place=True)

    def mark(self, pattern: re.Pattern[str] | None) -> int:
        """Mark every match in what is shown, and bring the first into sight; returns how many there are."""
        return self._marks.seek(pattern)

    def mark_remarks(self, remarks: Sequence[tuple[TextAnchor, str]]) -> None:
        """Underline words that remarks stand on, where they are shown; what is said of them is their tooltip."""
        self._marks.remark(remarks)

    def choose(self, choice: int) -> None:
        """Mark the heading of a choice as chosen; 0: none."""
        self._marks.choose(choice)

    def show_all(self) -> None:
        """Show what was cut, where the reader is; much of it a little at a time, so that the window stays free."""
        if sum(len(p.text) for p in self._parts) <= 2 * FIRST:
            self._fill(None, keep_place=True)
            self.all_asked.emit()
        else:
            self._rest = slices(self._parts, FIRST)
            self._more.hide()
            self._feeder.start()

    def _feed_rest(self) -> None:
        """Some milliseconds of the rest."""
        until = perf_counter() + FEED_S
        cursor = QTextCursor(self.edit.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        while perf_counter() < until:
            part, text = next(self._rest, (None, ""))
            if part is None:
                self._feeder.stop()
                self._bar.hide()
                self._marks.refresh()
                self.all_asked.emit()
                return
            self._put(cursor, part, text)
        sentence = self.tr("{shown} characters are shown so far.")
        self._cut.setText(sentence.format(shown=QLocale().toString(self.edit.document().characterCount())))

    def placeholder(self, text: str) -> None:
        """Show nothing but a hint of ours."""
        self._parts = ()
        self._fill(FIRST, keep_place=False)
        set_hint(self.edit, text)

    @property
    def selected(self) -> str:
        """What the reader selected, without the line ends that are ours."""
        return _without_our_breaks(self.edit.textCursor())

    @property
    def before_selected(self) -> str:
        """Some of what is drawn before that."""
        at = self.edit.textCursor().selectionStart()
        before = QTextCursor(self.edit.document())
        before.setPosition(max(0, at - 200))
        before.setPosition(at, QTextCursor.MoveMode.KeepAnchor)
        return _without_our_breaks(before)

    @property
    def text(self) -> str:
        """What is shown."""
        return self.edit.toPlainText()

    def _fill(self, limit: int | None, *, keep_place: bool) -> None:
        self._feeder.stop()
        self._more.show()
        place = self.edit.verticalScrollBar().value() if keep_place else 0
        shown, total, places = self._insert(limit)
        self._colours.show(places)
        self.edit.verticalScrollBar().setValue(place)
        self.edit.horizontalScrollBar().setValue(0)
        self._bar.setVisible(shown < total)
        self._marks.refresh()
        number = QLocale().toString
        self._cut.setText(self.tr("The first {shown} of {total} characters are shown.").format(
            shown=number(shown), total=number(total)))

    def _insert(self, limit: int | None) -> tuple[int, int, list[CodePlace]]:
        """How many characters are shown, how many there are, and where there is code."""
        self.edit.clear()
        self.edit.forget_choices()
        self.edit.forget_drawing()
        places: list[CodePlace] = []
        bands: list[tuple[int, int]] = []
        shown = 0
        cursor = QTextCursor(self.edit.document())
        cursor.beginEditBlock()
        for part in self._parts:
            room = len(part.text) if limit is None else max(0, limit - shown)
            text = part.text if room >= len(part.text) else part.text[:room]
            shown += len(text)
            set_apart(self.edit, cursor, part)
            start, first = cursor.position(), cursor.blockNumber()
            text = self._put(cursor, part, text)
            furnish(self.edit, cursor, part, text, first, self._pictures)
            if part.style == "heading":
                bands.append((start, cursor.position()))
            if part.lexer and text:
                places.append((start, text, part.lexer))
        cursor.endEditBlock()
        self.edit.moveCursor(QTextCursor.MoveOperation.Start)
        self._marks.band(bands)
        self.edit.folds.apply()
        return shown, sum(len(p.text) for p in self._parts), places

    def _put(self, cursor: QTextCursor, part: Part, text: str) -> str:
        """Insert a piece of a part; what a reader sees of it."""
        if part.choice:
            self.edit.offer(cursor.position(), part.choice)
        if not (part.terminal and is_drawn(text)):
            shown = displayable(text, escapes=part.escapes)
            cursor.insertText(shown, format_of(part, self))
            return shown
        plain = format_of(part, self)
        runs: list[str] = []
        for run, style in drawn(text):
            runs.append(displayable(run))
            cursor.insertText(runs[-1], plain if style == PLAIN else dressed(plain, style))
        return "".join(runs)


def _without_our_breaks(cursor: QTextCursor) -> str:
    """What a cursor selects, without the line ends that `displayable` put in."""
    return cursor.selectedText().replace("\u2029", "\n").replace("↩\n", "").replace(f"{NEW_LINE}\n", "\n")
