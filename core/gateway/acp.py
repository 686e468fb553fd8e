"""The Agent Client Protocol, as a client speaks it: JSON-RPC 2.0 in lines over an agent's input and output.

Version 1 (agentclientprotocol.com). The agent reads and writes files and runs commands itself: none of that is offered
here. Its contexts and steps are known from its model endpoint; here it is prompted, asks for leave, and shows what its
calls did, which goes to the session at its gateway.

Needs nothing but Python 3.9: `tiphys attach --acp` speaks so from where it is started, and a session's runner lays this
very file into the sandbox, as the program of the agent's terminal: `python3 acp.py WHO FIRST COMMAND…`, where WHO gives
leave (desktop, allow, reject) and FIRST is `new` or `load`, for a conversation that was begun before.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

VERSION = 1
LONGEST_LINE = 16 << 20
MOST_TITLE, MOST_GIVEN = 300, 600
"""Characters that are shown of what leave is asked for."""
MOST_TEXT = 1 << 20
"""Characters of a file, or of what a command printed, that are told."""
END_S = 10.0
AGAIN_S = 0.5
GO_ON = "Go on: a person has said something to you."
"""The words of a turn that an advice begins, which itself is put in at the model endpoint, as always."""
TAKEN_UP = "Go on."
CONVERSATION = "~/.tiphys/acp-conversation"
"""Where the conversation's name rests in a sandbox, for the next start."""

Json = dict[str, Any]


class AcpError(Exception):
    """The agent cannot be spoken with. `code` is stable: acp_refused, acp_agent_gone, acp_version, no_program."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code, self.sentence = code, sentence


class SessionWords:
    """What is said to the session at its gateway. A word that was cut off is said again, and counts once."""

    def __init__(self, url: str, token: str, patience_s: float) -> None:
        """`patience_s`: so long the session may be away; then it is taken to be over."""
        self._place, self._token, self._patience_s = urlsplit(url).netloc, token, patience_s
        self._ids = itertools.count(1)
        self._name = f"{os.getpid():x}-{time.time_ns():x}"

    def tell(self, what: str, body: object) -> Json:
        """A word to the session; its answer, nothing where it is over."""
        fields = {"Authorization": "Bearer " + self._token, "X-Tiphys-Word": f"{self._name}-{next(self._ids)}"}
        until = time.monotonic() + self._patience_s
        while True:
            connection = http.client.HTTPConnection(self._place)
            try:
                connection.request("POST", "/tiphys/" + what, json.dumps(body).encode(), fields)
                answer = connection.getresponse()
                raw = answer.read()
                return object_of(json.loads(raw)) if answer.status == 200 else {}
            except (OSError, http.client.HTTPException, ValueError):
                if time.monotonic() > until:
                    return {}
                time.sleep(AGAIN_S)
            finally:
                connection.close()


class Calls:
    """What the agent's calls did, as it shows it: edited files, and commands with what they printed."""

    def __init__(self, folder: str, tell: Callable[[str, object], Json]) -> None:
        self._folder, self._tell = folder, tell
        self._calls: dict[str, Json] = {}
        self._printed: dict[str, str] = {}

    def take(self, update: Json) -> str | None:
        """A call that began or went on; its title where it is a new one."""
        name = text_of(update.get("toolCallId"))
        is_new = "title" not in self._calls.get(name, {})
        call = self._calls.setdefault(name, {})
        call.update({key: value for key, value in update.items() if value is not None})
        self.announce(update)
        is_over = call.get("status") in ("completed", "failed")
        if call.get("kind") == "execute" and (is_over or call.get("status") == "in_progress"):
            self._print(name, call)
        if is_over:
            for edit in self._edits(call) if call["status"] == "completed" else ():
                self._tell("edit", edit)
            self._calls[name] = {"title": call.get("title")}
            self._printed.pop(name, None)
        return title_of(call) if is_new else None

    def announce(self, update: Json) -> None:
        """Remember the edits of a call, which some agents show only when they ask for leave."""
        edits = [part for part in objects_of(update.get("content")) if part.get("type") == "diff"]
        if edits:
            self._calls.setdefault(text_of(update.get("toolCallId")), {})["edits"] = edits

    def _print(self, name: str, call: Json) -> None:
        text = output_of(call)
        if not text and call.get("status") == "in_progress":  # it may still wait for leave
            return
        given = object_of(call.get("rawInput")).get("command")
        command = given if isinstance(given, str) and given else title_of(call)
        before = self._printed.get(name)
        self._printed[name] = text
        new = text[len(before):] if before is not None and text.startswith(before) else text
        head = "" if before is not None else f"$ {command[:MOST_GIVEN]}\n"
        end = "" if call.get("status") == "in_progress" or text.endswith("\n") or not text else "\n"
        if head or new or end:
            self._tell("printed", head + new[-MOST_TEXT:] + end)

    def _edits(self, call: Json) -> Iterator[Json]:
        for part in call.get("edits", ()):
            path, after = text_of(part.get("path")), text_of(part.get("newText"))
            if not path or not isinstance(part.get("newText"), str):
                continue
            path = os.path.normpath(Path(self._folder) / path)
            before = text_of(part.get("oldText")) or None
            is_large = len(after) > MOST_TEXT or len(before or "") > MOST_TEXT
            yield {"path": path[:4096], "before": None if is_large else before, "after": "" if is_large else after,
                   "size": len(after.encode()), "too_large": is_large,
                   "is_partial": not is_large and not _holds(path, after)}


def _holds(path: str, text: str) -> bool:
    """Whether a file is this text: some agents show all of it, some only the part that they changed."""
    try:
        with Path(path).open("rb") as file:
            return file.read(4 * MOST_TEXT + 1) == text.encode()
    except (OSError, ValueError):
        return False


