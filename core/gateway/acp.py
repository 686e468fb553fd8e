"""The Agent Client Protocol, as a client speaks it: JSON-RPC 2.0 in lines over an agent's input and output.

Version 1 (agentclientprotocol.com). The agent reads and writes files and runs commands itself: none of that is offered
here. Its contexts and steps are known from its model endpoint; here it is prompted, and asks for leave.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from core.domain.errors import InvalidInput, NotFound, Unavailable
from core.formats.values import as_json, dict_of, dicts_of, text_of

VERSION = 1
LONGEST_LINE = 64 << 20
MOST_TITLE, MOST_GIVEN = 300, 600
"""Characters that are shown of what leave is asked for."""
END_S = 10.0
Leave = Literal["allow", "reject"]
Json = dict[str, Any]

_MARKS = {"completed": "x", "in_progress": "~"}


class AcpAgent:
    """One agent with one conversation; a context that ends its process."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], folder: str, *,
                 on_leave: Callable[[str], Leave], on_words: Callable[[str], None], on_plan: Callable[[str], None]
                 ) -> None:
        """`on_leave` decides on what the agent asks to do, `on_words` takes what it says, `on_plan` its plan as a
        checklist. Raises NotFound."""
        self._on_leave, self._on_words, self._on_plan = on_leave, on_words, on_plan
        self._folder, self._number, self._session = folder, 0, ""
        try:
            self._process = subprocess.Popen(command, env=env, cwd=folder, stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE)
        except OSError as error:
            raise NotFound("no_program", f"{command[0]} cannot be started: {error.strerror}.") from error

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
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(END_S)
            self._process.kill()
        self._process.stdout.close()
        return self._process.wait()

    def begin(self) -> None:
        """Open the conversation. Raises Unavailable where the agent refuses or ends, InvalidInput for another version.
        """
        offered = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        found = self._ask("initialize", {"protocolVersion": VERSION, "clientCapabilities": offered})
        if found.get("protocolVersion") != VERSION:
            spoken = as_json(found.get("protocolVersion"))[:20]
            raise InvalidInput("acp_version", f"The agent speaks version {spoken} of the Agent Client Protocol, and "
                               f"this program version {VERSION}.")
        self._session = text_of(self._ask("session/new", {"cwd": self._folder, "mcpServers": []}).get("sessionId"))

    def prompt(self, text: str) -> str:
        """One turn of the agent; why it ended (`end_turn`, `cancelled`, `max_tokens`, …). Raises Unavailable."""
        found = self._ask("session/prompt", {"sessionId": self._session, "prompt": [{"type": "text", "text": text}]})
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
                    raise Unavailable("acp_refused", f"The agent refuses {method}: {as_json(message['error'])[:500]}")
                return dict_of(message.get("result"))

    def _take(self, message: Json) -> None:
        method, params = text_of(message["method"]), dict_of(message.get("params"))
        if "id" not in message:
            if method == "session/update":
                self._show(dict_of(params.get("update")))
        elif method == "session/request_permission":
            self._send({"jsonrpc": "2.0", "id": message["id"], "result": {"outcome": self._outcome(params)}})
        else:
            unknown = {"code": -32601, "message": f"{method} is not offered"}
            self._send({"jsonrpc": "2.0", "id": message["id"], "error": unknown})

    def _show(self, update: Json) -> None:
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                self._on_words(text_of(dict_of(update.get("content")).get("text")))
            case "plan":
                entries = dicts_of(update.get("entries"))
                self._on_plan("\n".join(f"- [{_MARKS.get(text_of(e.get('status')), ' ')}] {text_of(e.get('content'))}"
                                        for e in entries))

    def _outcome(self, params: Json) -> Json:
        """An answer to a request for leave: an option of the agent's own, once rather than always."""
        leave = self._on_leave(asked_for(dict_of(params.get("toolCall"))))
        chosen = option_for(leave, dicts_of(params.get("options")))
        return {"outcome": "cancelled"} if chosen is None else {"outcome": "selected", "optionId": chosen}

    def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(msgspec.json.encode(message) + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise _gone() from error

    def _next(self) -> Json:
        """The next message; lines that are none are what a program prints beside them."""
        assert self._process.stdout is not None
        while line := self._process.stdout.readline(LONGEST_LINE):
            try:
                found = msgspec.json.decode(line)
            except (msgspec.DecodeError, UnicodeError, RecursionError):
                continue
            if isinstance(found, dict):
                return found
        raise _gone()


def asked_for(call: Json) -> str:
    """What leave is asked for: the agent's own title of it, and what it is about to do, whatever the title says."""
    title = text_of(call.get("title")) or text_of(call.get("kind")) or "an action"
    given = call.get("rawInput")
    return title[:MOST_TITLE] + (f" {as_json(given)[:MOST_GIVEN]}" if given else "")


def option_for(leave: Leave, options: Sequence[Json]) -> str | None:
    """The agent's option for an answer. One yes is never one for always; None where it offers nothing else."""
    found = {text_of(o.get("kind")): text_of(o.get("optionId")) for o in options}
    kinds = ("allow_once",) if leave == "allow" else ("reject_once", "reject_always")
    return next((found[kind] for kind in kinds if kind in found), None)


def _gone() -> Unavailable:
    return Unavailable("acp_agent_gone", "The agent ended in the middle of the conversation.")
