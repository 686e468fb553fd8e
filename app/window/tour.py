"""The guide through the demonstration: a band beside what it is about, four steps, each ends when it was done."""

from __future__ import annotations

from PySide6.QtCore import QObject, QSettings, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QPushButton, QWidget

from app.desk.workplace import Workplace
from app.kit import icons, theme, tokens
from app.kit.boxes import column, row
from app.kit.i18n import QT_TRANSLATE_NOOP
from app.kit.safe_text import PlainLabel
from app.kit.tool_button import tool_button
from app.sessions.new import DEMONSTRATION
from app.window.bars import add_bar
from app.window.window import Window

STEPS = (
    (QT_TRANSLATE_NOOP("TourBand", "Look"), QT_TRANSLATE_NOOP(
        "TourBand", "Each row is a step of the agent. Choose one: what it thought, did and got back stands beside it."),
     QT_TRANSLATE_NOOP("TourBand", "Choose the first step")),
    (QT_TRANSLATE_NOOP("TourBand", "Tell it something"), QT_TRANSLATE_NOOP(
        "TourBand", "This agent errs on purpose: it measures itself on the test data. Write what it should use "
                    "instead, and press Ctrl+Enter. It goes on working meanwhile."),
     QT_TRANSLATE_NOOP("TourBand", "Take this example")),
    (QT_TRANSLATE_NOOP("TourBand", "Judge"), QT_TRANSLATE_NOOP(
        "TourBand", "Esc leads to the list. Choose a step that used the test data and press M: training leaves it out. "
                    "K keeps one."),
     QT_TRANSLATE_NOOP("TourBand", "Mask step {n}")),
    (QT_TRANSLATE_NOOP("TourBand", "Hand it on"), QT_TRANSLATE_NOOP(
        "TourBand", "The layout Export turns judged sessions into training data, "
                    "and shows each sample token by token."),
     QT_TRANSLATE_NOOP("TourBand", "Open Export")),
)
"""Of each step of the guide: title, sentence, and what its button does."""

BESIDE = ("trajectory", "guidance", "bar", "bar")
"""Where the band of each step stands: in a panel, or over the review bar."""

ERRING = "train.py"
"""The script of the demonstration that measures itself on the test data: the step that writes it is the one to mask."""

EXAMPLE = QT_TRANSLATE_NOOP("TourBand", "Use a held-out part of the training split, not data/test.jsonl.")


class DashBar(QWidget):
    """How far the guide is, as one dash a step."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.at = 0
        self.setFixedSize(theme.px(26) * len(STEPS), theme.px(3))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The steps up to the one that is due are filled."""
        painter = QPainter(self)
        for step in range(len(STEPS)):
            colour = theme.colour("person" if step <= self.at else "faint")
            painter.fillRect(theme.px(26) * step, 0, theme.px(22), self.height(), colour)


class TourBand(QFrame):
    """One step of the guide; it never takes the keyboard."""

    done_for_me = Signal()
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("tour")
        self.title, self.count, self.way = PlainLabel("", self), PlainLabel("", self), DashBar(self)
        self.title.setFont(theme.font_of("title"))
        self.count.setForegroundRole(self.palette().ColorRole.PlaceholderText)
        self.sentence = PlainLabel("", self, wrap=True)
        self.act = QPushButton("", self)
        self.act.clicked.connect(self.done_for_me)
        close = tool_button(self, "x", self.tr("Close the guide; menu Help brings it back"))
        close.clicked.connect(self.closed)
        for button in (self.act, close):
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        gap = theme.px(tokens.BETWEEN)
        wheel = PlainLabel("", self)
        wheel.setPixmap(icons.icon("ship-wheel", "person").pixmap(theme.px(20), theme.px(20)))
        words = column(row(self.title, self.count, self.way, 1, spacing=gap), self.sentence, spacing=theme.px(2))
        row(wheel, (words, 1), self.act, close, on=self, spacing=gap, margin=theme.px(tokens.SIDE))

    def show_step(self, at: int, meant: int) -> None:
        """The step of the guide that is due, counted from 0, and the agent's step that it speaks of where it is to be
        judged (0: none is there yet). Over the review bar the sentence is one line: a bar gives
        lines that wrap more room than they take."""
        title, sentence, act = STEPS[at]
        self.sentence.setWordWrap(BESIDE[at] != "bar")
        self.title.setText(self.tr(title))
        self.sentence.setText(self.tr(sentence))
        self.act.setText(self.tr(act).format(n=meant))
        self.act.setVisible(bool(meant) or "{n}" not in act)
        self.count.setText(self.tr("{n} of {total}").format(n=at + 1, total=len(STEPS)))
        self.way.at = at
        self.way.update()


