"""OpenEnv's WebSocket in its own words (openenv 0.10), over a real one; and servers that mean ill."""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Response

from core.domain.errors import InvalidInput, Unavailable
from core.domain.message import ToolCall
from core.environments import bounded_http
from core.environments.registry import environment_task, open_environment

SCHEMA: object = {"action": {"properties": {"word": {"type": "string"}, "metadata": {"type": "object"}},
                             "required": ["word"]}}
RESET: object = {"type": "observation", "data": {"observation": {"text": "Guess."}, "reward": None, "done": False}}
RIGHT: object = {"type": "observation", "data": {"observation": {"text": "Right.", "left": 3}, "reward": 1.0,
                                                 "done": True}}
REFUSED: object = {"type": "error", "data": {"message": "word: field required", "code": "VALIDATION_ERROR"}}
FULL: object = {"type": "error", "data": {"message": "1 of 1 sessions are taken", "code": "CAPACITY_REACHED"}}


async def play(schema: object, *answers: object, arguments: str = '{"word": "7"}', is_full: bool = False
               ) -> tuple[list[str], float | None, list[dict[str, object]]]:
    asked: list[dict[str, object]] = []

    async def speak(socket: ServerConnection) -> None:
        if is_full:
            await socket.send(json.dumps(FULL))
            return
        for answer in answers:
            asked.append(json.loads(await socket.recv()))
            await socket.send(answer if isinstance(answer, str | bytes) else json.dumps(answer))
        try:
            asked.append(json.loads(await socket.recv()))
        except ConnectionClosed:
            return

    def fetched(socket: ServerConnection, request: object) -> Response | None:
        if request.path == "/ws":  # type: ignore[attr-defined]
            return schema if isinstance(schema, Response) else None
        body = json.dumps(None if isinstance(schema, Response) else schema).encode()
        body = json.dumps(SCHEMA).encode() if isinstance(schema, Response) else body
        return Response(HTTPStatus.OK, "OK", Headers({"Content-Length": str(len(body)), "Connection": "close"}), body)

    async with serve(speak, "127.0.0.1", 0, process_request=fetched) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        task = environment_task("openenv", item=5, url=f"http://127.0.0.1:{port}")
        place = open_environment(task.environment)
        try:
            seen = [(await place.reset(task, 2)).output.text]
            assert place.tools()[0].parameters["properties"] == {"word": {"type": "string"}}
            answer = await place.act(place.read(ToolCall(id="c", name="step", arguments=arguments)), 1)
            seen.append(answer.error.message if answer.error else answer.output.text)
            return seen, (await place.score())[0].total, asked
        finally:
            await place.close()
            await asyncio.sleep(0.01)


def test_a_session_is_played_and_ended():
    seen, score, asked = asyncio.run(play(SCHEMA, RESET, RIGHT))
    assert seen[0] == "Guess." and json.loads(seen[1]) == {"text": "Right.", "left": 3} and score == 100.0
    assert asked == [{"type": "reset", "data": {"seed": 200_005}}, {"type": "step", "data": {"word": "7"}},
                     {"type": "close"}]


def test_what_the_server_refuses_is_the_agents_mistake():
    seen, score, _ = asyncio.run(play(SCHEMA, RESET, REFUSED, arguments="{}"))
    assert seen[1] == "word: field required" and score == 0.0


@pytest.mark.parametrize(("schema", "answers"), [
    ([], ()), ({"action": {"properties": {"word": 5}}}, ()), ({}, ()), (SCHEMA, (REFUSED,)),
    ({"action": {"properties": {f"a{n}": {"type": "string"} for n in range(5_000)}}}, ()), (SCHEMA, ("no json",)),
    (SCHEMA, (b"\xff",)), (SCHEMA, (" " * (1 << 21),)), (SCHEMA, ([],)), (SCHEMA, ("[" * 200_000,)),
    (SCHEMA, (RESET, {"type": "observation", "data": {"observation": 5}})),
    (SCHEMA, (RESET, {"type": "observation", "data": {"observation": {}, "reward": "1", "done": False}})),
    (SCHEMA, (RESET, {"type": "observation", "data": {"observation": {}, "reward": 1, "done": "yes"}})),
    (SCHEMA, (RESET, '{"type": "observation", "data": {"observation": {}, "reward": 1e999, "done": false}}')),
    *((SCHEMA, (RESET, {"type": "observation", "data": {"observation": {}, "reward": r, "done": False}}))
      for r in (10**400, 1e10, True)),
    (SCHEMA, (RESET,)),
    (Response(HTTPStatus.FOUND, "Found", Headers({"Location": "ws://127.0.0.1:1/ws", "Content-Length": "0"})), ())])
def test_a_hostile_server_ends_the_session_with_a_sentence(monkeypatch, schema, answers):
    monkeypatch.setattr(bounded_http, "TIMEOUT_S", 0.3)
    monkeypatch.setattr(bounded_http, "LONGEST", 1 << 20)
    with pytest.raises(Unavailable) as caught:
        asyncio.run(play(schema, *answers))
    assert caught.value.code == "environment_away" and len(caught.value.sentence) < 1_000


def test_a_server_without_room_is_told_in_its_own_words():
    with pytest.raises(Unavailable, match="it begins no game: '1 of 1 sessions are taken'"):
        asyncio.run(play(SCHEMA, is_full=True))


def test_it_needs_an_address():
    with pytest.raises(InvalidInput, match="Name the server"):
        open_environment(environment_task("openenv").environment)
