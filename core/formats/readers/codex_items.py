"""The items of a Codex rollout: calls, their results, messages, and which lines count the tokens of an answer.

An output is text. What a command's output says of itself stands in a header (`Chunk ID`, `Wall time`, `Process exited
with code …`, up to `Output:`), or in JSON text of `{output, metadata}`; what the program says instead of running a
call begins with its own words. Where a rollout keeps the `…_end` events or whole items, their codes and outcomes come
first.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from core.domain.message import Message, ToolCall
from core.domain.step import ActionError
from core.formats.chat import make_call, parts_text, role_of
from core.formats.conversation import CallResult
from core.formats.pictures import pictures_in
from core.formats.values import as_json, code_of, dict_of, dicts_of, exit_error, float_of, text_of, time_of

CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call",
         "image_generation_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output", "tool_search_output")
ANSWERS = (*CALLS, "reasoning", "message")
MESSAGES = ("message", "agent_message")
"""A person's, the program's or the model's words; those of another agent of the same team."""

_HEADER = re.compile(r"\A(?:.*\n){0,8}?Output:[ \n]")
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:|exit code:?) (-?\d{1,10})\b", re.MULTILINE)
_SECONDS = re.compile(r"^Wall time: (\d{1,9}(?:\.\d{1,9})?) seconds\s*$", re.MULTILINE)
_SANDBOX = re.compile(r"failed in sandbox \S+ with execution error: [^,\n]{0,80}, exit code: (-?\d{1,10})\b")
_REFUSED = ("failed in sandbox ", "execution error: ", "exec_command failed ", "write_stdin failed",
            "unsupported call: ", "apply_patch verification failed", "tool call error: ",
            "failed to parse function arguments", "unable to locate image at ")
_ABORTED = "aborted by user"


_CONTEXT = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<permissions",
            "<INSTRUCTIONS>", "<turn_aborted>", "<collaboration_mode>", "<user_shell_command>", "<skill>",
            "<subagent_notification>")
"""How messages begin that bear the role of a person, and that the program wrote."""


class Line(msgspec.Struct, frozen=True, gc=False):
    """One line of a rollout: its kind (of a response item: "response_item"), its payload and its time."""

    kind: str
    payload: dict[str, Any]
    at: Any
    has_text: bool = False
    """Of an outline: whether a message has words, a reasoning thoughts in the clear."""

    @property
    def event(self) -> str:
        """What an `event_msg` tells of; "" for other lines."""
        return text_of(self.payload.get("type")) if self.kind == "event_msg" else ""

    @property
    def is_answer(self) -> bool:
        """Whether the model made it."""
        kind, role = self.payload.get("type"), self.payload.get("role")
        return self.kind == "response_item" and (kind in ANSWERS or kind is None) and (
            role == "assistant" if kind in ("message", None) else True)


def line_of(record: dict[str, Any]) -> Line:
    """A record as a line, in the form before 0.32 too."""
    if isinstance(record.get("payload"), dict):
        return Line(text_of(record.get("type")), record["payload"], time_of(record.get("timestamp")))
    return Line("response_item" if "type" in record else "session_meta", record, time_of(record.get("timestamp")))


_RUN = ("CommandExecution", "FileChange", "McpToolCall", "DynamicToolCall")
_OUTLINED = ("type", "role", "call_id", "id", "info", "exit_code", "success", "num_turns")


def outline(place: int, record: dict[str, Any]) -> Line:
    """The line with as much of its payload as decides where it belongs, without its texts."""
    line = line_of(record)
    if line.kind == "turn_context":
        held = {"model": line.payload.get("model")}
    elif line.kind == "session_meta" or line.event == "task_started":
        held = line.payload
    elif line.event == "item_completed":
        held = _end_of(dict_of(line.payload.get("item")))
    else:
        held = {key: line.payload[key] for key in _OUTLINED if key in line.payload}
    if "Err" in dict_of(line.payload.get("result")):
        held["result"] = {"Err": True}
    alike = tuple(held.items())
    if len(alike) < 3 and all(type(value) is str and len(value) < 20 for value in held.values()):
        held = _alike(alike)
    return Line(sys.intern(line.kind), held, line.at, line.kind == "response_item" and _has_text(line.payload))


def _end_of(item: dict[str, Any]) -> dict[str, Any]:
    """What a version that tells of whole items (0.169) says of a call's end, as the `…_end` events of earlier ones."""
    if item.get("type") not in _RUN:
        return {"type": "item_completed"}
    found = {"type": "item_end", "call_id": item.get("id"), "exit_code": item.get("exit_code")}
    return {**found, "success": False} if item.get("status") in ("failed", "declined") else found


