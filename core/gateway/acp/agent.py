"""An agent's process, and the protocol with it."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Callable, Mapping, Sequence

from .leave import asked_for, option_for
from .shown_calls import ShownCalls
from .values import Json, object_of, objects_of, text_of

VERSION = 1
LONGEST_LINE = 16 << 20
END_S = 10.0


class AcpError(Exception):
    """The agent cannot be spoken with. `code` is stable: acp_refused, acp_agent_gone, acp_version, no_program."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code, self.sentence = code, sentence


class AcpAgent:
    """One agent with one conversation; a context that ends its process."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], folder: str, *,
                 on_leave: Callable[[str], bool], on_words: Callable[[str], None],
                 tell: Callable[[str, object], Json]) -> None:
        """`on_leave` decides on what the agent asks to do, `on_words` takes what it says, `tell` what it did and plans.
        Raises AcpError (no_program)."""
        self._on_leave, self._on_words, self._tell = on_leave, on_words, tell
        self._calls = ShownCalls(folder, tell)
        self._folder, self._number, self._plan, self._replays = folder, 0, "", False
        self.conversation = ""
        self._able: Json | None = None
        try:
            self._process = subprocess.Popen(command, env=dict(env), cwd=folder, stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE)
        except OSError as error:
            raise AcpError("no_program", f"{command[0]} cannot be started: {error.strerror}.") from error

    def __enter__(self) -> AcpAgent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> int:
        """End it; its exit status."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        for end in (self._process.terminate, self._process.kill):
            try:
                self._process.wait(END_S)
                break
            except subprocess.TimeoutExpired:
                end()
        self._process.stdout.close()
        return self._process.wait()

    def begin(self, conversation: str = "") -> None:
        """Open the conversation, or one of before; after a refusal another one may be opened. Raises AcpError."""
        able = self._able = self._able if self._able is not None else self._greeted()
        where: Json = {"cwd": self._folder, "mcpServers": []}
        if not conversation:
            self.conversation = text_of(self._ask("session/new", where).get("sessionId"))
        elif able.get("loadSession") is True:
            self._replays, self.conversation = True, conversation
            try:
                self._ask("session/load", {**where, "sessionId": conversation})
            finally:
                self._replays = False
        else:
            raise AcpError("acp_refused", "The agent does not take up a conversation of before.")

    def _greeted(self) -> Json:
        """What the agent says that it can."""
        offered = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        found = self._ask("initialize", {"protocolVersion": VERSION, "clientCapabilities": offered})
        if found.get("protocolVersion") != VERSION:
            spoken = json.dumps(found.get("protocolVersion"))[:20]
            raise AcpError("acp_version", f"The agent speaks version {spoken} of the Agent Client Protocol, and this "
                           f"program version {VERSION}.")
        return object_of(found.get("agentCapabilities"))

    def prompt(self, text: str) -> str:
        """One turn of the agent; why it ended (`end_turn`, `cancelled`, `max_tokens`, …). Raises AcpError."""
        found = self._ask("session/prompt", {"sessionId": self.conversation,
                                             "prompt": [{"type": "text", "text": text}]})
        return text_of(found.get("stopReason"))

    def _ask(self, method: str, params: Json) -> Json:
        """The answer to one request; what the agent says and asks meanwhile is dealt with."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while True:
            message = self._next()
            if "method" in message:
                self._take(message)
            elif message.get("id") == self._number:
                if "error" in message:
                    shown = json.dumps(message["error"], ensure_ascii=False)[:500]
                    raise AcpError("acp_refused", f"The agent refuses {method}: {shown}")
                return object_of(message.get("result"))

    def _take(self, message: Json) -> None:
        method, params = text_of(message["method"]), object_of(message.get("params"))
        if "id" not in message:
            if method == "session/update" and not self._replays:
                self._show(object_of(params.get("update")))
        elif method == "session/request_permission":
            self._send({"jsonrpc": "2.0", "id": message["id"], "result": {"outcome": self._outcome(params)}})
        else:
            unknown = {"code": -32601, "message": method[:200] + " is not offered"}
            self._send({"jsonrpc": "2.0", "id": message["id"], "error": unknown})

    def _show(self, update: Json) -> None:
        kind = update.get("sessionUpdate")
        if kind == "agent_message_chunk":
            self._on_words(text_of(object_of(update.get("content")).get("text")))
        elif kind in ("tool_call", "tool_call_update"):
            title = self._calls.take(update)
            if title:
                self._on_words(f"\n[{title}]\n")
        elif kind == "plan":
            plan = checklist_of(objects_of(update.get("entries")))
            if plan != self._plan:
                self._plan = plan
                self._tell("plan", plan)

    def _outcome(self, params: Json) -> Json:
        """An answer to a request for leave: an option of the agent's own, once rather than always."""
        call = object_of(params.get("toolCall"))
        self._calls.announce(call)
        may = self._on_leave(asked_for(call))
        chosen = option_for(may, objects_of(params.get("options")))
        return {"outcome": "cancelled"} if chosen is None else {"outcome": "selected", "optionId": chosen}

    def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise _gone() from error

    def _next(self) -> Json:
        """The next message; lines that are none are what a program prints beside them."""
        assert self._process.stdout is not None
        while True:
            line = self._process.stdout.readline(LONGEST_LINE)
            if not line:
                raise _gone()
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                return found


def checklist_of(entries: Sequence[Json]) -> str:
    """A plan as a list that Markdown draws with boxes."""
    marks = {"completed": "x", "in_progress": "~"}
    return "\n".join(f"- [{marks.get(text_of(e.get('status')), ' ')}] {' '.join(text_of(e.get('content')).split())}"
                     for e in entries[:500])[:20_000]


def _gone() -> AcpError:
    return AcpError("acp_agent_gone", "The agent ended in the middle of the conversation.")
