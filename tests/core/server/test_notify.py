"""Notifications: one for each change, to real addresses over real sockets, and never a secret in a log."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from support.logs import AGENT
from support.wire import admin_token, fill, running_client, serving, until

from core.domain.events import (
    AttentionCleared,
    AttentionRaised,
    Fact,
    SessionCreated,
    SessionStateChanged,
    encode_event,
    make_event,
)
from core.domain.session import SessionRow
from core.domain.task import Task
from core.protocol.messages import Nak
from core.protocol.operations import Guide
from core.server.notify import message_of


class _Service(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.server.heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""


@pytest.fixture
def service() -> Iterator[ThreadingHTTPServer]:
    """Something that takes notifications, and notes them."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Service)
    server.heard = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def body(fact: Fact) -> bytes:
    return encode_event(make_event(fact, AGENT))


@pytest.mark.filterwarnings("ignore:'imghdr':DeprecationWarning")  # of Apprise, before Python 3.13
def test_each_change_is_told_once_with_its_link(tmp_path: Path, service: ThreadingHTTPServer,
                                                caplog: pytest.LogCaptureFixture) -> None:
    home = tmp_path / "home"
    home.mkdir()
    port = service.server_address[1]
    (home / "notify.txt").write_text(f"# the lab's\njson://user:hush-hush@127.0.0.1:{port}\n\nnonsense://hush-hush\n")
    heard = service.heard  # type: ignore[attr-defined]

    async def scenario() -> None:
        async with serving(home) as server:
            task = Task(id="t", title="Repro\n<b>bold</b>", description="d")
            await fill(server, "s", [body(SessionCreated(task=task)), body(AttentionRaised(kind="loop", step=0))])
            await until(lambda: len(heard) == 1, seconds=30)
            await fill(server, "s", [body(AttentionRaised(kind="loop", step=0))])
            await fill(server, "s", [body(AttentionCleared(kind="loop"))])
            await fill(server, "s", [body(SessionStateChanged(state="running")),
                                     body(SessionStateChanged(state="failed", reason="runner_died"))])
            await until(lambda: len(heard) == 2, seconds=30)
        async with serving(home) as server:
            await fill(server, "s", [body(AttentionRaised(kind="finished", step=0))])
            await until(lambda: len(heard) == 3, seconds=30)
            await fill(server, "i", [body(SessionCreated(task=task, origin="atif")),
                                     body(AttentionRaised(kind="loop", step=0))])
            await fill(server, "s", [body(AttentionRaised(kind="stall", step=0))])
            await until(lambda: len(heard) == 4, seconds=30)

    with caplog.at_level(logging.DEBUG):
        asyncio.run(scenario())
    assert [note["title"] for note in heard] == ["Tiphys: Repro <b>bold</b>"] * 4
    words = "repeat", "failed", "ended", "moves"
    assert all(word in note["message"] for word, note in zip(words, heard, strict=True))
    assert "failed" not in heard[2]["message"], "what was so when the server started is told no more"
    assert not any("session/i" in note["message"] for note in heard), "nobody waits for an imported one"
    assert "tiphys://session/s" in heard[0]["message"]
    assert set(re.findall(r"line \d of", caplog.text)) == {"line 4 of"}
    assert "hush-hush" not in "".join(r.getMessage() for r in caplog.records)


def test_a_session_without_a_title_is_named_by_its_task_and_a_long_one_is_cut() -> None:
    assert message_of(SessionRow(session="s", task="sum"), ["stall"])[0] == "Tiphys: sum"
    assert len(message_of(SessionRow(session="s", title="x" * 5000), ["stall"])[0]) < 250


def test_a_command_about_no_session_disturbs_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever is told of a commit would else keep those after it from being told."""
    async def scenario() -> None:
        async with (
            serving(tmp_path / "home") as server,
            running_client(tmp_path / "c.db", server.url, admin_token(tmp_path / "home")) as client,
        ):
            changed: list[str] = []
            server.hub.on_changed.append(changed.append)
            reply = await client.answer(await client.send("none", Guide(guidance="g", text="x")))
            assert isinstance(reply, Nak)
            await until(lambda: changed == ["none"])

    asyncio.run(scenario())
    assert not [r for r in caplog.records if r.levelno >= logging.ERROR]
