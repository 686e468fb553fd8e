"""A scripted model endpoint that speaks the four dialects of agents: some calls of the agent's own tools, then an end.

It runs in a thread of its own and remembers what it was sent, byte for byte. Where it is in its script follows from
the request alone, so a retry gets the same answer.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from support.scripted_answers import answer_frames

SHELLS = ("Bash", "bash", "exec_command", "shell_command", "run_shell_command", "shell", "terminal", "execute_bash",
          "local_shell")
AGENTS = ("Agent", "Task", "task", "agent", "invoke_agent", "generalist")
ENDS = ("submit", "finish")
HANDS_IN = "complete_task"
"""By this alone a subagent of Gemini CLI hands in; one that ends with words has failed."""
WRITES = ("write_file", "write", "Write")
TODOS = ("write_todos", "todo_write", "todowrite", "TodoWrite")
TODO = {"content": "Mend the sign", "description": "Mend the sign", "status": "in_progress", "priority": "high",
        "id": "1", "activeForm": "Mending"}
SUMMARY = re.compile(r"detailed summary of (the|this|our) conversation|state_snapshot|CONTEXT CHECKPOINT|"
                     r"handoff summary|summarize the conv|anchored summary|create a detailed summary|"
                     r"maintain(ing)? a context-aware state summary", re.IGNORECASE)
SUMMARISED = "TASK-MAIN: calc.py was read and repaired. Go on with the tests."
ADVICE = "write guided.txt"
"""A guidance with these words makes the agent write guided.txt instead of plain.txt."""

PATHS = {"anthropic": re.compile(r"/messages(/count_tokens)?\Z"), "chat": re.compile(r"/chat/completions\Z"),
         "responses": re.compile(r"/responses\Z"),
         "gemini": re.compile(r":(generateContent|streamGenerateContent|countTokens)\Z")}
ITEMS = {"anthropic": "messages", "chat": "messages", "responses": "input", "gemini": "contents"}


@dataclass
class Received:
    """One request that asked for an answer."""

    path: str
    headers: dict[str, str]
    raw: bytes
    dialect: str
    status: int = 200
    answer: bytes = b""
    is_main: bool = False
    has_tools: bool = False
    is_cut: bool = False

    @property
    def text(self) -> str:
        return self.raw.decode("utf-8", "replace")


@dataclass
class Script:
    """What the endpoint does out of the ordinary; a step is counted by the answers that a request holds."""

    fail_at: int = 0
    """The main line's request at this step fails once, with 503 (Anthropic: 529)."""
    big_at: int = 0
    """From this step on the usage says once that the window is nearly full."""
    big: int = 190_000
    pace_s: float = 0.0
    """How long every answer takes."""
    subagents: bool = True
    first: str = "ls -la"
    """The command of the first step."""
    writes: str = ""
    """A file that it also writes, by the agent's own tool for that; before it a plan, by its own tool for those."""
    before: Callable[[Received], None] | None = None
    """Called in the endpoint's thread before a request is answered."""


@dataclass
class Upstream:
    """The endpoint, once `serving` has begun."""

    script: Script
    url: str = ""
    received: list[Received] = field(default_factory=list)
    _failed: bool = False
    _big: bool = False
    _counted: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def main(self) -> list[Received]:
        """The requests of the main line: with tools and the task's mark."""
        return [r for r in self.received if r.is_main]

    def turn(self, got: Received) -> tuple[list[tuple[str, dict[str, Any]]], str, int]:
        """Calls, words and the usage that is told for a request."""
        body = json.loads(got.raw)
        items = items_of(got.dialect, body)
        calls, words = _turn(got, body, items, self.script)
        usage = len(got.raw) // 4
        with self._lock:
            if self._big and "<state_snapshot>" in words and not self._counted:
                self._counted, usage = True, self.script.big  # a summary is asked for with the very context that is big
            if self.script.big_at and calls and not self._big and steps_in(items) >= self.script.big_at and got.is_main:
                self._big, usage = True, self.script.big
        return calls, words, usage

    def fails(self, got: Received) -> bool:
        """Whether this request is the one that fails."""
        with self._lock:
            items = items_of(got.dialect, json.loads(got.raw))
            if self.script.fail_at and got.is_main and not self._failed and steps_in(items) == self.script.fail_at:
                self._failed = True
                return True
        return False


