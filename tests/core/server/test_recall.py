"""What the journals here tell a log that was put back: only of their own sessions, and a session's rest or nothing."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest
from support.logs import Maker

from core.agents.journal import Journal
from core.agents.subagent import SubagentCall
from core.domain.events import Branched, SessionCreated, decode_event, encode_event, make_event
from core.domain.ids import subagent_id
from core.domain.task import Task
from core.domain.verdict import Author
from core.server.recall import recall_entries, recall_sessions
from core.store import log
from core.store.home import Home
from core.store.sqlite import Connection, connect, scalar, transaction
from core.store.writer import Writer

PERSON = Author(kind="person", name="Ada")
CREATED = encode_event(make_event(SessionCreated(task=Task(id="t", title="T", description="d")), PERSON))


def with_step(home: Home, session: str, *, lacking: bool = False) -> None:
    """A session of the log whose one step stands in its journal only; `lacking`: without the step's body."""
    (home.sessions / session).mkdir()
    journal, maker = Journal(home.sessions / session / "journal.db", session), Maker(1)
    fact = maker.add_step(fails=False)
    for data in maker.blobs.values():
        journal.put_blob(data)
    journal.add(fact)
    journal.close()
    if lacking:
        with contextlib.closing(connect(home.sessions / session / "journal.db")) as conn, transaction(conn):
            conn.execute("DELETE FROM blob WHERE hash = ?", (fact.body,))
    with Writer(home.server_db) as writer:
        writer.do_blocking(lambda conn: (log.create(conn, session), log.append(conn, session, [CREATED])))


def recalled(home: Home) -> int:
    async def recall() -> int:
        return await recall_entries(writer, home)

    with Writer(home.server_db) as writer:
        return asyncio.run(recall())


def look(home: Home, session: str) -> tuple[int, int, object]:
    """The log's events of a session, its payloads, and whose journal writes the session."""
    def work(conn: Connection) -> tuple[int, int, object]:
        return (log.head(conn, session), scalar(conn, "SELECT count(*) FROM blob"),
                scalar(conn, "SELECT journal FROM session WHERE id = ?", session))

    with Writer(home.server_db) as writer:
        return writer.do_blocking(work)


def test_a_log_takes_what_its_own_journal_holds_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with_step(home, "s")
    assert recalled(home) == 1
    head, payloads, journal = look(home, "s")
    assert head == 2 and payloads > 1 and journal
    assert recalled(home) == 0


def test_another_journal_under_the_same_name_tells_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with_step(home, "s")
    with Writer(home.server_db) as writer:
        writer.do_blocking(lambda conn: log.lease(conn, "s", "the journal of another computer"))
    assert recalled(home) == 0
    assert look(home, "s")[0] == 1


def test_of_what_cannot_be_taken_in_nothing_stays_and_the_others_come(tmp_path: Path, caplog: pytest.LogCaptureFixture
                                                                      ) -> None:
    home = Home(tmp_path)
    with_step(home, "a", lacking=True)
    before = look(home, "a")
    assert recalled(home) == 0 and look(home, "a") == before
    assert "cannot be taken in" in caplog.text
    with_step(home, "b")
    assert recalled(home) == 1
    assert look(home, "b")[0] == 2 and look(home, "a")[0] == 1


def test_a_subagent_that_had_ended_comes_back_with_its_caller_where_no_runner_would_tell_of_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with_step(home, "s")
    called, gone = subagent_id("s", 1), subagent_id("s", 2)
    journal, maker = Journal(home.sessions / "s/journal.db", "s"), Maker(2)
    call = SubagentCall(session=called, line="subagent-1", caller="s", step=1, title="Look", asked="Look.", command="c",
                        is_sent=True)
    journal.put_slot("subagents", [call, SubagentCall(session=gone, line="subagent-2", caller="s", step=1, title="",
                                                      asked="", command="d", is_sent=True)])
    own = journal.beside(home.sessions / "s/subagents/subagent-1.db", called)
    fact = maker.add_step(fails=False)
    for data in maker.blobs.values():
        own.put_blob(data)
    own.add(fact)
    own.close()
    journal.close()
    with Writer(home.server_db) as writer:
        assert writer.do_blocking(lambda conn: recall_sessions(conn, home)) == [called]
    assert recalled(home) == 2 and look(home, called)[0] == 3
    with contextlib.closing(connect(home.server_db, readonly=True)) as conn:
        first, second, third = (decode_event(placed.body).fact for placed in log.read_all(conn, called))
        assert isinstance(first, SessionCreated) and first.task.description == "Look."
        assert second == Branched(parent="s", step=1, is_call=True) and third == fact
        assert not log.knows(conn, gone), "of which nothing is here"