class AcpAgent:
    """One agent with one conversation; a context that ends its process."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], folder: str, *,
                 on_leave: Callable[[str], bool], on_words: Callable[[str], None],
                 tell: Callable[[str, object], Json]) -> None:
        """`on_leave` decides on what the agent asks to do, `on_words` takes what it says, `tell` what it did and plans.
        Raises AcpError (no_program)."""
        self._on_leave, self._on_words, self._tell = on_leave, on_words, tell
        self._calls = Calls(folder, tell)
        self._folder, self._number, self._plan, self._replays = folder, 0, "", False
        self.conversation = ""
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
        """Open the conversation, or one of before. Raises AcpError."""
        offered = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        found = self._ask("initialize", {"protocolVersion": VERSION, "clientCapabilities": offered})
        if found.get("protocolVersion") != VERSION:
            spoken = json.dumps(found.get("protocolVersion"))[:20]
            raise AcpError("acp_version", f"The agent speaks version {spoken} of the Agent Client Protocol, and this "
                           f"program version {VERSION}.")
        where: Json = {"cwd": self._folder, "mcpServers": []}
        if not conversation:
            self.conversation = text_of(self._ask("session/new", where).get("sessionId"))
        elif object_of(found.get("agentCapabilities")).get("loadSession") is True:
            self._replays, self.conversation = True, conversation
            self._ask("session/load", {**where, "sessionId": conversation})
            self._replays = False
        else:
            raise AcpError("acp_refused", "The agent does not take up a conversation of before.")

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


def object_of(value: object) -> Json:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def objects_of(value: object) -> list[Json]:
    """The objects of a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text_of(value: object) -> str:
    """The value where it is text that can be written, else ""."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def title_of(call: Json) -> str:
    """What the agent calls it, in one line."""
    return " ".join((text_of(call.get("title")) or text_of(call.get("kind")) or "an action").split())[:MOST_TITLE]


def asked_for(call: Json) -> str:
    """What leave is asked for: the agent's own title of it, and what it is about to do, whatever the title says."""
    given = call.get("rawInput") or {text_of(part.get("path")): part.get("newText")
                                     for part in objects_of(call.get("content")) if part.get("type") == "diff"}
    title = title_of(call)
    if isinstance(given, dict):
        given = {name: value for name, value in given.items() if value != title}
    shown = json.dumps(given, ensure_ascii=False)[:MOST_GIVEN] if given else ""
    return f"{title} {shown}".strip()


def output_of(call: Json) -> str:
    """What a command printed by now, as far as the agent shows it."""
    raw = call.get("rawOutput")
    raw = raw.get("output") if isinstance(raw, dict) else raw
    if isinstance(raw, str) and raw:
        return text_of(raw)
    if call.get("status") == "in_progress" and "rawInput" not in call:
        return ""
    parts = (object_of(part.get("content")) for part in objects_of(call.get("content")))
    return "".join(text_of(part.get("text")) for part in parts)


def checklist_of(entries: Sequence[Json]) -> str:
    """A plan as a list that Markdown draws with boxes."""
    marks = {"completed": "x", "in_progress": "~"}
    return "\n".join(f"- [{marks.get(text_of(e.get('status')), ' ')}] {' '.join(text_of(e.get('content')).split())}"
                     for e in entries[:500])[:20_000]


def option_for(may: bool, options: Sequence[Json]) -> str | None:
    """The agent's option for an answer. One yes is never one for always; None where it offers nothing else."""
    found = {text_of(o.get("kind")): text_of(o.get("optionId")) for o in options}
    kinds: tuple[str, ...] = ("allow_once",) if may else ("reject_once", "reject_always")
    return next((found[kind] for kind in kinds if kind in found), None)


def _gone() -> AcpError:
    return AcpError("acp_agent_gone", "The agent ended in the middle of the conversation.")


def converse(agent: AcpAgent, tell: Callable[[str, object], Json], first: str, *, stays: bool) -> int:
    """Give the agent its first words, then a turn for each advice that is there when one ends; the exit status.

    `stays`: it waits for more advice until a person stops the session. Raises AcpError.
    """
    ended = agent.prompt(first)
    while tell("turn", stays).get("goes_on"):
        ended = agent.prompt(GO_ON)
    return 0 if ended == "end_turn" else 1


def leave_of(who: str, ask: Callable[[str], bool], tell: Callable[[str, object], Json]) -> Callable[[str], bool]:
    """What decides on what an agent asks to do: a person at the session (`desktop`), `ask`, or always the same answer.
    Each answer is noted in the session."""
    def leave(what: str) -> bool:
        may = tell("leave", what).get("allow") is True if who == "desktop" else (
            ask(what) if who == "ask" else who == "allow")
        tell("note", f"The agent asked for leave: {what}. Answer: {'allow' if may else 'reject'}.")
        return may

    return leave


def main(who: str, first: str, *command: str) -> int:
    """Speak with an agent in a sandbox; gives the exit status."""
    environ = dict(os.environ)
    words = SessionWords(environ["TIPHYS_GATEWAY"], environ["TIPHYS_TOKEN"], float("inf"))
    place = Path(CONVERSATION).expanduser()
    conversation = place.read_text() if first == "load" and place.exists() else ""

    def show(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    try:
        with AcpAgent(command, environ, str(Path.cwd()), on_leave=leave_of(who, lambda _: False, words.tell),
                      on_words=show, tell=words.tell) as agent:
            agent.begin(conversation)
            place.write_text(agent.conversation)
            return converse(agent, words.tell, TAKEN_UP if conversation else environ["TIPHYS_TASK"], stays=False)
    except AcpError as error:
        show(f"{error.sentence}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
