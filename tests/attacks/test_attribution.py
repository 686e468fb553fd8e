"""Holders of a token who claim more than it is worth, by a client that knows the protocol's page alone (threat 7)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from pathlib import Path
from typing import Any

import pytest
from support.stranger import Foreigner, foreigner, note
from support.tally import tally
from support.wire import account, admin_token, serving
from websockets.exceptions import InvalidStatus

from core.cli.root import main
from core.server import sweep
from core.server.serve import Server
from core.store import early_opinions, log, unnamed_blobs
from core.store.attribution import sender
from core.store.sqlite import scalar

SEED = 11


async def made(server: Server, home: Path, *names: str) -> None:
    """Sessions with one step that the administrator imported."""
    async with foreigner(server.url, admin_token(home), "maker") as peer:
        for name in names:
            assert (await peer.command(name, op="import_session", origin="atif"))["type"] == "ack"
            leased = await peer.ask(type="lease", session=name, journal="j")
            body = await peer.pay_in(b'{"thought":"t"}')
            head = {"number": 1, "id": "i1", "at": "2026-01-01T00:00:00Z"}
            step = note("step", type="step_added", head=head, body=body)
            told = await peer.ask(type="append", session=name, fence=leased["fence"], first=1, bodies=[step])
            assert told["type"] == "appended", told


def written(server: Server, session: str) -> list[tuple[str, str, str]]:
    """(kind of fact, claimed author, account) of every event of a session."""
    reader = server.hub.reader
    return [(str(e.event.fact.__struct_config__.tag), e.event.author.key, sender(reader, session, e.seq))
            for e in log.read_all(reader, session)]


def test_whose_token_an_event_came_with_is_stored_whatever_it_claims(tmp_path: Path) -> None:
    async def scenario() -> list[tuple[str, str, str]]:
        async with serving(tmp_path) as server:
            await made(server, tmp_path, "s")
            people = [("li", ("view", "review")), ("bot", ("propose",)), ("wu", ("admin",))]
            for name, scopes in people:
                async with foreigner(server.url, account(tmp_path, name, *scopes), name) as peer:
                    author = {"kind": "rule", "name": "blind_edit", "version": "1"} if name != "li" else None
                    reply = await peer.command("s", op="give_verdict", step=1, value="mask", author=author)
                    assert reply["type"] == "ack", reply
            merged = note("m", "person", "somebody else", type="verdict_given", step=1, value="keep")
            async with foreigner(server.url, account(tmp_path, "boss", "admin"), "boss") as peer:
                content = log_body(server)
                reply = await peer.command("s", op="merge_opinions", opinions=[{"event": merged, "content": content}])
                assert reply["result"]["merged"] == 1, reply
            return written(server, "s")[1:]

    told = asyncio.run(scenario())
    assert told == [("verdict_given", "person:li", "li"), ("verdict_given", "rule:blind_edit", "bot"),
                    ("verdict_given", "rule:blind_edit", "wu"), ("verdict_given", "person:somebody else", "boss")]


def log_body(server: Server) -> str:
    """The name of the first step's payload."""
    [first] = log.read(server.hub.reader, "s", 0, 1)
    return str(first.event.fact.body)  # type: ignore[attr-defined]


