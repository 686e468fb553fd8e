"""Cline (and Roo Code): `api_conversation_history.json`, a list of Anthropic messages; its SDK: `{messages: […]}`.

Calls are `tool_use` blocks, in older versions XML tags in the text; results are `tool_result` blocks, or texts that
name the call, with its exit code. What a person writes beside results is guidance.
Times, model, tokens and costs are taken where the messages have `ts`, `modelInfo` and `metrics`, else from a
`ui_messages.json` beside the file. Only the SDK's files hold a system prompt, and what else a request added is in
none, so contexts are approximate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from core.domain.message import Message
from core.domain.step import Action, ActionError, Status, Usage
from core.formats.blocks import actions_of, blocks_of, calls_of, results_of, text_blocks, thinking
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.json_text import parse
from core.formats.pictures import pictures_in
from core.formats.readers import cline_ui
from core.formats.readers.cline_ui import ModelRequest
from core.formats.rows import canonical_parts
from core.formats.source import Source
from core.formats.tools import family_of
from core.formats.values import as_json, dict_of, dicts_of, exit_error, int_of, text_of, time_of, usage_of

NAME = "cline"
HISTORY = "api_conversation_history.json"
_TOOLS = ("execute_command", "read_file", "write_to_file", "replace_in_file", "apply_diff", "insert_content",
          "search_files", "list_files", "list_code_definition_names", "browser_action", "use_mcp_tool",
          "access_mcp_resource", "ask_followup_question", "attempt_completion", "new_task", "plan_mode_respond",
          "load_mcp_documentation", "web_fetch", "condense", "switch_mode", "update_todo_list", "use_subagents")
_XML = re.compile(rf"<({'|'.join(_TOOLS)})>(.*?)</\1>", re.DOTALL)
_ARGUMENT = re.compile(r"<(\w{1,40})>(.*?)</\1>", re.DOTALL)
_TASK = re.compile(r"<task>\s*(.*?)\s*</task>", re.DOTALL)
_FEEDBACK = re.compile(r"<(feedback|user_message|answer)>\s*(.*?)\s*</\1>", re.DOTALL)
_RESULT = re.compile(r"\[(?:" + "|".join(_TOOLS) + r")\b[^\n]*\] Result:")
_TITLED = re.compile(r"\[(?P<tool>" + "|".join(_TOOLS) + r"|subagents)\b.{0,20000}?\] Result:\s*", re.DOTALL)
"""How a result begins that is a text; what a call said stands in it, be it of many lines."""

_ENDED = re.compile(r"Command (?:executed successfully \(exit code|failed with exit code) (?P<code>-?\d{1,10})\b")
_DENIED = "The user denied this operation."


def recognises(source: Source) -> bool:
    """Whether the file is a list of such messages, judged by its task, calls or results."""
    messages = _messages(source)[:20]
    if not messages or not all(m.get("role") in ("user", "assistant") and "content" in m for m in messages):
        return False
    return any(_is_ours(m) for m in messages)


def _messages(source: Source) -> list[dict[str, Any]]:
    return dicts_of(source.json.value if source.shape == "list" else source.object.get("messages"))


def _is_ours(message: dict[str, Any]) -> bool:
    if {"modelInfo", "metrics"} & message.keys() and "ts" in message:
        return True
    for block in blocks_of(message.get("content")):
        text = text_of(block.get("text"))
        if block.get("type") in ("tool_use", "tool_result") or "<environment_details>" in text:
            return True
        if _RESULT.search(text) or (message.get("role") == "user" and _TASK.search(text)):
            return True
    return False


def read(source: Source) -> Iterator[Imported]:
    """The one session of a file."""
    messages = _messages(source)
    if not any(m.get("role") == "assistant" for m in messages):
        raise source.without_steps("answer", [source.json.problem])
    first = messages[0]
    named = [first.get("ts"), first.get("id")]
    identity = [*named, first.get("content")] if any(named) else messages
    builder = SessionBuilder(NAME, source.name, canonical_parts(identity), source.damage)
    opening = text_blocks(first.get("content"))
    task = _TASK.search(opening)
    asked = task[1] if task else opening
    requests = _requests(source, messages, builder)
    model = next((t for m in messages if (t := _model(m))), next((r.model for r in requests if r.model), ""))
    builder.create(asked[:400], asked, model=model)
    conversation = Conversation(builder)
    if prompt := text_of(source.object.get("system_prompt")):
        conversation.add_message(Message(role="system", content=prompt))
    requests_left = iter(requests)
    at = 0
    while at < len(messages):
        message = messages[at]
        after = messages[at + 1] if at + 1 < len(messages) else {}
        if message.get("role") == "assistant":
            reply = after if after.get("role") == "user" else {}
            conversation.add_step(_completed(_step(message, reply), next(requests_left, None)))
            _add_words(conversation, reply)
            at += 2 if reply else 1
        else:
            conversation.add_pictures(message.get("content"))
            conversation.add_message(Message(role="user", content=text_blocks(message.get("content"))))
            at += 1
    yield builder.build_without_end()


def companions(files: Sequence[Path]) -> list[Path]:
    """What the program's window showed, beside a conversation."""
    beside = [path.parent / cline_ui.BESIDE for path in files if path.name == HISTORY and _messages(Source(path))]
    return [path for path in beside if path in files]


