"""Names and texts that mean something to SQL, file systems and search; and full disks (threats 10, 12, 13)."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hostile import fuzzed, survives
from support.wire import admin_token, raw_peer, serving

from app.charts.series import Curves, Series, Times, table_of
from core.agents.journal import Journal
from core.client.replica import Replica
from core.domain.errors import ReportableError
from core.domain.events import NoteAdded, TerminalOutput
from core.domain.ids import is_id
from core.protocol.messages import Ack, Command, Nak, Subscribe
from core.protocol.operations import CreateSession
from core.store import accounts, blobs, log, outbox
from core.store.schema import open_log
from core.store.search import SearchIndex
from core.store.sqlite import transaction

WORDS = (
    "'; DROP TABLE event; --",
    '" OR 1=1 --',
    "%",
    "_",
    "\\",
    "\x00",
    "x" * 5000,
    "NEAR(a b)",
    "a AND",
    '"',
    "*",
    "^",
    "a:b",
    "{a}",
    "-a",
    "../../etc/passwd",
    "..",
    ".",
    "/",
    "C:\\x",
    "nul",
    "con.txt",
    "a/b",
    "\ud800",
    "\u202e",
    "＇",
    "$(id)",
    "`id`",
    "%00",
    "~root",
)
TEXTS = st.sampled_from(WORDS) | st.text(max_size=30) | st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("names")
    conn = open_log(folder / "server.db")
    index, replica = SearchIndex(folder / "search.db"), Replica(folder / "replica.db")
    yield conn, index, replica
    conn.close()
    index.close()
    replica.close()


@fuzzed
@given(TEXTS)
def test_no_text_becomes_sql_or_a_search_term(store, text: str) -> None:
    conn, index, replica = store
    before = conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
    with contextlib.suppress(UnicodeEncodeError):  # half a character cannot travel: JSON and UTF-8 stop it before
        for ask in (
            lambda: log.head(conn, text),
            lambda: log.read(conn, text),
            lambda: replica.head(text),
            lambda: replica.draft(text),
            lambda: outbox.draft(conn, text),
            lambda: blobs.holds(conn, text),
            lambda: accounts.principal(conn, text),
            lambda: index.search(text),
            lambda: index.scan(text),
            lambda: index.search("x", session=text),
        ):
            survives(ask)
        with contextlib.suppress(ReportableError), transaction(conn):
            accounts.add_account(conn, text, ["view"])
    assert conn.execute("SELECT count(*) FROM sqlite_master").fetchone() == before


@fuzzed
@given(TEXTS)
def test_an_identity_is_safe_as_a_file_name(text: str) -> None:
    if is_id(text):
        assert (
            text.isascii()
            and text not in (".", "..")
            and not set(text) & set("/\\:*?\"<>|\x00 ~$`'")
            and len(text) <= 100
        )
        assert (Path("/home/sessions") / text).parent == Path("/home/sessions")


def test_no_identity_that_leaves_a_folder_reaches_the_server(tmp_path: Path) -> None:
    names = ["../x", "..", "/etc", "a/b", "", "x" * 101, "a\x00b", "-rf", ".hidden", "a b", "é"]

    async def scenario() -> list[object]:
        async with serving(tmp_path) as server, raw_peer(server.url, admin_token(tmp_path)) as peer:
            told: list[object] = []
            for n, name in enumerate(names, 1):
                told.append(
                    await peer.ask(Command(id=f"m{n}", cseq=n, session=name, op=CreateSession(task="sum-numbers")))
                )
                if not isinstance(told[-1], Ack | Nak):
                    break
            return told

    replies = asyncio.run(scenario())
    assert not [r for r in replies if isinstance(r, Ack)] and replies
    assert [p.name for p in (tmp_path / "sessions").iterdir()] == []


@pytest.mark.parametrize("name", ["../x", "", "a/b", "x" * 200])
def test_a_strange_session_cannot_be_followed(tmp_path: Path, name: str) -> None:
    async def scenario() -> int:
        async with serving(tmp_path) as server, raw_peer(server.url, admin_token(tmp_path)) as peer:
            await peer.say(Subscribe(session=name))
            return await asyncio.wait_for(peer.closed(), 60)

    assert asyncio.run(scenario()) == 4400


def test_a_journal_on_a_full_disk_keeps_what_it_has_and_goes_on_later(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.db", "s")
    journal.add(NoteAdded(step=0, text="before"))
    [(pages,)] = journal.sql("PRAGMA page_count")
    journal.sql(f"PRAGMA max_page_count={pages + 3}")
    kept = 1

    def fill() -> None:
        nonlocal kept
        for _ in range(1000):
            journal.add(NoteAdded(step=0, text="x" * 900))
            kept += 1

    with pytest.raises(Exception, match="full"):
        fill()
    assert journal.head == kept, "what was told to be written is there, and nothing else"
    journal.sql("PRAGMA max_page_count=1000000")
    assert journal.add(NoteAdded(step=0, text="after")) == kept + 1
    assert journal.sql("PRAGMA integrity_check") == [("ok",)]
    journal.close()


def test_a_secret_over_the_border_of_two_pieces_is_not_joined_in_the_log(tmp_path: Path) -> None:
    secret, journal = b"sk-border-crossing-0123456789", Journal(tmp_path / "journal.db", "s")
    journal.hide(secret.decode())
    stream = b"before " + secret + b" after " + secret + b"\n" + b"x" * 6000 + secret[:9]
    offset = 0
    for cut in (12, 20, 40, 41, 52, len(stream), len(stream) + 30):
        piece = (stream + secret[9:])[offset:cut]
        blob = journal.put_blob(piece) if len(piece) > 4096 else ""
        journal.add(
            TerminalOutput(
                host="m", terminal="t", offset=offset, size=len(piece), data=b"" if blob else piece, blob=blob
            )
        )
        offset += len(piece)
    told = b"".join(
        journal.blob(f.blob) if f.blob else f.data for f in journal.facts() if isinstance(f, TerminalOutput)
    )
    assert secret not in told and told.startswith(b"before ") and b" after " in told
    assert len(told) == offset, "places in the stream stay what they are"
    journal.close()


@pytest.mark.parametrize(
    "title",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1", "|x", "\uff1dcmd|' /C calc'!A0", "  -2+3"],
)
def test_a_title_is_no_formula_in_a_table_of_curves(title: str) -> None:
    def told(text: str) -> object:
        curve, times = Series("score", np.array([1]), np.array([2.0])), Times(np.array([1.0]), np.array([0.0]))
        return table_of([Curves("s1", text, (curve,), np.array([1]), times)])[1][1]

    assert told(title) == f"'{title}"
    assert told("plain = text") == "plain = text"