def dialect_of(path: str) -> str:
    """The dialect of a path, "" for others."""
    return next((name for name, pattern in PATHS.items() if pattern.search(path)), "")


def items_of(dialect: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    """The items of a request."""
    items = body.get(ITEMS[dialect]) or []
    return [{"role": "user", "content": items}] if isinstance(items, str) else items


def tools_of(dialect: str, body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Names and schemas of what the model may call."""
    found: dict[str, dict[str, Any]] = {}
    for tool in body.get("tools") or []:
        match dialect:
            case "gemini":
                found |= {f["name"]: f.get("parametersJsonSchema") or f.get("parameters") or {}
                          for f in tool.get("functionDeclarations", [])}
            case "chat":
                found[tool["function"]["name"]] = tool["function"].get("parameters", {})
            case "anthropic":
                found[tool["name"]] = tool.get("input_schema", {})
            case _:
                found |= {t.get("name") or t.get("type"): t.get("parameters", {}) for t in tool.get("tools") or [tool]}
    return found


def steps_in(items: list[dict[str, Any]]) -> int:
    """How many answers the items hold: a run of answering items is one."""
    flags = [i.get("role") in ("assistant", "model") or i.get("type") in (
        "function_call", "custom_tool_call", "local_shell_call", "reasoning") for i in items]
    return sum(flag and not (n and flags[n - 1]) for n, flag in enumerate(flags))


def _arguments(name: str, schema: dict[str, Any], command: str) -> tuple[str, dict[str, Any]]:
    properties, made = schema.get("properties", {}), {}
    for key in schema.get("required") or list(properties)[:1]:
        kinds = str(properties.get(key, {}).get("type"))
        if key in ("command", "cmd", "cmds"):
            made[key] = ["bash", "-lc", command] if "array" in kinds else command
        elif "enum" in properties.get(key, {}):
            made[key] = properties[key]["enum"][0]
        else:
            made[key] = 30 if "integer" in kinds or "number" in kinds else False if "boolean" in kinds else "Look"
    return name, made


def _filled(schema: dict[str, Any], words: str) -> Any:
    """What a form demands, with the words wherever it wants some."""
    if schema.get("type") != "object":
        return words
    return {key: _filled(schema["properties"][key], words) for key in schema.get("required", [])}


def _turn(got: Received, body: dict[str, Any], items: list[dict[str, Any]], script: Script
          ) -> tuple[list[tuple[str, dict[str, Any]]], str]:
    tools = tools_of(got.dialect, body)
    last = json.dumps(items[-2:])
    if SUMMARY.search(last) and "Another language model started" not in last:
        got.is_main = False
        return [], f"<analysis>x</analysis><summary>{SUMMARISED}</summary><state_snapshot>{SUMMARISED}</state_snapshot>"
    if not tools:
        return [], json.dumps({"title": "Repair calc", "isNewTopic": True, "next_speaker": "user", "reasoning": "r",
                               "isError": False})
    done = steps_in(items)
    shell = next((n for n in SHELLS if n in tools), "")
    if "TASK-MAIN" not in got.text:
        if shell and "echo from the subagent" not in got.text:
            return [_arguments(shell, tools[shell], "echo from the subagent")], ""
        return ([(HANDS_IN, _filled(tools[HANDS_IN], "Subtask done."))] if HANDS_IN in tools else []), "Subtask done."
    if not shell:
        return [], "No shell among " + ", ".join(tools)
    plan = _plan(got.text, tools, shell, script)
    if done < len(plan):
        return plan[done], f"Step {done + 1}."
    if end := next((n for n in ENDS if n in tools), ""):
        return [_arguments(end, tools[end], "")], ""
    if "COMPLETE_TASK_AND_SUBMIT" in got.text:
        return [_arguments(shell, tools[shell], "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")], ""
    return [], "All done."


def _plan(text: str, tools: dict[str, dict[str, Any]], shell: str, script: Script
          ) -> list[list[tuple[str, dict[str, Any]]]]:
    def run(command: str) -> tuple[str, dict[str, Any]]:
        return _arguments(shell, tools[shell], command)

    plan = [[run(script.first)], [run("cat calc.py")], [run("echo one"), run("echo two")]]
    agent = next((n for n in AGENTS if n in tools), "") if script.subagents else ""
    if agent:
        properties = tools[agent].get("properties", {})
        call = dict.fromkeys(tools[agent].get("required", []), "SUBTASK: say hello")
        call |= {"subagent_type": "general-purpose" if agent != "task" else "general"} if (
            "subagent_type" in properties) else {}
        call |= {"agent_name": "generalist"} if "agent_name" in properties else {}
        plan.append([(agent, call)])
    else:
        plan.append([run("python3 check.py")])
    plan += _own_steps(tools, script.writes) if script.writes else []
    written = "guided" if ADVICE in text else "plain"
    return [*plan, [run(f"echo {written} > {written}.txt")],
            [run("sed -i 's/a - b/a + b/' calc.py && python3 check.py")]]


def _own_steps(tools: dict[str, dict[str, Any]], path: str) -> list[list[tuple[str, dict[str, Any]]]]:
    """A plan and a file, by the agent's own tools."""
    steps: list[list[tuple[str, dict[str, Any]]]] = []
    for name in [n for n in TODOS if n in tools][:1]:
        (key, rows), = [(k, v) for k, v in tools[name]["properties"].items() if v.get("type") == "array"]
        item = {k: v for k, v in TODO.items() if k in rows["items"].get("properties", TODO)}
        steps.append([(name, {key: [item]})])
    name = next((n for n in WRITES if n in tools), "")
    given = {key: path if "path" in key.lower() else "written by its own tool\n"
             for key in tools.get(name, {}).get("required", [])}
    return [*steps, [(name, given)]] if name else steps


def serve(script: Script | None = None) -> Iterator[Upstream]:
    """The endpoint, for as long as the generator lives."""
    upstream = Upstream(script or Script())
    numbers = iter(range(1, 1 << 30))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            return

        def do_GET(self) -> None:
            self._reply(200, "application/json", b'{"object": "list", "data": [{"id": "scripted", "object": "model"}]}')

        def do_HEAD(self) -> None:
            self._reply(200, "application/json", b"")

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = self.path.partition("?")[0]
            dialect = dialect_of(path)
            if not dialect or "count" in path.lower():
                self._reply(200, "application/json", json.dumps(
                    {"input_tokens": len(raw) // 4, "totalTokens": len(raw) // 4}).encode())
                return
            body = json.loads(raw)
            got = Received(path=self.path, headers=dict(self.headers), raw=raw, dialect=dialect,
                           has_tools=bool(tools_of(dialect, body)))
            names = tools_of(dialect, body)
            got.is_main = any(name in names for name in SHELLS) and "TASK-MAIN" in got.text
            upstream.received.append(got)
            if upstream.script.before is not None:
                upstream.script.before(got)
            if upstream.fails(got):
                self._fail(got)
                return
            self._answer(got, body, next(numbers))

        def _fail(self, got: Received) -> None:
            got.status = 529 if got.dialect == "anthropic" else 503
            got.answer = json.dumps({"type": "error", "error": {
                "type": "overloaded_error", "message": "Overloaded", "code": 503, "status": "UNAVAILABLE"}}).encode()
            self._reply(got.status, "application/json", got.answer)

        def _answer(self, got: Received, body: dict[str, Any], n: int) -> None:
            calls, words, usage = upstream.turn(got)
            is_stream = bool(body.get("stream")) or "stream" in got.path
            frames = answer_frames(got.dialect, calls, words, usage, n, is_stream, body.get("model") or "scripted")
            if upstream.script.pace_s:
                time.sleep(upstream.script.pace_s)
            got.answer = b"".join(frames)
            try:
                if not is_stream:
                    self._reply(200, "application/json", got.answer)
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.send_header("X-Ratelimit-Remaining-Requests", "41")
                self.end_headers()
                for frame in [*frames, b""]:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(frame), frame))
                    self.wfile.flush()
            except OSError:
                got.is_cut = True
                self.close_connection = True

        def _reply(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("X-Request-Id", "req_1")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            return  # whoever asked was killed

    server = Server(("127.0.0.1", 0), Handler)
    upstream.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield upstream
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