def test_the_command_line_lists_what_came_with_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                        capsys: pytest.CaptureFixture[str]) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await made(server, tmp_path, "s")
            async with foreigner(server.url, account(tmp_path, "bot", "propose")) as peer:
                await peer.command("s", op="give_verdict", step=1, value="mask",
                                   author={"kind": "judge", "name": "model"})

    asyncio.run(scenario())
    monkeypatch.setenv("TIPHYS_HOME", str(tmp_path))
    assert main(["account", "activity", "bot"]) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith("bot  s  2  ") and line.endswith("verdict_given  as judge:model")
    assert main(["account", "activity", "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


AUTHORS: list[dict[str, Any]] = [
    {"kind": kind, "name": name, "version": version}
    for kind in ("rule", "judge", "person", "agent", "server", "import")
    for name in ("blind_edit", "li", "", "x" * 201, "two\nlines") for version in ("", "1", "v" * 201)]


@pytest.mark.parametrize("scopes", [("view",), ("view", "guide", "review"), ("propose",)])
def test_no_token_speaks_as_what_its_scope_does_not_name(tmp_path: Path, scopes: tuple[str, ...]) -> None:
    """Every kind of author, said by every kind of token."""

    async def scenario() -> list[str]:
        async with serving(tmp_path) as server:
            await made(server, tmp_path, "s")
            async with foreigner(server.url, account(tmp_path, "li", *scopes)) as peer:
                for author in [None, *AUTHORS]:
                    await peer.command("s", op="give_verdict", step=1, value="mask", author=author)
                    await peer.command("s", op="give_verdict", step=1, value="keep", author=author, again=True)
                    await peer.command("s", op="merge_opinions", opinions=[])
            return [author for _, author, _ in written(server, "s")[1:]]

    may = {"person:li"} if "review" in scopes else set()
    may |= {"rule:blind_edit", "rule:li", "judge:blind_edit", "judge:li"} if "propose" in scopes else set()
    told = set(asyncio.run(scenario()))
    tally("authors claimed by tokens without the scope", len(AUTHORS) * 2, sorted(told - may))
    assert told == may, "what the scope names is taken"


def test_what_is_said_has_bounds_at_the_command(tmp_path: Path) -> None:
    big = "x" * 100_000
    tries: list[dict[str, Any]] = [
        {"op": "give_verdict", "step": 1, "value": "mask", "reason": big},
        {"op": "add_note", "step": 1, "text": big}, {"op": "set_tag", "step": 1, "tag": big},
        {"op": "set_tag", "step": 1, "tag": "a\nb"}, {"op": "guide", "guidance": big, "text": "x"},
        {"op": "guide", "guidance": "g", "text": big}, {"op": "change_guidance", "guidance": big, "text": "x"},
        {"op": "tell_time", "seconds": {str(n): 1.0 for n in range(2_000)}},
        *({"op": "merge_opinions", "opinions": [{"event": event}]} for event in (
            note("m", "person", big, type="note_added", step=0, text="x"),
            note("m", "person", "li", type="note_added", step=0, text=big),
            note("m", "person", "li", type="tag_set", step=0, tag=big),
            note("m", "person", "li", type="verdict_given", step=1, value="mask", reason=big),
            note("m", "person", "li", type="verdict_given", step=1, value="mask") | {"at": "9999-01-01T00:00:00Z"})),
    ]

    async def scenario() -> list[str]:
        async with serving(tmp_path) as server:
            await made(server, tmp_path, "s")
            for n, op in enumerate(tries):
                async with foreigner(server.url, admin_token(tmp_path), f"c{n}") as peer:
                    for session in ("s", big):
                        with contextlib.suppress(Exception):  # closing the connection refuses it, too
                            reply = await peer.command(session, **op)
                            assert len(str(reply)) < 2_000, "nor is it sent back"
            return [author for _, author, _ in written(server, "s")[1:]] + [r.session for r in log.rows(
                server.hub.reader) if r.session != "s"]

    tally("texts beyond every bound, said by an administrator", len(tries) * 2, asyncio.run(scenario()))


# ---- what is told again


def test_again_makes_no_session_for_who_may_not_make_one(tmp_path: Path) -> None:
    ops: list[dict[str, Any]] = [
        {"op": "give_verdict", "step": 1, "value": "mask"}, {"op": "add_note", "step": 1, "text": "early"},
        {"op": "set_tag", "step": 1, "tag": "t"}, {"op": "tell_time", "seconds": {"1": 1.0}},
        {"op": "guide", "guidance": "g", "text": "x"}, {"op": "set_thresholds", "thresholds": {"errors": 3}},
        {"op": "control", "control": "stop"}, {"op": "clear_attention", "kind": "loop"},
        {"op": "create_session", "task": "none"}, {"op": "import_session", "origin": "atif"}]

    async def scenario() -> tuple[int, list[tuple[str, str, str]]]:
        async with serving(tmp_path) as server:
            async with foreigner(server.url, account(tmp_path, "li", "view", "review")) as peer:
                for op in ops:
                    await peer.command("s", again=True, **op)
            sessions = scalar(server.hub.reader, "SELECT count(*) FROM session")
            await made(server, tmp_path, "s")
            return sessions, written(server, "s")

    sessions, told = asyncio.run(scenario())
    tally("commands sent again by who may make no session", len(ops), sessions)
    assert [(kind, account) for kind, _, account in told if account == "li"] == [
        ("verdict_given", "li"), ("note_added", "li"), ("tag_set", "li"), ("time_spent", "li")], "nothing is lost"


def test_what_waits_for_a_session_is_bounded_and_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_opinions, "MOST", 5)

    async def scenario() -> tuple[list[str], int]:
        async with serving(tmp_path) as server:
            async with foreigner(server.url, account(tmp_path, "li", "review")) as peer:
                told = [await peer.command(f"s{n}", again=True, op="add_note", step=0, text="x") for n in range(7)]
            monkeypatch.setattr(early_opinions, "WAIT_S", -10.0)
            await sweep.sweep(server.hub)
            return [t.get("code", "") for t in told], scalar(server.hub.reader, "SELECT count(*) FROM early_opinion")

    assert asyncio.run(scenario()) == (["", "", "", "", "", "too_many_early", "too_many_early"], 0)


# ---- payloads that nobody names


def test_payloads_that_no_event_names_have_a_quota_and_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unnamed_blobs, "MOST_BYTES", 1_000_000)
    dice = random.Random(SEED)

    async def flood(peer: Foreigner) -> int:
        with contextlib.suppress(Exception):
            for _ in range(100):
                await peer.pay_in(dice.randbytes(50_000))
        return await peer.close_code()

    async def scenario() -> tuple[list[int], int, int, str]:
        async with serving(tmp_path) as server:
            codes = []
            for _ in range(3):
                async with foreigner(server.url, account_once(tmp_path, "r"), "r") as peer:
                    codes.append(await flood(peer))
            held = scalar(server.hub.reader, "SELECT sum(length(data)) FROM blob")
            await made(server, tmp_path, "s")
            named = log_body(server)
            monkeypatch.setattr(unnamed_blobs, "WAIT_S", -10.0)
            await sweep.sweep(server.hub)
            left = scalar(server.hub.reader, "SELECT count(*) FROM blob")
            async with foreigner(server.url, account_once(tmp_path, "r"), "r") as peer:
                await peer.pay_in(b"new")
                await peer.ask(type="subscribe", session="none")
            return codes, held, left, named

    tokens: dict[str, str] = {}

    def account_once(home: Path, name: str) -> str:
        if name not in tokens:
            tokens[name] = account(home, name, "agent:s")
        return tokens[name]

    codes, held, left, named = asyncio.run(scenario())
    assert codes == [4429] * 3
    tally("bytes of payloads beyond the quota that nobody names", 15_000_000, max(0, held - 1_000_000), f"seed {SEED}")
    assert left == 1 and named, "what an event names stays"