def _requests(source: Source, messages: list[dict[str, Any]], builder: SessionBuilder) -> list[ModelRequest]:
    """The requests in the file beside, where there is one for each answer."""
    found, problem = cline_ui.requests_beside(source.path)
    answers = sum(m.get("role") == "assistant" for m in messages) if found else 0
    if found and len(found) != answers:
        problem = (f"{cline_ui.BESIDE} tells of {len(found)} requests, and there are {answers} answers: their times "
                   "and costs were not joined.")
    if problem:
        builder.warnings.append(problem)
    return found if len(found) == answers else []


def _completed(step: ForeignStep, request: ModelRequest | None) -> ForeignStep:
    """The step with what only the request beside it holds."""
    if request is not None:
        step.started_at = step.started_at or request.at
        step.usage = request.usage if step.usage == Usage() else step.usage
        step.model = step.model or request.model
    return step


def _add_words(conversation: Conversation, message: dict[str, Any]) -> None:
    """What a person wrote into the message that holds the results; its other text enters the context."""
    blocks = blocks_of(message.get("content"))
    found = [t for b in blocks if b.get("type") == "text" and (t := text_of(b.get("text")))]
    texts = [t for t in found if not _TITLED.match(t)]
    results = " ".join([text_blocks(b.get("content")) for b in blocks if b.get("type") == "tool_result"])
    conversation.add_pictures([b for b in blocks if b.get("type") == "image"])
    for text in texts:
        conversation.add_message(Message(role="user", content=text))
    for words in _FEEDBACK.finditer("\n".join([*found, results])):
        conversation.add_guidance(words[2], time_of(message.get("ts")))


def _step(message: dict[str, Any], reply: dict[str, Any]) -> ForeignStep:
    content = message.get("content")
    text, calls = text_blocks(content), calls_of(content)
    actions = actions_of(content, calls)
    results = [_result(b) for b in results_of(reply.get("content"))]
    if not calls and (found := list(_XML.finditer(text))):
        actions = tuple(Action(call_id=str(n), tool=m[1], family=family_of(m[1]),
                               arguments={a[1]: a[2].strip() for a in _ARGUMENT.finditer(m[2])})
                        for n, m in enumerate(found, 1))
        text = _XML.sub("", text).strip()
    if not results:
        results = list(_titled(reply, [(a.call_id, a.tool) for a in actions]))
    return ForeignStep(thought=text, completion=text_blocks(content), reasoning=thinking(content), calls=calls,
                       actions=actions, results=results, usage=_usage(dict_of(message.get("metrics"))),
                       started_at=time_of(message.get("ts")), ended_at=time_of(reply.get("ts")),
                       model=_model(message))


def _model(message: dict[str, Any]) -> str:
    info = dict_of(message.get("modelInfo"))
    return text_of(info.get("modelId")) or text_of(info.get("id"))


def _usage(metrics: dict[str, Any]) -> Usage:
    """`cached` counts what was written to and read from the cache, and is not part of `prompt`."""
    tokens = dict_of(metrics.get("tokens"))
    given = int_of(tokens.get("prompt"))
    if given is not None:
        whole = given + (int_of(tokens.get("cached")) or 0)
        return usage_of(whole, tokens.get("completion"), None, metrics.get("cost"))
    return usage_of(metrics.get("inputTokens"), metrics.get("outputTokens"), metrics.get("cacheReadTokens"),
                    metrics.get("cost"))


def _titled(reply: dict[str, Any], made: list[tuple[str, str]]) -> Iterator[CallResult]:
    """Results that are texts, each of the first call of its tool that has none; `made` are ids and tools."""
    for text in (text_of(b.get("text")) for b in blocks_of(reply.get("content"))):
        if (title := _TITLED.match(text)) is not None:
            tool = title["tool"].removeprefix("use_")
            call = next((one for one in made if one[1].removeprefix("use_") == tool), None)
            if call is not None:
                made.remove(call)
            code, error = _outcome(text, title.end())
            yield CallResult(text=text, call=call[0] if call else "", role="user", exit_code=code, error=error,
                             status=_status(error))


def _outcome(text: str, at: int = 0) -> tuple[int | None, ActionError | None]:
    """The exit code of a command, in the program's own words before its output, and what went wrong."""
    if text.startswith(_DENIED, at):
        return None, ActionError(kind="refused", message=_DENIED)
    code = int(ended["code"]) if (ended := _ENDED.match(text, at)) else None
    return code, exit_error(code)


def _status(error: ActionError | None) -> Status:
    return "refused" if error is not None and error.kind == "refused" else "finished"


def _result(block: dict[str, Any]) -> CallResult:
    """The SDK's tools answer with objects of `{query, result, success}`, in a list or as JSON text."""
    content = block.get("content")
    parts = _rows(content)
    text = as_json(content) if parts and not any("type" in p for p in parts) else text_blocks(content)
    failed = block.get("is_error") is True or any(p.get("success") is False for p in parts if "query" in p)
    title = _TITLED.match(text)
    code, error = _outcome(text, title.end() if title else 0)
    error = ActionError(kind="tool_error", message=text[:500]) if failed else error
    return CallResult(text=text, call=text_of(block.get("tool_use_id")), error=error, exit_code=code,
                      status=_status(error), pictures=pictures_in(content))


def _rows(content: Any) -> list[dict[str, Any]]:
    """The objects of a result's content."""
    if isinstance(content, str):
        return dicts_of([parse(content.encode("utf-8", "replace")).value]) if content.startswith('{"') else []
    return dicts_of(content)


FORMAT = Format(name=NAME, title="Cline conversation", recognises=recognises, read=read, rank=1, companions=companions)