@lru_cache(maxsize=200)
def _alike(held: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """What many lines say of themselves, once."""
    return dict(held)


def _has_text(payload: dict[str, Any]) -> bool:
    if payload.get("type") == "reasoning":
        return bool(thoughts(payload))
    return payload.get("type") in (*MESSAGES, None) and bool(parts_text(payload.get("content")))


def thoughts(payload: dict[str, Any]) -> list[str]:
    """The texts of a reasoning."""
    parts = dicts_of(payload.get("summary")) + dicts_of(payload.get("content"))
    return [text for part in parts if (text := text_of(part.get("text")))]


def is_turn(role: object, text: str) -> bool:
    """Whether a message is what a person typed."""
    return role == "user" and not text.lstrip().startswith(_CONTEXT)


def own_counts(lines: Sequence[Line]) -> dict[int, dict[str, Any]]:
    """What an answer used, by the place of the first line that says it.

    The program says its counts again whenever a limit changes, and estimates after a compaction: then the total of the
    session stands still, or nothing was read and written.
    """
    found: dict[int, dict[str, Any]] = {}
    before: Any = None
    for place, line in enumerate(lines):
        info = dict_of(line.payload.get("info")) if line.event == "token_count" else {}
        used = dict_of(info.get("last_token_usage"))
        total = dict_of(info.get("total_token_usage")) or used
        if used and total != before:
            before = total
            if used.get("input_tokens") or used.get("output_tokens"):
                found[place] = used
    return found


def leading_counts(lines: Sequence[Line], counts: dict[int, dict[str, Any]]) -> set[int]:
    """The places of the counts that stand before the answer they belong to, as versions before 0.58 wrote them.

    It is judged anew in each stretch between requests, since a session may be resumed by another version.
    """
    leading: set[int] = set()
    stretch: bool | None = None
    for place, line in enumerate(lines):
        if _is_border(line):
            stretch = None
        elif stretch is None and (line.is_answer or place in counts):
            stretch = place in counts
        if stretch and place in counts:
            leading.add(place)
    return leading


def will_count(lines: Sequence[Line]) -> bool:
    """Whether the first count is still to come: a file that is being written may not be cut by results meanwhile,
    for the count that follows would join what was cut."""
    events = {line.event for line in lines}
    return "task_started" in events and not events & {"token_count", "task_complete", "turn_aborted"}


def _is_border(line: Line) -> bool:
    words = line.kind == "response_item" and line.payload.get("role") not in (None, "assistant")
    return words or line.kind in ("turn_context", "compacted", "session_meta") or line.event == "task_started"


def call_name(item: dict[str, Any], place: int) -> str:
    """The id of a call; `place` names it where it has none."""
    return text_of(item.get("call_id")) or text_of(item.get("id")) or str(place)


def call(item: dict[str, Any], place: int) -> ToolCall:
    """The call that an item is (see `call_name`)."""
    kind = item.get("type")
    name = text_of(item.get("name")) or text_of(kind).removesuffix("_call")
    arguments = item.get("arguments", item.get("input", item.get("action", {})))
    if kind == "custom_tool_call" and isinstance(arguments, str):
        arguments = json.dumps({"input": arguments})
    return make_call(call_name(item, place), name, arguments)


def message(item: dict[str, Any]) -> Message | None:
    """An item of a history that replaces another as a message; None for what the model is not shown in words."""
    kind, name = item.get("type", "message"), text_of(item.get("call_id"))
    if kind in MESSAGES:
        return Message(role=role_of(item.get("role")) or "user", content=parts_text(item.get("content")))
    if kind in CALLS:
        return Message(role="assistant", content="", tool_calls=(call(item, 1),))
    if kind in OUTPUTS:
        return Message(role="tool", content=_content(item.get("output"))[0], tool_call_id=name)
    if kind in ("compaction", "compaction_summary", "context_compaction"):
        return Message(role="user", content="[encrypted summary]")
    return None


def _content(output: Any) -> tuple[str, dict[str, Any]]:
    """The text of an output, and the object that it was in."""
    value = output
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = output
    if isinstance(value, dict) and ("output" in value or "content" in value):
        inner = value.get("output", value.get("content"))
        return parts_text(inner) if isinstance(inner, list) else as_json(inner), value
    return parts_text(output) if isinstance(output, list) else as_json("" if output is None else output), {}


def result(line: Line, end: dict[str, Any]) -> CallResult:
    """What a line answers to a call; `end` is what the event of its end says."""
    text, whole = _content(line.payload.get("output"))
    meta = dict_of(whole.get("metadata"))
    header = found[0] if (found := _HEADER.match(text)) else text[:200].partition("\n")[0]
    stated = _EXIT.search(header) or _SANDBOX.match(text)
    codes = (code_of(end.get("exit_code")), code_of(meta.get("exit_code")), int(stated[1]) if stated else None)
    code = next((c for c in codes if c is not None), None)
    timed = _SECONDS.search(header)
    seconds = float_of(meta.get("duration_seconds"))
    seconds = float(timed[1]) if seconds is None and timed else seconds
    aborted = text.startswith(_ABORTED)
    return CallResult(text=text, call=text_of(line.payload.get("call_id")), exit_code=code, ended_at=line.at,
                      error=_error(text, code, end, aborted, whole.get("success")),
                      status="killed" if aborted else "finished",
                      data={} if seconds is None else {"duration_s": seconds},
                      pictures=pictures_in(line.payload.get("output")))


def _error(text: str, code: int | None, end: dict[str, Any], aborted: bool, success: Any) -> ActionError | None:
    if aborted:
        return ActionError(kind="interrupted", message="A person interrupted the action.")
    failed = success is False or end.get("success") is False or "Err" in dict_of(end.get("result"))
    if failed or text.startswith(_REFUSED):
        return exit_error(code) or ActionError(kind="tool_error", message=text[:500])
    return exit_error(code)
