"""AgentGym's dialects over real HTTP, from recorded replies; and servers that mean ill."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from core.domain.errors import InvalidInput, Unavailable
from core.domain.host_rights import HostRight, rights_of
from core.domain.message import ToolCall
from core.domain.task import AgentSettings, EnvironmentSettings
from core.environments import bounded_http
from core.environments.registry import environment_task, open_environment

Answer = Callable[[BaseHTTPRequestHandler], None]


class AgentGymServer(ThreadingHTTPServer):
    """Gives a recorded reply for each path, and holds what was asked."""

    daemon_threads = True

    def __init__(self, replies: dict[str, object]) -> None:
        self.replies, self.asked = replies, list[tuple[str, dict[str, object]]]()
        self.left = threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: AgentGymServer

    def do_POST(self) -> None:
        fields = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, fields))
        reply = self.server.replies[self.path]
        if callable(reply):
            reply(self)
            return
        data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def serving(replies: dict[str, object]) -> Iterator[AgentGymServer]:
    server = AgentGymServer(replies)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


TEXTCRAFT = {"/create": {"id": 4, "observation": "…", "done": False, "reward": 0},
             "/reset": {"id": 4, "observation": "Goal: craft planks.", "done": False, "reward": 0},
             "/step": {"observation": "Crafted 4 minecraft:planks", "reward": 1, "done": True}, "/close": True}
WEBSHOP = {"/create": 7, "/reset": ["Instruction: find a lamp [SEP] Search", None],
           "/step": {"state": "Thank you", "reward": 0.5, "done": True, "info": None}, "/close": True}
TOOLS = {"/create": 2, "/reset": "Goal: What is the weather?",
         "/step": {"observation": "Sunny", "reward": 1.0, "done": True}, "/close": True}


async def play(url: str, field: str = "data_idx") -> tuple[list[str], float | None]:
    task = environment_task("agentgym", item=3, url=url, item_field=field)
    place = open_environment(task.environment)
    try:
        first = await place.reset(task, 0)
        answer = await place.act(place.read(ToolCall(id="c", name="act", arguments='{"command": "go"}')), 1)
        words = answer.error.message if answer.error else answer.output.text
        return [first.output.text, words], (await place.score())[0].total
    finally:
        await place.close()


@pytest.mark.parametrize(("replies", "field", "key", "number", "seen", "score"), [
    (TEXTCRAFT, "data_idx", "id", 4, ["Goal: craft planks.", "Crafted 4 minecraft:planks"], 100.0),
    (WEBSHOP, "session_id", "env_idx", 7, ["Instruction: find a lamp [SEP] Search", "Thank you"], 50.0),
    (TOOLS, "id", "env_idx", 2, ["Goal: What is the weather?", "Sunny"], 100.0)])
def test_each_dialect_is_played_and_its_game_is_given_back(replies, field, key, number, seen, score):
    with serving(replies) as server:
        assert asyncio.run(play(server.url, field)) == (seen, score)
        assert [path for path, _ in server.asked] == ["/create", "/reset", "/step", "/close"]
        assert server.asked[1][1] == {field: 3, key: number} and server.asked[3][1] == {key: number}
        assert server.asked[0][1] == ({"id": 3} if field == "id" else {})


def test_a_text_of_megabytes_is_cut_and_says_so():
    long = "x" * 3_000_000

    async def first(url: str) -> object:
        task = environment_task("agentgym", url=url)
        place = open_environment(task.environment)
        try:
            return (await place.reset(task, 0)).output
        finally:
            await place.close()

    with serving({**TEXTCRAFT, "/reset": {"observation": long}}) as server:
        output = asyncio.run(first(server.url))
    assert (len(output.text), output.truncated, output.total_chars) == (200_000, True, 3_000_000)


def test_an_error_in_a_whole_answer_is_the_agents_mistake_and_one_at_the_beginning_the_tasks():
    with serving({**TEXTCRAFT, "/step": {"error": "no such item"}}) as server:
        assert asyncio.run(play(server.url)) == (["Goal: craft planks.", "no such item"], 0.0)
    with serving({**TEXTCRAFT, "/reset": {"error": "list index out of range"}}) as server:
        with pytest.raises(InvalidInput, match="out of range"):
            asyncio.run(play(server.url))
        assert server.asked[-1][0] == "/close"


def _endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b" " * 65536)
    except OSError:
        return


def _redirect(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(307)
    handler.send_header("Location", "http://127.0.0.1:1/elsewhere")
    handler.end_headers()


def _slow(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    try:
        for _ in range(200):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            threading.Event().wait(0.02)
    except OSError:
        return


def _slow_head(handler: BaseHTTPRequestHandler) -> None:
    """A header that lasts for 20 s, unless whoever asked has gone."""
    try:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        for _ in range(1_000):
            handler.wfile.write(b"a")
            handler.wfile.flush()
            threading.Event().wait(0.02)
    except OSError:
        handler.server.left.set()


def test_no_thread_stays_with_a_server_whose_answer_never_begins(monkeypatch):
    monkeypatch.setattr(bounded_http, "TIMEOUT_S", 0.3)
    with serving({"/create": _slow_head}) as server:
        with pytest.raises(Unavailable, match=r"within 0\.3 s"):
            asyncio.run(bounded_http.post(f"{server.url}/create", {}))
        assert server.left.wait(60)


@pytest.mark.parametrize("path", ["/create", "/reset", "/step"])
@pytest.mark.parametrize("reply", [
    _endless, _redirect, _slow, _slow_head, b"no json", b"[" * 200_000, [], {"id": -1}, {"id": "../x"}, {"id": True},
    None,
    {"observation": 5, "reward": 0, "done": False}, {"observation": "x", "reward": "1", "done": False},
    {"observation": "x", "reward": True, "done": False}, {"observation": "x", "reward": 1, "done": "yes"},
    b'{"observation": "x", "reward": 1e999, "done": false}',
    {"observation": "x", "reward": 1e10, "done": False}, {"observation": "x", "reward": 10**400, "done": False}])
def test_a_hostile_server_ends_the_game_with_a_sentence_and_nothing_else(monkeypatch, reply, path):
    monkeypatch.setattr(bounded_http, "TIMEOUT_S", 0.3)
    monkeypatch.setattr(bounded_http, "LONGEST", 1 << 20)
    is_fine = path == "/reset" and isinstance(reply, dict) and isinstance(reply.get("observation"), str)
    with serving({**TEXTCRAFT, path: reply}) as server:
        if is_fine:  # a reset's reward and end are not read
            asyncio.run(play(server.url))
            return
        with pytest.raises(Unavailable) as caught:
            asyncio.run(play(server.url))
    assert caught.value.code == "environment_away" and len(caught.value.sentence) < 1_000


def test_a_file_that_names_a_server_asks_for_it_and_an_address_is_plain():
    task = environment_task("agentgym", url="http://games.example:8000/babyai/")
    assert rights_of(task, AgentSettings()) == (HostRight("endpoint", "http://games.example:8000/babyai"),)
    for url in ("", "file:///etc/passwd", "http://u:p@x/", "http://x/?a=b"):
        with pytest.raises(InvalidInput):
            open_environment(EnvironmentSettings(kind="agentgym", options={"url": url}))
    with pytest.raises(InvalidInput, match="item_field"):
        open_environment(EnvironmentSettings(kind="agentgym", options={"url": "http://x", "item_field": "seed"}))
