"""Review queues over real sockets: who gets a session, exactly once, whatever is cut; and what everybody hears."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.cutter import cutter
from support.queued import done, sessions
from support.wire import account, admin_token, raw_peer, running_client, serving, until

from core.client.client import Client
from core.domain.queue import QueueItem, QueueWork, Reader
from core.protocol.messages import Ack, Command, Nak, Queues, Reading, WatchQueues, WatchSessions
from core.protocol.operations import (
    ChangeQueue,
    DeleteSession,
    FinishInQueue,
    GiveBack,
    GiveVerdict,
    MakeQueue,
    TakeFromQueue,
)
from core.store import log


async def refused(client: Client, session: str, op: object) -> str:
    """The code of an operation that it does not take."""
    reply = await client.answer(await client.send(session, op))  # type: ignore[arg-type]
    assert isinstance(reply, Nak), reply
    return reply.code


def item(client: Client, session: str, queue: str = "q") -> QueueItem:
    """As it is held here; a session without a place while it is not."""
    absent = QueueItem(queue=queue, session=session, wanted=99)
    return next((i for i in client.replica.queue_items() if (i.queue, i.session) == (queue, session)), absent)


def people(client: Client, session: str) -> list[str]:
    return [h.person for h in item(client, session).holders]


def test_many_take_at_once_and_no_session_is_given_to_more_than_were_asked(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            names = [f"s{n:02}" for n in range(12)]
            await sessions(server, *names)
            tokens = {who: account(tmp_path, who, "view", "review") for who in ("li", "kim", "ada", "bo")}
            peers = {}
            async with asyncio.timeout(60):
                for who, token in tokens.items():
                    peer = raw_peer(server.url, token, client=f"client-{who}")
                    peers[who] = (peer, await peer.__aenter__())
            made = await peers["li"][1].ask(Command(id="make", cseq=1, session="q", op=MakeQueue(
                name="All of it", sessions=tuple(names), work=QueueWork(twice=25))), Ack)
            assert made.result == {"sessions": 12}

            async def grab(who: str) -> list[str]:
                got, cseq = [], 1 if who == "li" else 0
                while True:
                    cseq += 1
                    reply = await peers[who][1].ask(
                        Command(id=f"{who}{cseq}", cseq=cseq, session="q", op=TakeFromQueue()))
                    if isinstance(reply, Nak):
                        assert reply.code == "queue_empty"
                        return got
                    got.append(reply.result["taken"])

            taken = dict(zip(tokens, await asyncio.gather(*map(grab, tokens)), strict=True))
            given = [one for mine in taken.values() for one in mine]
            twice = {one for one in names if given.count(one) == 2}
            assert len(given) == 15 and len(twice) == 3 and max(map(given.count, names)) == 2
            assert all(len(set(mine)) == len(mine) for mine in taken.values()), "nobody has one twice"
            for peer, _ in peers.values():
                await peer.__aexit__(None, None, None)

    asyncio.run(scenario())


def test_two_ask_for_the_same_session_and_the_other_is_told_who_has_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await sessions(server, "s")
            li, kim = (account(tmp_path, who, "view", "review") for who in ("li", "kim"))
            async with (running_client(tmp_path / "a.db", server.url, li) as a,
                        running_client(tmp_path / "b.db", server.url, kim) as b):
                await done(a, "q", MakeQueue(name="One", sessions=("s",)))
                first, second = await asyncio.gather(
                    *(_reply(one, TakeFromQueue(taken="s")) for one in (a, b)))
                kinds = {type(first), type(second)}
                assert kinds == {Ack, Nak}
                loser = first if isinstance(first, Nak) else second
                winner = "kim" if loser is first else "li"
                assert loser.code == "queue_taken" and loser.params["people"] == winner
                await until(lambda: all(people_or_none(c) == [winner] for c in (a, b)), "both see who has it")

    asyncio.run(scenario())


def people_or_none(client: Client) -> list[str] | None:
    found = [i for i in client.replica.queue_items() if i.session == "s"]
    return [h.person for h in found[0].holders] if found else None


async def _reply(client: Client, op: object) -> Ack | Nak:
    return await client.answer(await client.send("q", op))  # type: ignore[arg-type]


def test_a_repeated_command_and_one_that_was_cut_off_take_exactly_one_session(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server, cutter(server.url) as proxy:
            await sessions(server, *(f"s{n}" for n in range(40)))
            li = account(tmp_path, "li", "view", "review")
            async with raw_peer(server.url, li) as peer:
                names = tuple(f"s{n}" for n in range(40))
                await peer.ask(Command(id="m", cseq=1, session="q", op=MakeQueue(name="Q", sessions=names)), Ack)
                once = await peer.ask(Command(id="t", cseq=2, session="q", op=TakeFromQueue()), Ack)
            async with raw_peer(server.url, li) as peer:  # the answer was lost with the connection: it is asked again
                again = await peer.ask(Command(id="t", cseq=2, session="q", op=TakeFromQueue()), Ack)
            assert once == again
            proxy.budgets = [900, 2_000, 1_500, 4_000, 1_000, 3_000, 2_500]
            kim = account(tmp_path, "kim", "view", "review")
            async with running_client(tmp_path / "a.db", proxy.url, kim) as client:
                asked = [await client.send("q", TakeFromQueue()) for _ in range(20)]
                got = [(await client.answer(one)) for one in asked]
                assert all(isinstance(one, Ack) for one in got)
                assert len({one.result["taken"] for one in got}) == 20 and proxy.cuts >= 3
                held = [i.session for i in client.replica.queue_items() if i.holder("kim")]
                await until(lambda: len([i for i in client.replica.queue_items() if i.holder("kim")]) == 20, str(held))
                assert len([i for i in client.replica.queue_items() if i.holder("li")]) == 1

    asyncio.run(scenario())


def test_commands_of_a_computer_without_a_network_are_decided_when_it_comes_back(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await sessions(server, "s", "t")
            li, kim = (account(tmp_path, who, "view", "review") for who in ("li", "kim"))
            async with running_client(tmp_path / "a.db", server.url, li) as a:
                await done(a, "q", MakeQueue(name="Q", sessions=("s", "t")))
                await until(lambda: len(a.replica.queue_items()) == 2)
            replica = a.replica.__class__(tmp_path / "a.db")
            waiting = await replica.add("q", TakeFromQueue(taken="s"))
            also = await replica.add("q", TakeFromQueue(taken="t"))
            assert [q.name for q in replica.queues()] == ["Q"], "what was seen is there without a network"
            replica.close()
            async with running_client(tmp_path / "b.db", server.url, kim) as b:
                await done(b, "q", TakeFromQueue(taken="s"))
            async with running_client(tmp_path / "a.db", server.url, li) as a:
                late, free = await a.answer(waiting.id), await a.answer(also.id)
                assert isinstance(late, Nak) and "with kim already" in late.sentence
                assert isinstance(free, Ack) and free.result == {"taken": "t"}
                await until(lambda: people(a, "t") == ["li"] and people(a, "s") == ["kim"])

    asyncio.run(scenario())


def test_who_reads_is_told_and_kept_from_others_until_they_go_away(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await sessions(server, "s")
            li, kim = (account(tmp_path, who, "view", "review") for who in ("li", "kim"))
            async with running_client(tmp_path / "a.db", server.url, li) as a:
                heard: list[tuple[Reader, ...]] = []
                a.on_readers.append(heard.append)
                await done(a, "q", MakeQueue(name="Q", sessions=("s",)))
                async with running_client(tmp_path / "b.db", server.url, kim) as b:
                    b.read("s")  # before it is connected: told with the greeting
                    await until(lambda: bool(heard) and heard[-1] == (Reader("s", "kim"),), "kim is reading")
                    assert await refused(a, "q", TakeFromQueue(taken="s")) == "queue_read"
                    assert await refused(a, "q", TakeFromQueue()) == "queue_empty"
                    await done(b, "q", TakeFromQueue(taken="s"))
                    await done(b, "q", GiveBack(given="s"))
                await until(lambda: heard[-1] == (), "the lock ends with the connection")
                assert await done(a, "q", TakeFromQueue()) == {"taken": "s"}

    asyncio.run(scenario())


def test_done_comes_with_the_last_verdict_and_agreement_is_counted_over_what_both_judged(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await sessions(server, "s", count=4)
            li, kim = (account(tmp_path, who, "view", "review") for who in ("li", "kim"))
            async with (running_client(tmp_path / "a.db", server.url, li) as a,
                        running_client(tmp_path / "b.db", server.url, kim) as b):
                await done(a, "q", MakeQueue(name="Q", sessions=("s",), work=QueueWork(twice=100)))
                for client in (a, b):
                    await done(client, "q", TakeFromQueue(taken="s"))
                for step, value in enumerate(("keep", "mask", "mask", "unsure"), 1):
                    await done(a, "s", GiveVerdict(step=step, value=value))  # type: ignore[arg-type]
                await until(lambda: [h.done for h in item(b, "s").holders] == ["judged", ""], "li is done")
                assert not item(b, "s").is_done
                for step, value in enumerate(("keep", "keep", "mask"), 1):
                    await done(b, "s", GiveVerdict(step=step, value=value))  # type: ignore[arg-type]
                await done(b, "q", FinishInQueue(finished="s"))
                await until(lambda: item(a, "s").is_done)
                said = {(b.first, b.second): b.steps for b in item(a, "s").both}
                assert said == {("keep", "keep"): 1, ("mask", "keep"): 1, ("mask", "mask"): 1}
                await until(lambda: "person:kim" in a.replica.row("s").judged)  # type: ignore[union-attr]
                await done(a, "s", GiveVerdict(step=1, value="none"))
                await until(lambda: [h.done for h in item(b, "s").holders] == ["", "person"], "li took a word back")

    asyncio.run(scenario())


def test_only_the_maker_and_administrators_change_a_queue_or_give_sessions_to_others(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await sessions(server, "s", "t", "u")
            li, kim = (account(tmp_path, who, "view", "review") for who in ("li", "kim"))
            async with (running_client(tmp_path / "a.db", server.url, li) as a,
                        running_client(tmp_path / "b.db", server.url, kim) as b,
                        running_client(tmp_path / "c.db", server.url, admin_token(tmp_path)) as c):
                assert await refused(a, "q", MakeQueue(name="Q", sessions=("no-such",))) == "empty_queue"
                await done(a, "q", MakeQueue(name="Q", sessions=("s", "t", "no-such")))
                assert await refused(b, "q", MakeQueue(name="Mine now", sessions=("s",))) == "queue_exists"
                assert await refused(b, "q", ChangeQueue(closed=True)) == "not_your_queue"
                assert await refused(b, "q", TakeFromQueue(taken="s", person="li")) == "not_your_queue"
                assert await refused(a, "q", TakeFromQueue(taken="s", person="nobody")) == "no_account"
                await done(a, "q", TakeFromQueue(taken="s", person="kim"))
                assert await refused(b, "q", GiveBack(given="t")) == "queue_not_held"
                await done(c, "q", ChangeQueue(add=("u",), remove=("s",), name="Q2", closed=True))
                await until(lambda: b.replica.queues()[:1] != [] and b.replica.queues()[0].name == "Q2")
                await until(lambda: item(b, "s").wanted == 0 and not item(b, "s").holders)
                assert await refused(b, "q", TakeFromQueue()) == "queue_closed"

    asyncio.run(scenario())


def test_a_deleted_session_leaves_its_queues(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await sessions(server, "s", "t")
            async with running_client(tmp_path / "a.db", server.url, admin_token(tmp_path)) as a:
                await done(a, "q", MakeQueue(name="Q", sessions=("s", "t")))
                await done(a, "q", TakeFromQueue(taken="s"))
                await done(a, "s", DeleteSession(head=log.head(server.hub.reader, "s")))
                await until(lambda: item(a, "s").wanted == 0 and item(a, "s").holders == ())

    asyncio.run(scenario())


def test_a_client_that_does_not_ask_hears_nothing_and_one_that_comes_back_only_what_is_new(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await sessions(server, "s", "t")
            li = account(tmp_path, "li", "view", "review")
            async with raw_peer(server.url, li, client="old") as old, raw_peer(server.url, li, client="new") as new:
                await old.say(WatchSessions())
                assert "queues" in new.welcome.capabilities  # type: ignore[attr-defined]
                made = Command(id="m", cseq=1, session="q", op=MakeQueue(name="Q", sessions=("s", "t")))
                await new.say(made)
                await new.ask(WatchQueues(), Ack)
                told = await new.hear(Queues)
                assert isinstance(told, Queues) and len(told.state.items) == 2
                await new.ask(Command(id="n", cseq=2, session="q", op=TakeFromQueue(taken="t")), Ack)
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.6):
                        await old.hear(Queues)
            async with raw_peer(server.url, li, client="new") as back:
                await back.say(WatchQueues(after=told.state.revision))
                fresh = await back.hear(Queues)
                assert isinstance(fresh, Queues) and not fresh.state.queues
                assert [i.session for i in fresh.state.items] == ["t"]
                await back.say(Reading(session="not an id"))
                assert await back.closed() == 4400

    asyncio.run(scenario())