def test_payloads_of_facts_that_this_version_does_not_know_are_named_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> tuple[int, int]:
        async with serving(tmp_path) as server:
            await made(server, tmp_path, "s")
            async with foreigner(server.url, account(tmp_path, "r", "agent:s"), "r") as peer:
                leased = await peer.ask(type="lease", session="s", journal="j2")
                name = await peer.pay_in(b"of the future")
                await peer.pay_in(b"of nobody")
                event = note("f", type="of_the_future", what={"inside": [name]})
                told = await peer.ask(type="append", session="s", fence=leased["fence"], first=1, bodies=[event])
                assert told["type"] == "appended", told
            monkeypatch.setattr(unnamed_blobs, "WAIT_S", -10.0)
            before = scalar(server.hub.reader, "SELECT count(*) FROM blob")
            await sweep.sweep(server.hub)
            return before, scalar(server.hub.reader, "SELECT count(*) FROM blob")

    assert asyncio.run(scenario()) == (3, 2)


# ---- the server's log


def test_who_came_in_and_who_was_refused_is_logged_once_each(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    async def scenario() -> str:
        async with serving(tmp_path) as server:
            token = account(tmp_path, "li", "view")
            for _ in range(30):
                async with foreigner(server.url, token, "c"):
                    pass
                with contextlib.suppress(InvalidStatus):
                    async with foreigner(server.url, "tph_" + "guess" * 8):
                        pass
            return token

    token = asyncio.run(scenario())
    lines = [r.getMessage() for r in caplog.records if r.name == "wire"]
    assert [x for x in lines if "came in" in x] == ["li (view) came in from 127.0.0.1 with 'foreign 1'"]
    assert [x for x in lines if "refused" in x] == ["refused a connection from '127.0.0.1': bad_token"]
    assert not any(token in r.getMessage() or "guessguess" in r.getMessage() for r in caplog.records)


def test_what_a_token_is_not_worth_is_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await made(server, tmp_path, "s")
            async with foreigner(server.url, account(tmp_path, "li", "view")) as peer:
                for _ in range(30):
                    await peer.command("s", op="give_verdict", step=1, value="keep")
                    await peer.ask(type="list_tasks", id="q")

    asyncio.run(scenario())
    lines = sorted(r.getMessage() for r in caplog.records if "refused li" in r.getMessage())
    assert len(lines) == 2 and "GiveVerdict" in lines[0] and "list_tasks" in lines[1], lines


def test_floods_from_many_addresses_fill_no_log(caplog: pytest.LogCaptureFixture) -> None:
    from core.logs import Thinned

    caplog.set_level(logging.INFO)
    thinned = Thinned(logging.getLogger("wire"), every_s=0.2, most=10)
    for n in range(5_000):
        thinned.say(logging.INFO, f"cause {n % 2_000}", "cause %d", n)
    assert len(caplog.records) == 10 and len(thinned._causes) <= 1024
    time.sleep(0.25)
    thinned.say(logging.INFO, f"cause {1_999}", "again")
    assert "more since it was told last" in caplog.records[-1].getMessage()


