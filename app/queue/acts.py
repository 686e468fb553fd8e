"""What can be done with a queue and its sessions: make one, take, give back, hand on, be done, close."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject

from app.desk.session_key import id_of, key_of, server_of
from app.desk.workplace import Workplace
from app.kit.ask import ask_line, yes_or_no
from app.kit.safe_text import one_line
from app.queue.make_dialog import MakeQueueDialog, Wanted
from app.queue.view import QueueTable
from core.domain.ids import new_id
from core.domain.queue import MOST_IN_QUEUE, QueueItem, ReviewQueue
from core.protocol.messages import CAN_QUEUE
from core.protocol.operations import ChangeQueue, FinishInQueue, GiveBack, MakeQueue, TakeFromQueue


class QueueActs(QObject):
    """Acts on the selected sessions of the queue that is listed; what cannot be done is grey."""

    def __init__(self, place: Workplace, view: QueueTable) -> None:
        super().__init__(view)
        self._place, self._queues, self._view = place, place.queues, view
        actions = place.actions
        for key, slot in (("make", self._ask_new), ("add", self._ask_queue), ("take", self._take),
                          ("give_back", self._give_back), ("give_to", self._ask_person), ("done", self._finish),
                          ("remove", self._remove), ("close", self._ask_close),
                          ("next", partial(self._queues.go_next, 1)), ("previous", partial(self._queues.go_next, -1))):
            actions[f"queue.{key}"].triggered.connect(slot)
        for signal in (place.queues.changed, place.queues.shown_changed, place.queues.session_chosen):
            signal.connect(self._enable_acts)
        view.list.selectionModel().selectionChanged.connect(self._enable_acts)
        view.list.model().modelReset.connect(self._enable_acts)
        self._enable_acts()

    # ---- what can be done ------------------------------------------------------------------------

    @property
    def _key(self) -> str:
        return self._queues.shown.queue

    def _chosen(self) -> list[tuple[str, QueueItem]]:
        """The selected sessions of the queue."""
        found = ((session, self._queues.item(self._key, session)) for session in self._view.selected)
        return [(session, item) for session, item in found if item is not None]

    def _is_makers(self, queue: ReviewQueue | None) -> bool:
        desk = self._place.desks.of(self._key)
        scopes = desk.client.status.scopes if desk.client is not None else ()
        return queue is not None and (queue.by == desk.name or "admin" in scopes)

    def _enable_acts(self, *_: object) -> None:
        actions, me = self._place.actions, self._queues.me(self._key)
        queue = self._queues.queue(self._key)
        items = [item for _, item in self._chosen()]
        mine = [h for item in items if (h := item.holder(me)) is not None]
        is_makers = self._is_makers(queue)
        for key, on in (("make", bool(self._view.sessions)), ("add", bool(self._view.selected)),
                        ("take", any(item.free and item.holder(me) is None for item in items)),
                        ("give_back", bool(mine)), ("give_to", is_makers and any(item.free for item in items)),
                        ("done", bool(mine)), ("remove", is_makers and bool(items)), ("close", is_makers)):
            actions[f"queue.{key}"].setEnabled(on)
        actions["queue.done"].setChecked(bool(mine) and all(h.done for h in mine))

    # ---- sessions of the queue -------------------------------------------------------------------

    def _take(self, *_: object) -> None:
        me = self._queues.me(self._key)
        for session, item in self._chosen():
            if item.free and item.holder(me) is None:
                self._queues.send(self._key, TakeFromQueue(taken=id_of(session)))

    def _give_back(self, *_: object) -> None:
        for session, item in self._chosen():
            if item.holder(self._queues.me(self._key)) is not None:
                self._queues.send(self._key, GiveBack(given=id_of(session)))

    def _finish(self, done: bool) -> None:
        for session, item in self._chosen():
            if item.holder(self._queues.me(self._key)) is not None:
                self._queues.send(self._key, FinishInQueue(finished=id_of(session), done=done))

    def _remove(self, *_: object) -> None:
        gone = tuple(id_of(session) for session, _ in self._chosen())
        if gone:
            self._queues.send(self._key, ChangeQueue(remove=gone))

    def _ask_person(self, *_: object) -> None:
        label = self.tr("The account that is to judge the selected sessions:")
        ask_line(self._view.window(), self.tr("Give to somebody"), label, self._give_to)

    def _give_to(self, person: str) -> None:
        for session, item in self._chosen():
            if person.strip() and item.free:
                self._queues.send(self._key, TakeFromQueue(taken=id_of(session), person=person.strip()))

    # ---- queues ----------------------------------------------------------------------------------

    def _sessions(self) -> list[str]:
        """Several selected ones, else all that are listed; of the first one's server alone."""
        chosen = self._view.selected
        several = chosen if len(chosen) > 1 else self._view.sessions
        return [one for one in several if server_of(one) == server_of(several[0])][:MOST_IN_QUEUE]

    def _ask_new(self, *_: object) -> None:
        sessions = self._sessions()
        if not sessions:
            self._place.notices.tell(self.tr("List some sessions first: a queue is made of those."), "info")
            return
        desk = self._place.desks.of(sessions[0])
        if desk.link.state == "online" and CAN_QUEUE not in desk.link.capabilities:
            self._place.notices.tell(self.tr("This server is older and knows no review queues."), "error")
            return
        several = len(self._view.selected) > 1
        query = "" if several else " ".join(part for part in (
            self._queues.shown.query, self._view.words.text().strip()) if part)
        dialog = MakeQueueDialog(len(sessions), one_line(query, 200), self._view.window())
        dialog.chosen.connect(partial(self._make_queue, sessions, query))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _make_queue(self, sessions: list[str], query: str, wanted: Wanted) -> None:
        key = key_of(new_id(), server_of(sessions[0]))
        self._queues.send(key, MakeQueue(name=wanted.name, sessions=tuple(map(id_of, sessions)), work=wanted.work,
                                         filter=query))
        self._queues.await_queue(key, wanted.name)

    def _ask_queue(self, *_: object) -> None:
        """Which queue gets the selected sessions: one of those that the reader may change."""
        sessions = self._view.selected
        server = server_of(sessions[0]) if sessions else ""
        names = {queue.name: key for key, queue in self._queues.all()
                 if server_of(key) == server and key != self._key and self._is_makers(queue)}
        if not names:
            self._place.notices.tell(self.tr("There is no other queue that you may change."), "info")
            return
        ask_line(self._view.window(), self.tr("Put into a queue"), self.tr("Which queue gets the selected sessions:"),
                 partial(self._add_sessions, names, sessions), tuple(names))

    def _add_sessions(self, names: dict[str, str], sessions: list[str], name: str) -> None:
        key = names[name]
        same = tuple(id_of(one) for one in sessions if server_of(one) == server_of(key))
        self._queues.send(key, ChangeQueue(add=same))

    def _ask_close(self, *_: object) -> None:
        self._place.scope.spawn(self._close(self._key), name="close queue")

    async def _close(self, key: str) -> None:
        queue = self._queues.queue(key)
        if queue is None:
            return
        question = self.tr("Close “{name}” for everybody? What was judged stays.").format(name=one_line(queue.name, 80))
        if await yes_or_no(self._view, question, self.tr("Close the queue")):
            self._queues.send(key, ChangeQueue(closed=True))
