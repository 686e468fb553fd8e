"""Which layout is shown, and how the reader left each: a live session opens in Live, a saved one in Read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import QByteArray, QObject, QSettings, QTimer, Signal

from app.desk.workplace import Workplace
from app.window.layouts import LAYOUTS
from core.domain.session import FINAL_STATES, SessionRow

STATE_VERSION = 3
KINDS = {"live": ("live", "read"), "saved": ("read", "live")}
"""The layouts in which a session of each kind is looked at: the usual one first. The others are about many sessions."""


def kind_of(row: SessionRow) -> str:
    """Whether a session goes on, or is over or came from elsewhere."""
    return "live" if row.origin == "live" and row.state not in FINAL_STATES else "saved"


class LayoutMemory(QObject):
    """Chooses the layout by key, by the switch and by the kind of session that is opened.

    The key of the layout that is shown puts everything where it is at first. A session that comes to its end while it
    is looked at moves nothing.
    """

    asked = Signal(str, object)
    """(layout, its state as it was left, or None)"""

    left = Signal(str)
    """A layout is about to be left: its state may be stored with `remember`."""

    def __init__(self, place: Workplace, state: QSettings, parent: QObject) -> None:
        super().__init__(parent)
        self._place, self._state = place, state
        stored = state.value("layout")
        self.current = stored if stored in LAYOUTS else "live"
        self._session = self._kind = ""
        self.is_by_session = False
        """Whether the layout that is being shown was chosen by the kind of the session that was opened."""
        for name in LAYOUTS:
            place.actions[f"view.{name}"].triggered.connect(partial(self._on_key, name))
        place.sight.opened.connect(self._on_opened)
        place.queues.entered.connect(self._on_entered)
        place.desks.rows_changed.connect(self._on_opened)
        self._mark()

    def remember(self, state: QByteArray, by_hand: Mapping[str, bool], *, narrow: bool) -> None:
        """How the layout of now stands; `by_hand`: the panels that were opened or folded by hand; `narrow`: with the
        left side as a rail."""
        self._state.setValue(f"layouts/{self.current}", state)
        self._state.setValue(f"narrow/{self.current}", narrow)
        self._state.setValue(f"by_hand/{self.current}", json.dumps(dict(by_hand)))

    def of(self, name: str) -> QByteArray | None:
        """How a layout was left; None where it never was."""
        held = self._state.value(f"layouts/{name}")
        return held if isinstance(held, QByteArray) else None

    def was_narrow(self, name: str) -> bool:
        """Whether a layout was left with the left side as a rail."""
        return str(self._state.value(f"narrow/{name}")).lower() == "true"

    def by_hand(self, name: str) -> dict[str, bool]:
        """The panels that were opened (True) or folded by hand in a layout."""
        try:
            held = json.loads(str(self._state.value(f"by_hand/{name}", "{}")))
        except ValueError:  # somebody wrote into the file
            return {}
        return {str(key): bool(on) for key, on in held.items()} if isinstance(held, dict) else {}

    def show(self, name: str) -> None:
        """Show a layout as it was left."""
        if name != self.current:
            self._turn_to(name)
            self.asked.emit(name, self.of(name))

    def reset(self, name: str) -> None:
        """Show a layout with everything where it is at first."""
        self._turn_to(name)
        self.asked.emit(name, None)

    def _turn_to(self, name: str) -> None:
        """The shown one is stored at once: a window that is killed comes back in it."""
        if name != self.current:
            self.left.emit(self.current)
        self.current = name
        self._state.setValue("layout", name)
        self._mark()

    def _on_key(self, name: str, *_: object) -> None:
        if name == self.current:
            self.reset(name)
            return
        self.show(name)
        if self._kind and name in KINDS[self._kind]:
            self._state.setValue(f"kinds/{self._kind}", name)

    def _on_opened(self, *_: object) -> None:
        """Another kind of session than before is looked at: its own layout, unless many are looked at together."""
        row = self._place.sight.row
        if row is None or not row.seq:
            return
        another, before = row.session != self._session, self._kind
        self._session, self._kind = row.session, kind_of(row)
        if another and self._kind != before and self.current in ("live", "read"):
            chosen = self._state.value(f"kinds/{self._kind}")
            self.is_by_session = True
            self.show(chosen if chosen in LAYOUTS else KINDS[self._kind][0])
            self.is_by_session = False

    def _on_entered(self) -> None:
        """The reader goes on into a session of a queue: the layout of its kind, unless two or an export are shown."""
        row = self._place.sight.row
        if row is not None and self.current == "queue":
            self._session, self._kind = row.session, kind_of(row)
            chosen = self._state.value(f"kinds/{self._kind}")
            self.show(chosen if chosen in LAYOUTS and chosen != "queue" else KINDS[self._kind][0])
            QTimer.singleShot(0, self, self._place.cursor.focus_list)  # the list is seen from then on

    def _mark(self) -> None:
        for name in LAYOUTS:
            self._place.actions[f"view.{name}"].setChecked(name == self.current)
