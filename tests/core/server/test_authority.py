"""One way in for the command line, with and without a running server: the same handlers, the same result."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.wire import bodies_of, log_of, serving

from core.domain.blob import blob_hash
from core.domain.errors import Conflict, Denied, NotFound, ReportableError, Unavailable
from core.domain.events import SessionCreated, StepAdded, encode_event, make_event
from core.domain.step import StepHead
from core.domain.task import Task
from core.domain.verdict import Author
from core.protocol.operations import AddNote, CreateSession, Guide, ImportSession
from core.server.authority import Authority
from core.server.ownership import hold
from core.store import accounts, blobs
from core.store.home import Home
from core.store.sqlite import connect

TASK = Task(id="t", title="T", description="d")
IMPORT = Author(kind="import", name="atif")
DATA = b"a whole step" * 5000


def imported() -> list[bytes]:
    facts = [SessionCreated(task=TASK, origin="atif"), StepAdded(head=StepHead(number=1), body=blob_hash(DATA))]
    return [encode_event(make_event(f, IMPORT)) for f in facts] + bodies_of(600)


@pytest.fixture(params=["alone", "beside a server"])
def way(request: pytest.FixtureRequest, tmp_path: Path) -> object:
    """Both ways to open an authority."""

    @contextlib.asynccontextmanager
    async def opened() -> AsyncIterator[Authority]:
        if request.param == "alone":
            async with Authority(Home(tmp_path)) as authority:
                yield authority
        else:
            async with serving(tmp_path), Authority(Home(tmp_path)) as authority:
                yield authority

    return opened


def test_operations_are_carried_out_and_refused_alike(way: object, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with way() as authority:  # type: ignore[operator]
            assert await authority.do("s", CreateSession(task=TASK)) == {"seq": 1}
            assert await authority.do("s", Guide(guidance="g", text="x")) == {"seq": 2}
            with pytest.raises(Conflict) as refused:
                await authority.do("s", Guide(guidance="g", text="x"))
            assert refused.value.code == "guidance_exists"
            with pytest.raises(NotFound):
                await authority.do("none", AddNote(step=0, text="x"))

    asyncio.run(scenario())
    assert len(log_of(tmp_path / "server.db", "s")) == 2


def test_an_import_may_be_repeated(way: object, tmp_path: Path) -> None:
    bodies = imported()

    async def scenario() -> None:
        async with way() as authority:  # type: ignore[operator]
            await authority.do("i", ImportSession(origin="atif"))
            for _ in range(2):
                assert await authority.append("i", "i", bodies, {blob_hash(DATA): DATA}) == len(bodies)

    asyncio.run(scenario())
    assert log_of(tmp_path / "server.db", "i") == bodies
    with contextlib.closing(connect(tmp_path / "server.db", readonly=True)) as conn:
        assert blobs.get(conn, blob_hash(DATA)) == DATA


def test_a_payload_that_is_neither_given_nor_held_is_told(way: object) -> None:
    async def scenario() -> None:
        async with way() as authority:  # type: ignore[operator]
            await authority.do("i", ImportSession(origin="atif"))
            with pytest.raises(ReportableError) as refused:
                await authority.append("i", "i", imported(), {})
            assert refused.value.code == "missing_payload"

    asyncio.run(scenario())


def test_accounts_are_made_and_revoked_beside_a_server(way: object, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with way() as authority:  # type: ignore[operator]
            token = await authority.accounts(lambda conn: accounts.add_account(conn, "li", ["view"]))
            with contextlib.closing(connect(tmp_path / "server.db", readonly=True)) as conn:
                assert accounts.principal(conn, token).name == "li"
                await authority.accounts(lambda conn: accounts.revoke(conn, "li"))
                with pytest.raises(Denied):
                    accounts.principal(conn, token)

    asyncio.run(scenario())


def test_a_home_that_another_command_writes_for_long_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                                     ) -> None:
    async def scenario() -> None:
        async with Authority(Home(tmp_path)):
            raise AssertionError("opened")

    monkeypatch.setattr("core.server.authority.PATIENCE_S", 0.1)
    lock = hold(Home(tmp_path))
    try:
        with pytest.raises(Unavailable, match=rf"process {os.getpid()}\) writes the log"):
            asyncio.run(scenario())
    finally:
        lock.release()


def test_a_server_that_does_not_answer_in_time_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        async with serving(tmp_path), Authority(Home(tmp_path)) as authority:
            monkeypatch.setattr("core.server.running_server.PATIENCE_S", 0.02)
            with contextlib.closing(connect(Home(tmp_path).server_db)) as other:
                other.execute("BEGIN IMMEDIATE")
                with pytest.raises(Unavailable) as raised:
                    await authority.do("s", CreateSession(task=TASK))
                other.execute("ROLLBACK")
            assert raised.value.code == "no_answer"

    asyncio.run(scenario())
