"""Folds sessions for a desk: short ones at once, long ones in slices, and keeps the result beside the replica."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import perf_counter, thread_time

from PySide6.QtCore import QObject

from app.desk.session_key import id_of
from app.kit.background import BackgroundWork
from app.kit.timers import single_shot
from core.client.replica import Replica
from core.domain.errors import InvalidInput
from core.domain.folded import can_be_stored
from core.domain.trajectory import Trajectory
from core.store.folds import FoldStore

_log = logging.getLogger("desk")

AT_ONCE = 2_000
"""At most so many events are folded without a pause."""

AT_ONCE_S = 0.012
"""How much of the thread's processor time folding without a pause may take: a slower machine folds fewer at once."""

AT_LEAST = 500
"""So many are folded without a pause on any machine: nearly every session is whole when it is opened."""

SLICE_S = 0.008
"""How long a slice of folding may take; the rest of a frame belongs to the window."""

PAUSE_MS = 2
"""Between two slices."""

ANNOUNCE_S = 0.2
"""While a long session is read, what there is of it is announced so often."""

WORTH_STORING = 5_000
"""After so many new events a fold is stored again."""


class Folder(QObject):
    """Brings trajectories up to what the replica holds. `on_grown(session)` is called when one has grown."""

    def __init__(self, replica: Replica, on_grown: Callable[[str], None], parent: QObject) -> None:
        super().__init__(parent)
        self._replica, self._on_grown = replica, on_grown
        self._store = FoldStore(replica.path)
        self.unreadable: dict[str, str] = {}
        """Of sessions that were opened and hold an event that cannot be read: which, and why. They are folded up to
        there."""
        self._behind: dict[str, Trajectory] = {}
        self._stored: dict[str, int] = {}
        self._announced_at = 0.0
        self._saving = BackgroundWork(self)
        self._timer = single_shot(self, PAUSE_MS, self._slice)

    def open(self, session: str) -> Trajectory:
        """A session's trajectory: whole for a short one, or for one that was read before; else its beginning."""
        self.unreadable.pop(session, None)
        read = self._replica.reader(id_of(session))
        head = self._replica.head(id_of(session))
        made = self._store.load(session, read) if head > AT_ONCE else None
        if made is None or made.seq > head:
            made = Trajectory(session, read)
        self._stored[session] = made.seq
        self.catch_up(made, AT_ONCE if head - made.seq <= AT_ONCE else AT_ONCE // 8)
        return made

    def catch_up(self, trajectory: Trajectory, most: int = AT_ONCE) -> None:
        """Fold what is new, at most so many events now and not for long; what is left comes in slices."""
        upto, until = trajectory.seq + most, thread_time() + AT_ONCE_S
        surely = min(upto, trajectory.seq + AT_LEAST)
        while trajectory.seq < upto and (trajectory.seq < surely or thread_time() < until):
            if not self._fold_some(trajectory, min(100, upto - trajectory.seq)):
                break
        if self.progress(trajectory.session, trajectory) < 1:
            self._behind[trajectory.session] = trajectory
            self._announced_at = perf_counter()
            self._timer.start()

    def progress(self, session: str, trajectory: Trajectory, known: int = 0) -> float:
        """How much of what is held of a session is folded, or of the `known` events that it has: 0 to 1."""
        head = max(self._replica.head(id_of(session)), known)
        return trajectory.seq / head if head and session not in self.unreadable else 1.0

    def is_behind(self, session: str) -> bool:
        """Whether a session is being folded in slices; what comes meanwhile is part of that."""
        return session in self._behind

    def leave(self, session: str) -> None:
        """A trajectory is looked at no more."""
        trajectory = self._behind.pop(session, None)
        self._stored.pop(session, None)
        del trajectory

    def forget(self, session: str) -> None:
        """The log of a session is another one, or gone: nothing that was folded of it stays."""
        self.leave(session)
        self.unreadable.pop(session, None)
        self._saving.start(self._store.remove, session)

    def close(self) -> None:
        """Fold no more: the replica is about to be closed."""
        self._timer.stop()
        self._behind.clear()

    def store(self, trajectory: Trajectory) -> None:
        """Store a fold that has grown much, in a thread."""
        session, stored = trajectory.session, self._stored.get(trajectory.session, 0)
        if trajectory.seq - stored < WORTH_STORING or not can_be_stored(trajectory):
            return
        last = self._replica.reader(id_of(session))([trajectory.seq]).get(trajectory.seq)
        if last is not None:
            self._stored[session] = trajectory.seq
            self._saving.start(self._store.save, session, FoldStore.encode(trajectory, last))

    def _slice(self) -> None:
        session, trajectory = next(iter(self._behind.items()), ("", None))
        if trajectory is None:
            return
        whole = self.progress(session, trajectory) == 1
        if whole or perf_counter() - self._announced_at > ANNOUNCE_S:  # in a turn of its own: panels take time, too
            if whole:
                del self._behind[session]
                self.store(trajectory)
            self._on_grown(session)
            self._announced_at = perf_counter()
        else:
            self._fold_on(trajectory)
        if self._behind:
            self._timer.start()

    def _fold_on(self, trajectory: Trajectory) -> None:
        until = perf_counter() + SLICE_S
        while perf_counter() < until and self._fold_some(trajectory, 64):
            pass

    def _fold_some(self, trajectory: Trajectory, most: int) -> int:
        """Fold the next events; how many there were."""
        if trajectory.session in self.unreadable:
            return 0
        placed = self._replica.read(id_of(trajectory.session), trajectory.seq, most)
        for one in placed:
            try:
                trajectory.apply(one)
            except InvalidInput as error:  # an older program, or a server of another version, took it
                _log.warning("%s", error)
                self.unreadable[trajectory.session] = error.sentence
                break
        return len(placed)
