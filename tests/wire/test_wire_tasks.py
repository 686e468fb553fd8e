"""The tasks that a server offers, over the wire: who may ask, what is said of them, and that they can be started."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from support.wire import account, raw_peer, running_client, serving, until

from core.domain.errors import Denied
from core.protocol.codec import MAX_TEXT_FRAME, encode
from core.protocol.messages import Ack, Command, Failed, ListTasks, Nak, Tasks
from core.protocol.operations import CreateSession
from core.server import questions
from core.server.lookups import Lookups
from core.server.questions import _tasks
from core.tasks.catalogue import Catalogue
from core.tasks.task_check import MAX_HOSTS, TITLE


def task(home: Path, name: str, title: str = "A title", hosts: int = 1) -> None:
    folder = home / "tasks" / name
    folder.mkdir(parents=True)
    text = f"id = {json.dumps(name)}\ntitle = {json.dumps(title)}\ndescription = 'Do it.'\n"
    text += "".join(f'[[hosts]]\nname = "h{n}"\n' for n in range(hosts))
    (folder / "task.toml").write_text(text, encoding="utf-8")


def test_a_server_tells_its_own_tasks_as_they_are_now_and_starts_them(tmp_path: Path) -> None:
    async def scenario() -> None:
        task(tmp_path, "lab-only", "Only the lab has it 只有实验室", hosts=2)
        broken = tmp_path / "tasks/broken"
        broken.mkdir()
        (broken / "task.toml").write_text("id = ")
        async with (
            serving(tmp_path) as server,
            raw_peer(server.url, account(tmp_path, "li", "guide")) as peer,
        ):
            assert "tasks" in peer.welcome.capabilities  # type: ignore[attr-defined]
            answer = await peer.ask(ListTasks(id="q1"))
            assert isinstance(answer, Tasks) and (answer.id, answer.unreadable) == ("q1", 1)
            offered = {t.task: t for t in answer.tasks}
            assert (offered["lab-only"].title, offered["lab-only"].hosts) == (
                "Only the lab has it 只有实验室", ("h0", "h1"))
            task(tmp_path, "later")
            answer = await peer.ask(ListTasks(id="q2"))
            assert isinstance(answer, Tasks) and "later" in {t.task for t in answer.tasks}
            made = await peer.ask(Command(id="m1", cseq=1, session="s", op=CreateSession(task="later")))
            assert isinstance(made, Ack)
            none = await peer.ask(Command(id="m2", cseq=2, session="t", op=CreateSession(task="broken")))
            assert isinstance(none, Nak) and none.code == "no_task"

    asyncio.run(scenario())


@pytest.mark.parametrize("scope", ["view", "review", "agent:s"])
def test_who_may_not_start_a_session_is_told_no_tasks(tmp_path: Path, scope: str) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server, raw_peer(server.url, account(tmp_path, "li", scope)) as peer:
            answer = await peer.ask(ListTasks(id="q1"))
            assert isinstance(answer, Failed) and (answer.code, answer.about) == ("missing_scope", "q1")

    asyncio.run(scenario())


def test_a_client_gets_the_tasks_or_the_reason(tmp_path: Path) -> None:
    async def scenario() -> None:
        task(tmp_path / "home", "lab-only")
        async with serving(tmp_path / "home") as server:
            token = account(tmp_path / "home", "li", "guide")
            async with running_client(tmp_path / "a.db", server.url, token) as client:
                await until(lambda: client.status.state == "online", "connected")
                assert "lab-only" in {t.task for t in (await client.tasks()).tasks}
            token = account(tmp_path / "home", "wang", "view")
            async with running_client(tmp_path / "b.db", server.url, token) as client:
                await until(lambda: client.status.state == "online", "connected")
                with pytest.raises(Denied):
                    await client.tasks()

    asyncio.run(scenario())


def test_a_catalogue_of_any_size_fits_into_a_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "MAX_TASKS", 20)
    for number in range(25):
        task(tmp_path, f"task-{number:02}", "评" * TITLE, hosts=MAX_HOSTS)
        with (tmp_path / f"tasks/task-{number:02}/task.toml").open("a") as file:
            file.write('network = true\n[agent.model]\nkind = "openai"\nname = "m"\nkey_env = "K"\n'
                       f'base_url = "http://h/{"x" * 480}"\n')
    lookups = Lookups(find_task=lambda _: pytest.fail("not asked"), is_alive=lambda _: False,
                      catalogue=Catalogue([tmp_path / "tasks"]))
    listing = _tasks(ListTasks(id="q"), lookups)
    assert {right.kind for right in listing.tasks[0].asks} == {"network", "variable"}
    assert len(listing.tasks) == 20 and not listing.unreadable
    assert len(encode(listing).encode()) * 500 / 20 < MAX_TEXT_FRAME
