"""One server's review queues in memory, as its replica holds them. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from core.domain.queue import QueueItem, QueueState, Reader, ReviewQueue

if TYPE_CHECKING:
    from core.client.replica import Replica


class QueueShelf:
    """Read once from the replica, then changed by what comes."""

    def __init__(self, replica: Replica) -> None:
        self._replica = replica
        self._is_read = False
        self._queues: dict[str, ReviewQueue] = {}
        self._items: dict[str, dict[str, QueueItem]] = {}
        self._of_session: dict[str, set[str]] = {}
        self._sorted: dict[str, list[QueueItem]] = {}
        self.readers: dict[str, list[str]] = {}
        """Who has which session open now, as far as the server is there to say."""

    @property
    def queues(self) -> list[ReviewQueue]:
        """The queues, the oldest first."""
        self._read()
        return sorted(self._queues.values(), key=lambda q: (q.at, q.queue))

    @property
    def has_blind(self) -> bool:
        """Whether any queue is blind."""
        self._read()
        return any(queue.work.blind for queue in self._queues.values())

    def queue(self, queue: str) -> ReviewQueue | None:
        """One queue; None where it is not known."""
        self._read()
        return self._queues.get(queue)

    def items(self, queue: str) -> list[QueueItem]:
        """The sessions of a queue in its order, without those that were taken out."""
        self._read()
        if queue not in self._sorted:
            found = self._items.get(queue, {}).values()
            self._sorted[queue] = sorted((i for i in found if i.wanted), key=lambda i: i.place)
        return self._sorted[queue]

    def item(self, queue: str, session: str) -> QueueItem | None:
        """A session of a queue; None where it is not in there."""
        self._read()
        found = self._items.get(queue, {}).get(session)
        return found if found is not None and found.wanted else None

    def of_session(self, session: str) -> list[tuple[ReviewQueue, QueueItem]]:
        """The queues that a session is in, those that are closed too."""
        self._read()
        found = ((self._queues.get(name), self.item(name, session)) for name in self._of_session.get(session, ()))
        return [(queue, item) for queue, item in found if queue is not None and item is not None]

    def take(self, state: QueueState | None) -> None:
        """Queues changed; None: all are to be read again."""
        if state is None:
            self._is_read = False
            self._queues, self._items, self._of_session, self._sorted = {}, {}, {}, {}
        elif self._is_read:
            self._put(state.queues, state.items)

    def take_readers(self, readers: Sequence[Reader]) -> None:
        """Somebody opened a session or left it."""
        self.readers = {}
        for reader in readers:
            self.readers.setdefault(reader.session, []).append(reader.person)

    def _read(self) -> None:
        if not self._is_read:
            self._is_read = True
            self._put(self._replica.queues(), self._replica.queue_items())

    def _put(self, queues: Iterable[ReviewQueue], items: Iterable[QueueItem]) -> None:
        self._queues.update((queue.queue, queue) for queue in queues)
        for item in items:
            self._sorted.pop(item.queue, None)
            self._items.setdefault(item.queue, {})[item.session] = item
            self._of_session.setdefault(item.session, set()).add(item.queue)
