"""Pictures and sound before a multimodal endpoint: a real HTTP server that notes what it is asked."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from support.sandboxes import Acting, Box, acting

from core.domain.errors import InvalidInput
from core.domain.host_rights import rights_of
from core.domain.task import AgentSettings, ModelSettings, Task
from core.tasks.task_check import check_task

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=")


class Endpoint(ThreadingHTTPServer):
    """Answers as OpenAI does; `asked` is what came, by path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.asked: list[tuple[str, bytes]] = []
        self.broken = False


class _Answers(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        self.server.asked.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        chat = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "a black dot"}}]}
        data = json.dumps({"text": "hello there"} if "audio" in self.path else chat).encode()
        self.send_response(500 if self.server.broken else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def media(endpoint: Endpoint) -> ModelSettings:
    return ModelSettings(kind="openai", name="seer", base_url=f"http://127.0.0.1:{endpoint.server_port}/v1")


def put(place: Box, name: str, data: bytes) -> None:
    async def write(at: Acting) -> None:
        await at.runner._hosts["main"].write_file(f"{at.runner._hosts['main'].workspace}/{name}", data)

    acting(place, write)


def test_a_picture_is_described_and_a_recording_transcribed(place: Box, endpoint: Endpoint) -> None:
    put(place, "dot.png", PNG)
    put(place, "say.wav", b"RIFF")

    async def work(at: Acting) -> None:
        seen = await at.do("parse_image", file_path="dot.png", task="What is it?")
        assert (seen.status, seen.output.text) == ("finished", "a black dot")
        seen = await at.do("parse_audio", file_path="say.wav", save_path="say.txt")
        assert seen.data["save_path"].endswith("/say.txt")
        assert (await at.do("open_file", path="say.txt")).output.text.endswith("hello there")
        seen = await at.do("parse_video", file_path="say.wav")
        assert seen.error is not None and seen.error.kind in ("missing_tool", "unreadable")
        seen = await at.do("parse_image", file_path="say.wav")
        assert seen.status == "refused"
        endpoint.broken = True
        seen = await at.do("parse_image", file_path="dot.png")
        assert seen.error is not None and "multimodal endpoint" in seen.error.message

    acting(place, work, settings=AgentSettings(media=media(endpoint)))
    path, body = endpoint.asked[0]
    asked = json.loads(body)
    assert (path, asked["model"]) == ("/v1/chat/completions", "seer")
    words, picture = asked["messages"][0]["content"]
    assert words["text"] == "What is it?"
    assert base64.b64decode(picture["image_url"]["url"].removeprefix("data:image/png;base64,")) == PNG
    assert endpoint.asked[1][0] == "/v1/audio/transcriptions" and b"whisper-1" in endpoint.asked[1][1]


def test_without_an_endpoint_it_says_so(place: Box) -> None:
    async def work(at: Acting) -> None:
        for tool in ("parse_audio", "parse_image", "parse_video"):
            seen = await at.do(tool, file_path="m")
            assert (seen.status, seen.error and seen.error.kind) == ("refused", "not_configured")

    acting(place, work)


def test_the_endpoint_is_a_right_that_is_asked_for(endpoint: Endpoint, tmp_path: Path) -> None:
    task = Task(id="t", title="T", description="d")
    agent = AgentSettings(media=media(endpoint))
    assert [right.kind for right in rights_of(task, agent)] == ["endpoint"]
    with pytest.raises(InvalidInput, match=r"agent\.media\.kind"):
        check_task(task, AgentSettings(media=ModelSettings(kind="local", name="x")))
