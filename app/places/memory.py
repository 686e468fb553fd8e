"""Where the reader was in each session: step, scrolling, folds, filters, what was looked for; found after a restart."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
from PySide6.QtCore import QObject, QTimer

from app.desk.frame import Frame, ListPlace, list_of_steps
from app.desk.workplace import Workplace
from core.store.home import read_small, write_private

MOST = 1_000
"""So many sessions are remembered; those that were left longest ago go first."""

SOON_MS = 1_000
"""A place that stayed the same so long is stored, so that a window that is killed loses the last two of these at most.
Not while it moves: its writing waits for the disk, and a reader at rest does not notice."""


class PlaceIn(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place in one session. `step` None is the live tail; `view` are the filters as names and values, `list` what the
    list of steps showed."""

    step: int | None = None
    view: dict[str, str] = {}
    list: ListPlace = ListPlace()
    at: datetime | None = None
    """When the reader was there last."""


class PlaceMemory(QObject):
    """Remembers the place in a session while it is read and when it is left, and leads there when it is opened without
    a step of its own."""

    def __init__(self, place: Workplace, window: Frame) -> None:
        super().__init__(window.widget)
        self._place, self._window = place, window
        self._path = place.home.path / "read.json"
        self._places: dict[str, PlaceIn] = read_small(self._path, dict[str, PlaceIn], {})
        self._due: ListPlace | None = None
        """What the list is to show as soon as the move is over."""
        self._moved = PlaceIn()
        """Where the reader was when it was last looked whether the place moved."""
        place.queues.place_in = self.place_in
        place.sight.left.connect(self._store_place)
        place.sight.arrived.connect(self._go_to_place)
        place.sight.settled.connect(self._scroll_there)
        soon = QTimer(window.widget, interval=SOON_MS)  # what scrolls, folds and filters has no one signal
        soon.timeout.connect(self.store_moved)
        soon.start()

    def place_in(self, session: str) -> tuple[int, datetime | None]:
        """The step at which the reader left a session (0: none), and when."""
        held = self._places.get(session, PlaceIn())
        return held.step or 0, held.at

    def store_moved(self) -> None:
        """Store the place in the session in sight where it is another one than is stored, and rests. Of a session that
        is still being read it is not known yet."""
        sight = self._place.sight
        self._place.watermarks.store()  # what was followed until now is no news after a crash
        if not sight.session or self._due is not None or sight.desk.progress(sight.session) < 1:
            return
        here, before = self._here(), self._moved
        self._moved = here
        if here == before and here != msgspec.structs.replace(self._places.get(sight.session, PlaceIn()), at=None):
            self._store(here)

    def _store_place(self) -> None:
        self._store(self._here())

    def _here(self) -> PlaceIn:
        steps = list_of_steps(self._window)
        return PlaceIn(self._place.sight.step, steps.shown_filters(), steps.shown_place())

    def _store(self, here: PlaceIn) -> None:
        session = self._place.sight.session
        self._places.pop(session, None)
        self._places[session] = msgspec.structs.replace(here, at=datetime.now(UTC))
        while len(self._places) > MOST:
            del self._places[next(iter(self._places))]
        write_private(self._path, msgspec.json.encode(self._places))

    def _go_to_place(self) -> None:
        sight = self._place.sight
        if not sight.session or sight.step is not None:  # a link, a hit or a notice says itself where to go
            return
        held = self._places.get(sight.session, PlaceIn())
        if held.view != list_of_steps(self._window).shown_filters():
            list_of_steps(self._window).show_filters(held.view)
        if held.step is not None:
            self._place.cursor.to_step(held.step)
        self._due = held.list if held.step is not None or held.list.opened else None

    def _scroll_there(self) -> None:
        """When all have heard of the step: the list itself brings it into sight."""
        due, self._due = self._due, None
        if due is not None:
            list_of_steps(self._window).show_place(due)
