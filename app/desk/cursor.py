"""The cursor: the one session and step that all panels follow, and the steps that are marked for a joint act."""

from __future__ import annotations

import re
from typing import Protocol

import msgspec
from PySide6.QtCore import QObject, Signal


class ShownSteps(msgspec.Struct, frozen=True):
    """What a list of steps shows now: those that it marks as selected, and which of these are in sight."""

    selected: frozenset[int]
    in_sight: frozenset[int]


class StepListing(Protocol):
    """The list in which the reader sees steps."""

    def shown(self) -> ShownSteps | None:
        """What it shows; None while it is not open."""

    def reveal(self, step: int) -> bool:
        """Select a step alone and bring it in sight; False where that cannot be, as behind a filter."""

    def take_keys(self) -> bool:
        """Give the list the keyboard, where it can be seen; whether it can."""


class SelectedWords(msgspec.Struct, frozen=True):
    """Words that the reader selected in what is drawn of a step, and what is drawn before them."""

    step: int = 0
    words: str = ""
    before: str = ""


class Cursor(QObject):
    """Where the reader is. `step` None means the live tail: panels stream; a number: state as of that step."""

    moved = Signal(str, object)
    """(session, step or None) after every move, once; panels listen to `app.desk.in_sight`."""

    marked = Signal()
    """The marked steps changed."""

    action_chosen = Signal()
    """Another action of the step, or the step as a whole, is to be judged."""

    aside_opened = Signal(str, object)
    """(kind, id): the reader opened a summary or guidance, which has no step number of its own."""

    text_offered = Signal(str)
    """A text for the guidance box, put where the writer is; nothing is sent."""

    sought_changed = Signal()
    """What the reader looks for changed: texts that are shown mark it."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = ""
        self._step: int | None = None
        self._marks: tuple[int, ...] = ()
        self._action = 0
        self._sought: re.Pattern[str] | None = None
        self._follows = False
        self.selected_words = SelectedWords()
        """What is selected in the text of a step, as whoever shows it says."""
        self.list: StepListing | None = None
        """Where the reader sees what is selected; None before there is a list."""

    @property
    def session(self) -> str:
        """The session that is looked at; "" when none is."""
        return self._session

    @property
    def step(self) -> int | None:
        """The step that is looked at; None at the live tail."""
        return self._step

    @property
    def marks(self) -> tuple[int, ...]:
        """Steps marked together in the list (Shift, Ctrl), in order; one act may judge them all."""
        return self._marks

    @property
    def action(self) -> int:
        """Which action of the step is to be judged, counted from 1; 0: the whole step."""
        return self._action

    def choose_action(self, action: int) -> None:
        """Judge one action of the step from now on, or with 0 the whole step, until the reader goes elsewhere."""
        if action != self._action:
            self._action = action
            self.action_chosen.emit()

    @property
    def sought(self) -> re.Pattern[str] | None:
        """What the reader looks for; None for nothing."""
        return self._sought

    def seek(self, pattern: re.Pattern[str] | None) -> None:
        """Look for something, or for nothing any more."""
        if pattern != self._sought:
            self._sought = pattern
            self.sought_changed.emit()

    def move(self, session: str, step: int | None = None) -> None:
        """Go to a step of a session, or to its live tail. Silent when already there."""
        if (session, step) == (self._session, self._step):
            return
        if session != self._session:
            self._marks = ()
        self._session, self._step, self._follows = session, step, False
        self.choose_action(0)
        self.moved.emit(session, step)

    def open(self, session: str, step: int | None = None) -> None:
        """Go to a session, where the reader was; one that is in sight stays where it is unless a step is named."""
        if step is not None or session != self._session:
            self.move(session, step)

    def to_step(self, step: int | None) -> None:
        """Go to a step of the same session."""
        self.move(self._session, step)

    def follow(self) -> None:
        """Go to the live tail of the same session, and along with it."""
        self.move(self._session, None)
        self._follows = True

    @property
    def follows(self) -> bool:
        """Whether the reader chose to go along with the session's end."""
        return self._follows

    def mark(self, steps: tuple[int, ...]) -> None:
        """Mark steps for a joint act."""
        if steps != self._marks:
            self._marks = steps
            if len(steps) > 1:
                self.choose_action(0)
            self.marked.emit()

    def focus_list(self) -> bool:
        """Lead the keyboard back to the list of steps; False where it cannot be seen."""
        return self.list is not None and self.list.take_keys()

    def offer_text(self, text: str) -> None:
        """Put a text into the guidance box, to be looked at and sent."""
        self.text_offered.emit(text)

    def open_aside(self, kind: str, ref: object) -> None:
        """Show a summary or guidance without leaving the step."""
        self.aside_opened.emit(kind, ref)
