"""Words in the server's own log, over the wire: who may ask, what is found, and that nothing waits for a search."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from support.logs import Maker
from support.logs import fill as put
from support.server_process import ServerProcess
from support.wire import RawPeer, account, raw_peer, running_client, serving, until

from core.aio import TaskScope
from core.domain.errors import ProtocolMismatch, Unavailable
from core.protocol.messages import Ack, Close, Command, Failed, Found, Search
from core.protocol.operations import Guide, ImportSession
from core.server import search as search_module
from core.server.serve import Server
from core.store.sqlite import connect, transaction

Work = Callable[[Server, RawPeer], Coroutine[Any, Any, Any]]


def session(seed: int, words: str) -> Maker:
    maker = Maker(seed, f"Session {seed}")
    maker.add_step()
    maker.text = lambda count: f"before {words} after"  # type: ignore[method-assign]
    maker.add_step()
    maker.guide(f"mind the {words}")
    return maker


def asked(folder: Path, work: Work, *scopes: str) -> Any:
    """What work gives on a server with two sessions, for a token with scopes."""

    async def scenario() -> Any:
        async with serving(folder) as server:
            for number, words in enumerate(("珊瑚 reef", "walrus"), 1):
                maker = session(number, words)
                await server.hub.do(f"s{number}", lambda conn, n=number, m=maker: put(conn, f"s{n}", m.bodies, m.blobs))  # type: ignore[misc]
            async with raw_peer(server.url, account(folder, "li", *scopes or ("view",))) as peer:
                return await work(server, peer)

    return asyncio.run(scenario())


async def find(peer: RawPeer, words: str, name: str = "q", **more: Any) -> Found:
    found = await peer.ask(Search(id=name, words=words, **more))
    assert isinstance(found, Found), found
    assert found.id == name
    return found


def test_a_server_says_that_it_can_be_searched_and_finds_what_no_client_holds(tmp_path: Path) -> None:
    async def work(server: Server, peer: RawPeer) -> None:
        assert "search" in peer.welcome.capabilities  # type: ignore[attr-defined]
        found = await find(peer, "珊瑚")
        assert {h.session for h in found.hits} == {"s1"} and not found.more and not found.behind
        assert {h.where for h in found.hits} >= {"thought", "guidance"}
        assert all(h.snippet[a:b] == "珊瑚" for h in found.hits for a, b in h.matches)
        assert {h.step for h in found.hits if h.where == "thought"} == {2}
        await server.hub.do("s2", lambda conn: put(conn, "s3", session(3, "珊瑚 later").bodies, {}))
        assert {h.session for h in (await find(peer, "珊瑚")).hits} == {"s1", "s3"}, "what came since is found"
        assert {h.session for h in (await find(peer, "before", session="s2")).hits} == {"s2"}
        one = await find(peer, "before", limit=1)
        assert len(one.hits) == 1 and one.more
        assert (await find(peer, "efor")).hits, "parts of words, by looking at everything"

    asked(tmp_path, work)


@pytest.mark.parametrize("words", ['"', "' OR 1=1 --", "NEAR(a b)", "text:walrus", "a AND OR NOT", "*", "^x", "{a} : b",
                                   "\0", "\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
                                   'walrus" OR "x', "(" * 5_000, "a " * 50_000, "", "   "])
def test_what_looks_like_syntax_is_only_words(tmp_path: Path, words: str) -> None:
    async def work(server: Server, peer: RawPeer) -> None:
        found = await find(peer, words)
        assert not found.hits or "walrus" not in words or {h.session for h in found.hits} == {"s2"}
        assert (await find(peer, "walrus")).hits, "and the next one is answered"

    asked(tmp_path, work)


@pytest.mark.parametrize("scope", ["guide", "review", "agent:s1"])
def test_who_may_not_read_finds_nothing(tmp_path: Path, scope: str) -> None:
    async def work(server: Server, peer: RawPeer) -> None:
        for asked_for in ("", "s1"):
            found = await peer.ask(Search(id="q7", words="walrus", session=asked_for))
            assert isinstance(found, Failed)
            assert (found.kind, found.code, found.about) == ("Denied", "missing_scope", "q7")

    asked(tmp_path, work, scope)


def test_an_import_that_is_in_no_list_yet_is_not_found(tmp_path: Path) -> None:
    async def work(server: Server, peer: RawPeer) -> None:
        maker = session(4, "walrus in the dark")
        op = ImportSession(origin="atif", events=10_000)
        assert isinstance(await peer.ask(Command(id="m1", cseq=1, session="hidden", op=op)), Ack)
        await server.hub.do("hidden", lambda conn: put(conn, "hidden", maker.bodies, maker.blobs))
        assert {h.session for h in (await find(peer, "walrus")).hits} == {"s2"}
        assert not (await find(peer, "walrus", session="hidden")).hits

    asked(tmp_path, work, "view", "admin")


@pytest.mark.parametrize("bad", [
    Search(id="", words="x"), Search(id="a/b", words="x"), Search(id="q", words="x", session="../x")])
def test_a_search_without_an_identity_ends_the_connection(tmp_path: Path, bad: Search) -> None:
    async def work(server: Server, peer: RawPeer) -> int:
        await peer.say(bad)
        return await peer.closed()

    assert asked(tmp_path, work) == Close.BAD_FRAME


def test_of_many_questions_the_newest_is_answered_and_nothing_else_waits(tmp_path: Path) -> None:
    async def work(server: Server, peer: RawPeer) -> None:
        await find(peer, "walrus")
        for number in range(60):
            await peer.say(Search(id=f"q{number}", words="walrus"))
        await peer.say(Command(id="m1", cseq=1, session="s1", op=Guide(guidance="g9", text="look")))
        answered, commanded = [], 0
        while not answered or answered[-1] != "q59":
            found = await peer.hear()
            if isinstance(found, Ack):
                commanded = len(answered) + 1
            else:
                assert isinstance(found, Found)
                answered.append(found.id)
        assert len(answered) < 20, "one that is overtaken is not answered"
        assert commanded == 1 or commanded <= len(answered), "the command did not wait for the questions"
        assert answered == sorted(answered, key=lambda name: int(name[1:]))

    asked(tmp_path, work, "view", "guide")


def test_a_search_that_hangs_is_ended_and_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(server: Server, peer: RawPeer) -> None:
        await find(peer, "walrus")
        monkeypatch.setattr(search_module, "ANSWER_S", 1.0)
        worker = server.hub.search._worker._process
        assert worker is not None
        os.kill(worker.pid, signal.SIGSTOP)
        await peer.say(Search(id="stuck", words="walrus"))
        reply = await peer.ask(Command(id="m1", cseq=1, session="s1", op=Guide(guidance="g9", text="look")))
        assert isinstance(reply, Ack), "a command goes by"
        found = await peer.hear()
        assert isinstance(found, Failed) and (found.code, found.about) == ("search_too_long", "stuck")
        monkeypatch.setattr(search_module, "ANSWER_S", 15.0)
        assert (await find(peer, "walrus")).hits, "another worker was started"
        worker = server.hub.search._worker._process
        assert worker is not None
        worker.kill()
        await worker.wait()
        assert (await find(peer, "walrus")).hits

    asked(tmp_path, work, "view", "guide")


def test_the_search_ends_with_the_server(tmp_path: Path) -> None:
    async def work(server: Server, peer: RawPeer) -> int:
        await find(peer, "walrus")
        assert server.hub.search._worker._process is not None
        return server.hub.search._worker._process.pid

    pid = asked(tmp_path, work)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_client_asks_and_is_told_when_the_connection_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with contextlib.AsyncExitStack() as stack:
            server = await stack.enter_async_context(serving(tmp_path / "home"))
            maker = session(1, "walrus")
            await server.hub.do("s1", lambda conn: put(conn, "s1", maker.bodies, maker.blobs))
            token = account(tmp_path / "home", "li", "view")
            client = await stack.enter_async_context(running_client(tmp_path / "replica.db", server.url, token))
            with pytest.raises(Unavailable) as away:
                await client.search(Search(id="early", words="walrus"))
            assert away.value.code == "server_away"
            await until(lambda: client.status.state == "online", "connected")
            found = await client.search(Search(id="q1", words="walrus"))
            assert {h.session for h in found.hits} == {"s1"} and not client.replica.head("s1")
            worker = server.hub.search._worker._process
            assert worker is not None
            os.kill(worker.pid, signal.SIGSTOP)
            scope = await stack.enter_async_context(TaskScope("asking"))
            waiting = scope.spawn(client.search(Search(id="q2", words="walrus")), name="search")
            await asyncio.sleep(0)
            with contextlib.closing(connect(tmp_path / "home/server.db")) as conn, transaction(conn):
                conn.execute("UPDATE account SET revoked_at = '2026-01-01' WHERE name = 'li'")
            with pytest.raises(Unavailable) as gone:
                await waiting
            assert gone.value.code == "server_away"

    asyncio.run(scenario())


def test_a_server_that_does_not_know_the_question_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older server takes an unknown message for a broken frame and closes: its Welcome says what it knows."""
    monkeypatch.setattr("core.protocol.messages.CAPABILITIES", ())

    async def scenario() -> None:
        async with (
            serving(tmp_path / "home") as server,
            running_client(tmp_path / "r.db", server.url, account(tmp_path / "home", "li", "view")) as client,
        ):
            await until(lambda: client.status.state == "online", "connected")
            with pytest.raises(ProtocolMismatch) as old:
                await client.search(Search(id="q", words="walrus"))
            assert old.value.code == "server_too_old" and client.status.state == "online"

    asyncio.run(scenario())


def workers(home: Path) -> list[int]:
    """The search workers of a home."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if b"core.server.search_worker" in words and str(home / "server.db").encode() in words:
                    found.append(int(folder.name))
    return found


def test_a_killed_server_leaves_no_worker_behind(tmp_path: Path) -> None:
    async def scenario() -> None:
        with ServerProcess(tmp_path / "lab", s1=session(1, "walrus")) as lab:
            async with raw_peer(lab.url, lab.token) as peer:
                assert (await find(peer, "walrus")).hits
                assert len(workers(tmp_path / "lab")) == 1
                lab.kill()
                await until(lambda: not workers(tmp_path / "lab"), "the worker ends with the server's pipe")

    asyncio.run(scenario())
