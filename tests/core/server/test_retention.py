"""Sessions leave the server after the days that are set: never one at work, in review or marked."""

from __future__ import annotations

import asyncio
import logging
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.wire import serving, until

from core.domain.errors import InvalidInput
from core.domain.events import (
    Fact,
    SessionCreated,
    SessionStateChanged,
    TagSet,
    VerdictGiven,
    encode_event,
    make_event,
)
from core.domain.task import AgentSettings, Task
from core.domain.verdict import Author
from core.formats.registry import read
from core.server.lookups import lookups_of
from core.server.retention import Retention, RetentionSettings, due_sessions, read_retention
from core.store import log, tombstones
from core.store.home import Home
from core.store.schema import open_log
from core.store.sqlite import Connection, transaction

NOW = datetime(2026, 6, 1, tzinfo=UTC)
SERVER, WU, RULE = Author(kind="server", name="server"), Author(kind="person", name="wu"), Author(kind="rule", name="r")


def put(conn: Connection, name: str, state: str, days: float, *said: tuple[Fact, Author, float], came: float = 1000.0
        ) -> None:
    """A live session that came to `state` so many days ago, what was said of it, and since when it is here."""
    facts = [(SessionCreated(task=Task(id="t", title=name, description="d"), agent=AgentSettings()), SERVER, days + 1),
             (SessionStateChanged(state=state, reason="x"), SERVER, days), *said]
    log.create(conn, name)
    log.append(conn, name, [encode_event(make_event(f, who, at=NOW - timedelta(days=ago))) for f, who, ago in facts])
    conn.execute("UPDATE session SET came_at = ? WHERE id = ?", ((NOW - timedelta(days=came)).timestamp(), name))


def due(home: Home, settings: RetentionSettings) -> set[str]:
    with closing(open_log(home.server_db)) as conn:
        return {one.session for one in due_sessions(conn, settings, lookups_of(home), NOW.timestamp())}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    mask, tag = VerdictGiven(step=1, value="mask"), TagSet(step=0, tag="retain")
    with closing(open_log(made.server_db)) as conn, transaction(conn):
        put(conn, "old", "finished", 40)
        put(conn, "failed", "failed", 31)
        put(conn, "young", "finished", 29)
        put(conn, "works", "running", 40)
        put(conn, "paused", "paused", 400)
        put(conn, "reviewed", "finished", 40, (mask, WU, 3))
        put(conn, "reviewed-long-ago", "finished", 90, (mask, WU, 35))
        put(conn, "ruled", "finished", 40, (mask, RULE, 3))
        put(conn, "marked", "finished", 90, (tag, WU, 60))
        put(conn, "unmarked", "finished", 90, (tag, WU, 60), (TagSet(step=0, tag="retain", on=False), WU, 50))
        put(conn, "of-today", "finished", 700, came=0.1)
    return made


def test_what_goes_and_what_stays(home: Home) -> None:
    assert due(home, RetentionSettings()) == set(), "off by default"
    usual = {"old", "failed", "reviewed-long-ago", "ruled", "unmarked"}
    assert due(home, RetentionSettings(after_days=30)) == usual
    assert due(home, RetentionSettings(after_days=30, review_days=36)) == usual - {"reviewed-long-ago"}
    assert due(home, RetentionSettings(after_days=30, tags=())) == usual | {"marked"}


def test_a_running_server_archives_and_says_why(home: Home, caplog, monkeypatch) -> None:
    monkeypatch.setattr("time.time", lambda: NOW.timestamp())
    (home.path / "retention.toml").write_text('after_days = 30\naction = "archive"\n')
    caplog.set_level(logging.INFO, "session")
    with closing(open_log(home.server_db)) as conn:
        before = {name: [p.body for p in log.read_all(conn, name)] for name in ("old", "works", "marked", "young")}

    async def run() -> None:
        async with serving(home.path) as server:
            reader = server.hub.reader
            await until(lambda: tombstones.is_deleted(reader, "unmarked") and not tombstones.unfinished(reader))
            assert await Retention(server.hub, home).look() == []
            for name in ("works", "marked", "young"):
                assert [p.body for p in log.read_all(reader, name)] == before[name]
            assert tombstones.of(reader, "old").account == "retention"

    asyncio.run(run())
    archived = next(iter(read(home.archives / "old.tiphys")))
    assert list(archived.bodies) == before["old"]
    said = [r.message for r in caplog.records if "retention: session old" in r.message]
    assert len(said) == 1 and "archived to" in said[0] and "more than 30 days ago" in said[0]


def test_what_cannot_be_archived_stays_and_is_named(home: Home, caplog, monkeypatch) -> None:
    monkeypatch.setattr("time.time", lambda: NOW.timestamp())
    (home.path / "retention.toml").write_text("after_days = 30\n")
    home.archives.mkdir()
    (home.archives / "old.tiphys").write_text("somebody's")

    async def run() -> None:
        async with serving(home.path) as server:
            await until(lambda: tombstones.is_deleted(server.hub.reader, "unmarked"))
            assert log.knows(server.hub.reader, "old")

    asyncio.run(run())
    assert any("session old stays for now" in r.message for r in caplog.records)
    assert (home.archives / "old.tiphys").read_text() == "somebody's"


@pytest.mark.parametrize("text", ["after_days = 0", "after_days = -3", "action = 'burn'", "after = 3", "x",
                                  'folder = "a"'])
def test_settings_that_make_no_sense_take_nothing(home: Home, text: str) -> None:
    (home.path / "retention.toml").write_text(text)
    with pytest.raises(InvalidInput) as refused:
        read_retention(home)
    assert refused.value.code == "bad_retention"


def test_the_command_says_what_would_go_and_does_it_when_it_is_told(home: Home, capsys, monkeypatch) -> None:
    from core.cli import main

    monkeypatch.setattr("sys.excepthook", lambda *_: None)
    monkeypatch.setattr("time.time", lambda: NOW.timestamp())
    monkeypatch.setenv("TIPHYS_HOME", str(home.path))
    (home.path / "retention.toml").write_text('after_days = 30\naction = "delete"\n')
    for words in (["retention"], ["retention", "--dry-run", "--now"]):
        assert main(words) == 0
        assert "old" in capsys.readouterr().out
    with closing(open_log(home.server_db)) as conn:
        assert log.knows(conn, "old")
        conn.execute("UPDATE session SET row = json_set(row, '$.origin', 'atif')")  # no engine is asked for sandboxes
    assert main(["retention", "--now", "--json"]) == 0
    with closing(open_log(home.server_db)) as conn:
        assert not log.knows(conn, "old") and log.knows(conn, "young") and log.knows(conn, "reviewed")


