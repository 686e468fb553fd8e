"""Codex reads its own recordings: what it sends to a model when a session is resumed is the context that we read.

Where `codex` is installed (0.169 was tried: npm install -g @openai/codex). It speaks to an endpoint of this test.
"""

from __future__ import annotations

import http.server
import json
import os
import shutil
import subprocess
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.real_data import real

from core.domain.events import Placed
from core.domain.message import Message, decode_message
from core.domain.trajectory import fold
from core.formats import registry
from core.formats.source import Source

CODEX = shutil.which("codex") or ""
pytestmark = pytest.mark.skipif(not CODEX, reason="codex is not installed")
OWN = Path(__file__).parent / "foreign"
NEXT = "And now?"
DONE = [{"type": "response.created", "response": {"id": "r"}},
        {"type": "response.completed", "response": {"id": "r", "usage": None}}]


class Endpoint(http.server.BaseHTTPRequestHandler):
    """Answers every request for a response with an empty one, and notes it."""

    asked: list[dict[str, Any]] = []

    def do_POST(self) -> None:
        """One request of codex."""
        self.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        body = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in DONE).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        Endpoint.asked.clear()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def whole(path: Path) -> list[dict[str, Any]]:
    """A recording as codex itself writes it: our own leave out what only codex asks for, the turns' names above all."""
    found: list[dict[str, Any]] = []
    turn = 0
    for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        payload, kind = line["payload"], line["payload"].get("type")
        if line["type"] == "session_meta":
            payload.pop("session_id", None)
            payload |= {"id": str(uuid.uuid4()), "timestamp": line["timestamp"], "cwd": "/w", "originator": "x",
                        "cli_version": "0.142.0", "model_provider": "own"}
            found += [line, _event(line, type="task_started", turn_id="t0", model_context_window=1)]
            continue
        if kind == "task_started":
            turn += 1
            payload |= {"turn_id": f"t{turn}", "model_context_window": 1}
        elif kind in ("turn_aborted", "task_complete"):
            payload["turn_id"] = f"t{turn}"
        elif line["type"] == "turn_context":
            payload |= {"turn_id": f"t{turn}", "cwd": "/w", "approval_policy": "never", "summary": "auto",
                        "sandbox_policy": {"type": "danger-full-access"}}
        text = json.dumps(line).replace("<permissions>", "<permissions instructions>")
        found.append(json.loads(text))
        if line["type"] == "response_item" and payload.get("role") == "user":
            found.append(_event(line, type="user_message", message=payload["content"][0]["text"]))
    return found


def _event(line: dict[str, Any], **payload: object) -> dict[str, Any]:
    return {"timestamp": line["timestamp"], "type": "event_msg", "payload": payload}


def sent(home: Path, lines: list[dict[str, Any]], url: str) -> list[dict[str, Any]]:
    """What codex sends to its model when it goes on with a recording."""
    name, at = lines[0]["payload"]["id"], lines[0]["timestamp"][:19]
    folder = home / "sessions" / at[:10].replace("-", "/")
    folder.mkdir(parents=True)
    (folder / f"rollout-{at.replace(':', '-')}-{name}.jsonl").write_text("".join(json.dumps(n) + "\n" for n in lines))
    (home / "config.toml").write_text(
        f'model = "gpt-5"\nmodel_provider = "own"\n[model_providers.own]\nname = "own"\nbase_url = "{url}"\n'
        'wire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0\n')
    ran = subprocess.run([CODEX, "exec", "resume", "--skip-git-repo-check", name, NEXT], cwd=home, timeout=120,
                         check=False, stdin=subprocess.DEVNULL, capture_output=True,
                         env={**os.environ, "CODEX_HOME": str(home)})
    assert Endpoint.asked, ran.stderr.decode(errors="replace")[-1000:]
    return list(Endpoint.asked[0]["input"])


def by_codex(items: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Words, calls and outputs of a request, each in order; without what codex adds when it resumes."""
    found: dict[str, list[str]] = {"words": [], "calls": [], "outputs": []}
    for item in items:
        match item["type"]:
            case "message" if item["role"] != "developer":
                _words(found, "".join(c["text"] for c in item["content"]))
            case "compaction":
                found["words"].append("[encrypted summary]")
            case "function_call" | "custom_tool_call":
                found["calls"].append(item["name"])
            case "function_call_output" | "custom_tool_call_output":
                found["outputs"].append(_plain(item["output"]))
    return found


def by_us(messages: list[Message]) -> dict[str, list[str]]:
    """The same of a context that we read."""
    found: dict[str, list[str]] = {"words": [], "calls": [], "outputs": []}
    for message in messages:
        found["calls"] += [call.name for call in message.tool_calls]
        if message.role == "tool":
            found["outputs"].append(message.content)
        elif message.role != "system":
            _words(found, message.content)
    return found


def _words(found: dict[str, list[str]], text: str) -> None:
    if text and text != NEXT and not text.startswith("<environment_context>"):
        found["words"].append(text)


def _plain(output: str) -> str:
    """Older programs put an output into JSON."""
    try:
        held = json.loads(output)
    except ValueError:
        return output
    return str(held["output"]) if isinstance(held, dict) and "output" in held else output


def contexts() -> list[Path]:
    """Recordings: a real one, and our own."""
    return [real("codex-cli") / "codex-rollout.sample.jsonl", *sorted(OWN.glob("codex*.jsonl"))]


@pytest.mark.parametrize("path", contexts() if CODEX else [], ids=lambda p: p.name)
def test_codex_goes_on_with_the_context_that_we_read(path: Path, tmp_path: Path, endpoint: str) -> None:
    if path.name == "codex_exec.jsonl":
        pytest.skip("what codex exec prints is no recording: it cannot go on with it")
    lines = whole(path)
    recording = tmp_path / path.name
    recording.write_text("".join(json.dumps(line) + "\n" for line in lines))
    [read] = registry.read(Source(recording))
    told = fold(read.session, [Placed(session=read.session, seq=n, body=b) for n, b in enumerate(read.bodies, 1)])
    last = told.steps[-1]
    refs = [*told.context(last.head.number), *([last.completion] if last.completion else [])]
    assert by_codex(sent(tmp_path / "home", lines, endpoint)) == by_us(
        [decode_message(read.blobs[ref.hash]) for ref in refs])
