"""The hub tells of a change after its commit, never before: who is told too early reads the old log and sleeps on."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing
from pathlib import Path

from support.eventually import eventually

from core.aio import TaskScope
from core.domain.events import NoteAdded, encode_event, make_event
from core.domain.verdict import Author
from core.server.hub import Hub
from core.store import log
from core.store.accounts import Principal
from core.store.sqlite import Connection, connect
from core.store.writer import Writer

NOTE = encode_event(make_event(NoteAdded(step=0, text="note"), Author(kind="person", name="li")))


class Follower:
    """A peer that looks at the log whenever it is told of a change."""

    def __init__(self, hub: Hub) -> None:
        self.principal, self.token, self.leases = Principal(name="li", scopes=("view",)), "", dict[str, int]()
        self.heads: dict[str, int] = {}
        self._hub = hub

    def changed(self, session: str) -> None:
        self.heads[session] = self._hub.frames.head(session)

    def show(self, live: object) -> None:
        """Nothing to show."""

    def drop(self, code: int, reason: str) -> None:
        """Nothing to close."""


def test_a_change_is_told_after_its_own_commit_not_after_the_one_before(tmp_path: Path) -> None:
    asyncio.run(_two_commits_in_a_row(tmp_path / "server.db"))


async def _two_commits_in_a_row(path: Path) -> None:
    entered, queued, touched, go = (threading.Event() for _ in range(4))

    def first(conn: Connection) -> int:
        entered.set()
        queued.wait(60)
        return log.append(conn, "a", [NOTE])

    def hold_the_second_commit(_: Connection) -> None:
        touched.set()
        go.wait(60)

    with Writer(path) as writer, closing(connect(path, readonly=True)) as reader:
        await writer.do(lambda conn: [log.create(conn, one) for one in ("a", "b")])
        hub = Hub(writer, reader)
        follower = Follower(hub)
        hub.join(follower)
        async with TaskScope("test") as scope:
            one = scope.spawn(hub.do("a", first), name="first")
            await eventually(entered.is_set)
            two = scope.spawn(hub.do("b", lambda conn: log.append(conn, "b", [NOTE])), name="second")
            scope.spawn(hub.store(hold_the_second_commit), name="hold")
            await asyncio.sleep(0)
            queued.set()
            assert touched.wait(60)  # the loop stands still: the first commit is published while the second is open
            await one
            go.set()
            await two
            await eventually(lambda: follower.heads == {"a": 1, "b": 1})
