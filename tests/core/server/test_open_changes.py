"""Changes of guidance that were asked for and not decided when the runner ended: the server decides them, once."""

from __future__ import annotations

from pathlib import Path

from support.wire import raw

from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.agents.states import enter
from core.domain.events import (
    Fact,
    GuidanceChangeAsked,
    GuidanceChangeRefused,
    GuidanceDelivered,
    GuidanceEdited,
    GuidanceQueued,
    GuidanceWithdrawn,
    SessionCreated,
    SessionStateChanged,
    encode_event,
    make_event,
)
from core.domain.task import Task
from core.domain.verdict import Author
from core.protocol.messages import Append
from core.server.append import append_entries
from core.store import log
from core.store.schema import open_log
from core.store.sqlite import transaction

AGENT, PERSON = Author(kind="agent", name="s"), Author(kind="person", name="Ada")
ASKED = (
    SessionCreated(task=Task(id="t", title="T", description="d")),
    *(GuidanceQueued(guidance=g, text=g) for g in "abc"),
    GuidanceChangeAsked(guidance="a", request="r1"),
    GuidanceChangeAsked(guidance="b", request="r2", text="B"),
    GuidanceChangeAsked(guidance="c", request="r3"),
    GuidanceChangeAsked(guidance="b", request="r4"),
    GuidanceChangeAsked(guidance="b", request="r5", text="too late"),
)


def body(fact: Fact, author: Author) -> bytes:
    return encode_event(make_event(fact, author))


def test_the_end_of_a_runner_leaves_no_change_undecided(tmp_path: Path) -> None:
    conn = open_log(tmp_path / "server.db")
    ending = [GuidanceDelivered(guidance="c", step=2), SessionStateChanged(state="finished")]
    with transaction(conn):
        log.create(conn, "s")
        log.append(conn, "s", [body(f, PERSON) for f in ASKED])
        fence, _ = log.lease(conn, "s", "j")
        last = Append(session="s", fence=fence, first=1, bodies=raw([body(f, AGENT) for f in ending]))
        for _ in range(2):  # a repeat decides nothing
            append_entries(conn, last, by_agent=True)
    decided = [p.event for p in log.read_all(conn, "s")][len(ASKED) + len(ending) :]
    conn.close()
    assert {e.author.kind for e in decided} == {"server"}
    assert [e.fact for e in decided] == [
        GuidanceWithdrawn(guidance="a", request="r1"),
        GuidanceEdited(guidance="b", text="B", request="r2"),
        GuidanceChangeRefused(guidance="c", request="r3", step=2),
        GuidanceWithdrawn(guidance="b", request="r4"),
        GuidanceChangeRefused(guidance="b", request="r5", step=None),
    ]


def test_a_runner_that_has_ended_decides_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.db", "s")
    inbox = Inbox(journal)
    enter(journal, "finished")
    before = journal.head
    inbox.take(1, [body(f, PERSON) for f in ASKED])
    assert journal.head == before
    resumed = body(SessionStateChanged(state="queued"), PERSON)
    inbox.take(len(ASKED) + 1, [resumed, body(GuidanceChangeAsked(guidance="a", request="r6"), PERSON)])
    assert journal.facts()[-1] == GuidanceWithdrawn(guidance="a", request="r6"), "one that goes on does"
    journal.close()
