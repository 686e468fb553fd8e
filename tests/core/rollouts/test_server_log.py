"""Roll-outs beside a running server: seen as they are played, advised, stopped; what is left behind has failed."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.recipes import textcraft  # noqa: F401 - a fixture
from support.wire import admin_token, running_client, serving, until

from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.agents.spool import Spool
from core.aio import TaskScope
from core.domain.errors import Denied
from core.domain.events import SessionCreated
from core.domain.message import Message
from core.domain.session import SessionRow
from core.domain.task import Limits, Task
from core.environments.registry import environment_task
from core.llm.model import Completion, Request, estimate_tokens
from core.protocol.messages import Failed
from core.protocol.operations import Control, Guide
from core.rollouts import server_log
from core.rollouts.roll_out import ROLLOUT_AGENT, roll_out
from core.rollouts.rollout import Rollout
from core.rollouts.server_log import ServerLog
from core.server import runners
from core.server.authority import Authority
from core.store import log
from core.store.endpoint import address_now
from core.store.home import Home
from core.store.schema import open_log

pytestmark = pytest.mark.usefixtures("textcraft")


class Watched:
    """Waits at step 2 of each session until it may go on; remembers what it was asked."""

    name = "watched"

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.waiting = 0
        self.may_go = asyncio.Event()

    def __call__(self, task: Task) -> Watched:
        return self

    async def complete(self, request: Request, on_text: object = None) -> Completion:
        self.requests.append(request)
        if request.step == 2:
            self.waiting += 1
            await self.may_go.wait()
        now = datetime.now(UTC)
        return Completion(message=Message(role="assistant", content="Action: inventory"), started_at=now, ended_at=now)

    def count(self, message: Message) -> tuple[int, bool]:
        return estimate_tokens(message)

    async def close(self) -> None:
        """Nothing is held."""


def rows_of(folder: Path) -> dict[str, SessionRow]:
    with closing(open_log(Home(folder).server_db)) as conn:
        return {row.session: row for row in log.rows(conn)}


def test_people_see_advise_and_stop_what_is_played(tmp_path):
    async def scenario() -> tuple[list[Rollout], Watched, str, str]:
        model = Watched()
        async with (serving(tmp_path, supervise=True) as server, TaskScope("test") as scope,
                    ServerLog(server.url, admin_token(tmp_path)) as place):
            tasks = [environment_task("textcraft", item=0)]
            playing = scope.spawn(roll_out(model, tasks, log=place, group_size=3, limits=Limits(steps=4)), name="r")
            await until(lambda: model.waiting == 3 and all(r.steps == 1 for r in rows_of(tmp_path).values()))
            seen = rows_of(tmp_path)
            assert len(seen) == 3 and {r.state for r in seen.values()} == {"running"}
            assert len({r.group for r in seen.values()}) == 1 and all(r.is_rolled_out for r in seen.values())
            advised, stopped, _ = seen
            async with Authority(Home(tmp_path)) as authority:
                await authority.do(advised, Guide(guidance="g1", text="Fetch oak logs first."))
                await authority.do(stopped, Control(control="stop"))
            async with running_client(tmp_path / "desk", server.url, admin_token(tmp_path), advised):
                model.may_go.set()
                made = await playing
            assert not list((Home(tmp_path).sessions).iterdir()), "no runner was started"
        return made, model, advised, stopped

    made, model, advised, stopped = asyncio.run(scenario())
    by_name = {one.session: one for one in made}
    assert by_name[stopped].state == "stopped" and not by_name[stopped].is_whole
    assert by_name[advised].reason == "limit_steps" and by_name[advised].steps == 4
    assert any("Fetch oak logs first." in m.content for r in model.requests if r.step >= 3 for m in r.messages)
    assert {name: (row.state, row.steps) for name, row in rows_of(tmp_path).items()} == {
        one.session: (one.state, one.steps) for one in made}


def test_a_session_that_a_roll_out_left_behind_has_failed(tmp_path, monkeypatch):
    monkeypatch.setattr(runners, "ROLL_OUT_S", 0.2)

    async def scenario() -> None:
        async with serving(tmp_path, supervise=True) as server:
            async with ServerLog(server.url, admin_token(tmp_path)) as place:
                created = SessionCreated(task=environment_task("textcraft"), agent=ROLLOUT_AGENT, group="g")
                async with place.session("left", created):
                    await asyncio.sleep(0)
                assert rows_of(tmp_path)["left"].state == "queued"
            await until(lambda: rows_of(tmp_path)["left"].state == "failed")
            assert rows_of(tmp_path)["left"].reason == "runner_died"

    asyncio.run(scenario())


def test_a_roll_out_finds_a_server_that_came_back_at_another_port(tmp_path):
    """A private server has a free port, which anybody may have taken while it was away."""
    async def scenario() -> list[Rollout]:
        model, home = Watched(), Home(tmp_path)
        async with TaskScope("test") as scope:
            async with serving(tmp_path) as server:
                before = server.url
                place = ServerLog(before, admin_token(tmp_path), partial(address_now, home, before))
                await place.__aenter__()
                tasks = [environment_task("textcraft")]
                playing = scope.spawn(roll_out(model, tasks, log=place, limits=Limits(steps=4)), name="r")
                await until(lambda: model.waiting == 1)
            port = urlsplit(before).port
            with socket.create_server(("127.0.0.1", port)):
                async with serving(tmp_path) as again:
                    assert urlsplit(again.url).port != port
                    model.may_go.set()
                    made = await playing
                    await place.__aexit__(None, None, None)
        return made

    made = asyncio.run(scenario())
    assert [(one.reason, one.steps) for one in made] == [("limit_steps", 4)]
    assert rows_of(tmp_path)[made[0].session].steps == 4


def test_a_busy_server_is_waited_for_and_a_silent_one_is_not(monkeypatch):
    monkeypatch.setattr(server_log, "PATIENCE_S", 0.05)

    async def flushed_in_turns(place: ServerLog, turns: int, speaks: bool) -> bool:
        left = iter(range(turns))

        async def done(seconds: float) -> bool:
            await asyncio.sleep(seconds)
            if speaks:
                await place.on_message(Failed(kind="conflict", code="x", sentence="of another", about="other"))
            return next(left, None) is None

        spool = Spool(journal := Journal(None, "s"), Inbox(journal), "", "", lambda _: None)
        return await place._patiently(spool, done)

    async def scenario() -> None:
        place = ServerLog("http://127.0.0.1:9", "t")
        assert await flushed_in_turns(place, 4, speaks=True)
        assert not await flushed_in_turns(place, 4, speaks=False)

    asyncio.run(scenario())


def test_a_policy_answers_only_in_a_roll_out_and_another_s_token_is_refused(tmp_path):
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            from core.domain.errors import InvalidInput
            from core.protocol.operations import CreateSession

            async with Authority(Home(tmp_path)) as authority:
                with pytest.raises(InvalidInput, match="only a roll-out has"):
                    await authority.do("s", CreateSession(task=environment_task("textcraft"), agent=ROLLOUT_AGENT))
            with pytest.raises(Denied):
                async with ServerLog(server.url, "nobody's"):
                    raise AssertionError("connected")

    asyncio.run(scenario())
