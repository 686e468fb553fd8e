"""Is a text still in the context? A box for the text, the answer in words, and a strip over all steps."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLineEdit, QWidget

from app.kit import quantities, theme
from app.kit.boxes import column, named, row
from app.kit.i18n import plural
from app.kit.safe_text import PlainLabel
from app.step.context_search import Presence

MOST_RUNS = 12
Runs = tuple[tuple[int, int], ...]


class PresenceStrip(QWidget):
    """One cell per step, filled where the text was in the context; a click and the arrow keys go to steps."""

    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._runs: Runs = ()
        self._last = 1
        self._here = 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Steps whose context held the text"))
        self.setToolTip(self.tr("Filled: the text was in the context. A click goes to the step; "
                                "Left and Right go to where it came and went."))

    def show_runs(self, runs: Runs, last: int, here: int) -> None:
        """The steps that had the text, how many steps there are, and where the reader is."""
        self._runs, self._last, self._here = runs, max(1, last), here
        self.update()

    def sizeHint(self) -> QSize:
        """A narrow band."""
        return QSize(120, 4 * theme.GRID)

    def minimumSizeHint(self) -> QSize:
        """A narrow band."""
        return QSize(40, 4 * theme.GRID)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.colour("window"))
        for first, last in self._runs:
            left, right = self._x(first - 1), self._x(last)
            painter.fillRect(QRectF(left, 2, max(2.0, right - left), self.height() - 4), theme.colour("attention"))
        painter.setPen(QPen(theme.colour("ink"), 2))
        if self._here:
            middle = round(self._x(self._here - 0.5))
            painter.drawLine(middle, 0, middle, self.height())
        painter.setPen(theme.colour("person" if self.hasFocus() else "line"))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the step under the mouse."""
        step = int(event.position().x() / max(1, self.width()) * self._last) + 1
        self.picked.emit(max(1, min(self._last, step)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right: to the border before or after."""
        borders = sorted({n for first, last in self._runs for n in (first, last, min(last + 1, self._last))})
        if event.key() == Qt.Key.Key_Left:
            found = [n for n in borders if n < self._here][-1:]
        elif event.key() == Qt.Key.Key_Right:
            found = [n for n in borders if n > self._here][:1]
        else:
            super().keyPressEvent(event)
            return
        for step in found:
            self.picked.emit(step)

    def _x(self, step: float) -> float:
        return step / self._last * self.width()


class PresenceBar(QWidget):
    """Box, answer and strip; `asked` for a text ("" for none), `picked` a step."""

    asked = Signal(str)
    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = named(QLineEdit(self, clearButtonEnabled=True), self.tr("Text to look for in the contexts"))
        self.box.setPlaceholderText(self.tr("Is this text in the context? Type it, or select it and press Shift+C"))
        self.answer = PlainLabel("", self, elide=True)
        self.strip = PresenceStrip(self)
        below = row((self.answer, 3), (self.strip, 2), spacing=2 * theme.GRID)
        column(self.box, below, on=self, spacing=theme.GRID, margin=0)
        self._show(False)
        self.box.textChanged.connect(self._on_text)
        self.box.returnPressed.connect(self._ask_words)
        self.strip.picked.connect(self.picked)

    def ask(self, text: str) -> None:
        """Look for a text that was selected somewhere."""
        self.box.setText(" ".join(text.split()))

    def searching(self) -> None:
        """The answer is on its way."""
        self._show(True)
        self._say(self.tr("Looking through the contexts…"))

    def fetching(self, count: int) -> None:
        """Some messages are not on this computer yet."""
        self._say(self.tr("%Ln message(s) are fetched from the server first…", None, plural(count)))

    def show_presence(self, presence: Presence, here: int, last: int) -> None:
        """The answer as of a step."""
        self._show(bool(presence.text))
        self.strip.show_runs(presence.runs, last, here)
        self.answer.set_meaning("attention" if presence.is_own(here) else "ink")
        self._say(self._words(presence, here))

    def _words(self, presence: Presence, here: int) -> str:
        number = quantities.number
        runs = "; ".join(f"{number(a)}–{number(b)}" if b > a else number(a) for a, b in presence.runs[:MOST_RUNS])
        runs += " …" if len(presence.runs) > MOST_RUNS else ""
        if not presence.runs:
            return self.tr("✗ In no step's context.")
        if presence.is_own(here):
            return self.tr("! Only its own words: nothing that it read up to step {n} says so. Steps with it: "
                           "{runs}").format(n=number(here), runs=runs)
        if presence.holds(here):
            return self.tr("✓ In the context at step {n}. Steps with it: {runs}").format(n=number(here), runs=runs)
        last = presence.last_before(here)
        if last is not None:
            return self.tr("✗ Gone since step {n}. Steps with it: {runs}").format(n=number(last + 1), runs=runs)
        return self.tr("✗ Not yet at step {n}. Steps with it: {runs}").format(n=number(here), runs=runs)

    def _say(self, text: str) -> None:
        self.answer.setText(text)
        self.answer.setToolTip(text)
        self.strip.setAccessibleDescription(text)

    def _show(self, on: bool) -> None:
        self.answer.setVisible(on)
        self.strip.setVisible(on)

    def _on_text(self, text: str) -> None:
        if not text.strip():
            self._show(False)
        self.asked.emit(text.strip())

    def _ask_words(self) -> None:
        self.asked.emit(self.box.text().strip())
        self.strip.setFocus()