class Tour(QObject):
    """Shows the band while the demonstration is looked at, until it was gone through or closed."""

    def __init__(self, place: Workplace, window: Window) -> None:
        super().__init__(window)
        band = self._band = TourBand(window)
        self._place, self._window = place, window
        room = QWidget(window)
        self._room = column(on=room, margin=0)
        self._bar = add_bar(window, "tour", room, Qt.ToolBarArea.BottomToolBarArea, above=True)
        self._state = QSettings(str(place.home.path / "window.ini"), QSettings.Format.IniFormat)
        window.layouts.asked.connect(self._show_step)
        band.closed.connect(self._close_band)
        band.done_for_me.connect(self._do_step)
        place.actions["help.guide"].triggered.connect(self._start_again)
        place.actions["view.export"].triggered.connect(self._on_export)
        for signal in (place.sight.opened, place.sight.stepped, place.sight.grew, place.desks.outbox_changed):
            signal.connect(self._show_step)
        self._exported = False
        self._show_step()

    @property
    def at(self) -> int:
        """The step of the guide that is due; the number of all once every one was done."""
        trajectory = self._place.sight.trajectory
        if trajectory is None:
            return 0
        if self._place.sight.step is None and self._reached < 1 and not trajectory.guidance:  # who speaks has looked
            return 0
        judged = any(v.author.kind == "person" for o in trajectory.steps.opinions.values() for v in o.verdicts.values())
        done = (True, bool(trajectory.guidance), judged, self._exported)
        return done.index(False) if False in done else len(done)

    @property
    def _meant(self) -> int:
        """The step that wrote what uses the test data, 0 where none did so far."""
        trajectory = self._place.sight.trajectory
        steps = trajectory.steps if trajectory is not None else ()
        return next((one.head.number for one in steps if ERRING in one.head.title), 0)

    @property
    def _reached(self) -> int:
        return int(str(self._state.value("tour/reached", 0)))

    def _show_step(self, *_: object) -> None:
        row = self._place.sight.row
        due = self.at
        shown = (row is not None and row.task == DEMONSTRATION and row.origin == "live" and due < len(STEPS)
                 and self._state.value("tour/closed") != "yes")
        if shown:
            self._state.setValue("tour/reached", max(due, self._reached))
            self._band.show_step(due, self._meant)
            self._stand_beside(BESIDE[due])
        self._band.setVisible(shown)
        self._bar.setVisible(shown and BESIDE[due] == "bar")

    def _stand_beside(self, key: str) -> None:
        """In the list, over the box that it speaks of, which keeps its size, or over the review bar."""
        room = self._room if key == "bar" else self._window.docks[key].widget().layout()
        beside = self._window.docks["guidance"].widget().layout()
        if isinstance(room, QBoxLayout) and room.indexOf(self._band) < 0:
            grows = (key == "guidance") - (beside is not None and beside.indexOf(self._band) >= 0)
            room.insertWidget(max(0, room.count() - 1) if key == "guidance" else room.count(), self._band)
            dock = self._window.docks["guidance"]
            self._window.resizeDocks([dock], [dock.height() + grows * self._band.sizeHint().height()],
                                     Qt.Orientation.Vertical)
            if key == "guidance":
                dock.raise_()  # else the band, too, is behind a tab
            QTimer.singleShot(0, dock, dock.grow)  # of a bar below the docks its row may have taken what it needs

    def _do_step(self) -> None:
        """What the button promises."""
        trajectory, actions = self._place.sight.trajectory, self._place.actions
        match self.at:
            case 0 if trajectory is not None and trajectory.steps:
                self._place.cursor.to_step(trajectory.steps.numbers[0])
            case 1:
                self._place.cursor.offer_text(self._band.tr(EXAMPLE))
            case 2:
                self._place.cursor.to_step(self._meant)
                actions["review.mask"].trigger()
            case 3:
                actions["view.export"].trigger()

    def _on_export(self, *_: object) -> None:
        self._exported = self.at >= len(STEPS) - 1
        if self._exported:  # gone through: not again at the next start
            self._state.setValue("tour/closed", "yes")
        self._show_step()

    def _close_band(self) -> None:
        self._state.setValue("tour/closed", "yes")
        self._show_step()

    def _start_again(self, *_: object) -> None:
        self._state.setValue("tour/closed", "no")
        self._state.setValue("tour/reached", 0)
        self._exported = False
        self._show_step()
