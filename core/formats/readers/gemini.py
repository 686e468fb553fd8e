"""Gemini CLI: a chat recording (`{sessionId, messages}` or its JSON Lines form), or a checkpoint's list of contents.

A message of gemini is a step with its `toolCalls`. Its tokens of thought count as output. A user's later message is
guidance. A history that takes the place of the one before (`$set`) begins later contexts; the steps before it stay.
A subagent's recording (`kind: subagent`) lies in a folder named as the session that called it, whose call names it by
`agentId`. The system prompt is not in the file, so contexts are approximate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from core.domain.events import NoteAdded
from core.domain.message import Message
from core.domain.step import ActionError, Usage
from core.formats.chat import make_call
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.json_items import only
from core.formats.pictures import pictures_in
from core.formats.records import records
from core.formats.rows import canonical_parts
from core.formats.source import Source
from core.formats.subagent_files import calling_step, is_name
from core.formats.values import as_json, dict_of, dicts_of, sum_of, text_of, time_of, usage_of

NAME = "gemini-cli"
_TYPES = ("user", "gemini", "info", "error", "warning")


def recognises(source: Source) -> bool:
    """Whether the file is a recording of a chat or the contents of one."""
    if source.shape == "lines":
        return any(isinstance(v, dict) and "sessionId" in v and "projectHash" in v for v in source.samples[:3])
    if source.shape == "list":
        contents = dicts_of(list(source.samples))
        return bool(contents) and any(m.get("role") == "model" for m in contents) and all(
            isinstance(m.get("parts"), list) for m in contents)
    return "sessionId" in source.object and any(
        m.get("type") in _TYPES for m in dicts_of(source.object.get("messages"))[:20])


def read(source: Source) -> Iterator[Imported]:
    """The one session of a file."""
    found = records(source)
    head = next((r for r in found.items if "sessionId" in r), {})
    messages: Iterable[dict[str, Any]]
    if source.shape == "list":
        messages = _checkpoint(found.items)
        asked, model = _beginning(messages)
    else:
        messages = recorded = _Messages(head, found.items)
        asked, model = recorded.asked, recorded.model
    name, caller = text_of(head.get("sessionId")), _caller(source.path) if head.get("kind") == "subagent" else ""
    builder = SessionBuilder(NAME, source.name, canonical_parts([name] if name else found.items), found.warnings)
    parent = SessionBuilder(NAME, source.name, canonical_parts([caller])).session if caller else ""
    builder.create(text_of(head.get("summary")) or asked[:400], asked, task=name, model=model, parent=parent,
                   parent_step=_calling_step(source.path, caller, name) if caller else 0, is_call=bool(caller))
    conversation = Conversation(builder)
    for message in messages:
        _add(conversation, message, is_called=bool(caller))
    if not builder.steps:
        raise source.without_steps("answer of the model", found.problems[:3])
    yield builder.build_without_end()


def _caller(path: Path) -> str:
    """The session that called the subagent whose recording this is; "" where its folder does not say so."""
    return name if is_name(name := path.parent.name) and name != "chats" else ""


def _calling_step(path: Path, caller: str, agent: str) -> int:
    """The step of the caller's recording that called; 0 where that is not where the program puts it."""
    chats = path.parent.parent
    files = (f for pattern in (f"session-*{caller[:8]}.json*", f"*/{caller}.json*") for f in chats.glob(pattern))
    return calling_step(files, _steps_of, agent)


def _steps_of(path: Path) -> Mapping[str, int]:
    """The steps of a recording that called subagents, by their ids."""
    found = records(Source(path))
    head = next((r for r in found.items if "sessionId" in r), {})
    answers = (m for m in _Messages(head, found.items) if m.get("type") == "gemini")
    return {agent: number for number, message in enumerate(answers, 1) for call in dicts_of(message.get("toolCalls"))
            if (agent := text_of(call.get("agentId")))}


def _beginning(messages: Iterable[dict[str, Any]]) -> tuple[str, str]:
    """What a person asked first, and the first model."""
    asked = next((_words(m.get("content")) for m in messages if m.get("type") == "user"), "")
    return asked, next((t for m in messages if (t := text_of(m.get("model")))), "")


class _Messages:
    """The messages in order: the last form of one that was recorded again, and none after a point gone back to.

    A history that took the place of the one before (results masked, or all compressed) stands among them as `{"$set"}`,
    as far as it was not gone back on; `is_new` says whether it holds what nobody had recorded.
    """

    def __init__(self, head: dict[str, Any], items: Sequence[dict[str, Any]]) -> None:
        self._parts = dicts_of(head.get("messages")), items
        self._found: dict[str, tuple[int, str, str]] = {}
        """Of each that stays its place, type and model."""
        self._history: dict[str, list[str]] = {}
        """What each history holds; a later one of them may go back on it."""
        members = ("$rewindTo", "$set", "type", "id", "model")
        for place, message in enumerate(chain(*(only(part, *members) for part in self._parts))):
            if back := text_of(message.get("$rewindTo")):
                self._go_back(back)
            elif (kind := message.get("type")) in _TYPES:
                self._found[text_of(message.get("id")) or str(place)] = place, kind, text_of(message.get("model"))
            elif isinstance(history := dict_of(message.get("$set")).get("messages"), list):
                self._found[key := f"$set {place}"] = place, "history", ""
                self._history[key] = [text_of(one.get("id")) for one in dicts_of(history)]
        self.model = next((model for _, _, model in self._found.values() if model), "")
        first = next((place for place, kind, _ in self._found.values() if kind == "user"), None)
        self.asked = "" if first is None else _words(self._at(first).get("content"))
        """The first model, and what a person asked first."""

    def _go_back(self, back: str) -> None:
        """Nothing from that message on; to one that is not here means before all that is."""
        found, histories = self._found, self._history
        names = list(found)
        last = next((key for key in reversed(names) if back in histories.get(key, ())), "")
        at = names.index(back) if back in found else names.index(last) + 1 if last else 0
        self._found = {name: found[name] for n, name in enumerate(names) if n < at or name == last}
        if last:
            histories[last] = histories[last][: histories[last].index(back)]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for name, (place, _, _) in self._found.items():
            message = self._at(place)
            if (held := self._history.get(name)) is None:
                yield message
                continue
            history = dicts_of(dict_of(message["$set"]).get("messages"))[: len(held)]
            yield {"type": "history", "messages": history, "is_new": any(
                one.get("type") == "user" and name not in self._found and not _answers(one)
                for one, name in zip(history, held, strict=True))}

    def _at(self, place: int) -> dict[str, Any]:
        first, rest = self._parts
        return first[place] if place < len(first) else rest[place - len(first)]


def _checkpoint(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The contents of a checkpoint as messages of a recording."""
    made: list[dict[str, Any]] = []
    for item in items:
        parts = dicts_of(item.get("parts"))
        if item.get("role") == "model":
            calls = [{"id": text_of(c.get("id")) or str(n), "name": c.get("name"), "args": c.get("args")}
                     for n, p in enumerate(parts) if (c := dict_of(p.get("functionCall")))]
            thoughts = [{"description": p.get("text")} for p in parts if p.get("thought") is True]
            made.append({"type": "gemini", "content": [p for p in parts if p.get("thought") is not True],
                         "toolCalls": calls, "thoughts": thoughts})
        elif results := [r for p in parts if (r := dict_of(p.get("functionResponse")))]:
            calls = made[-1].get("toolCalls", []) if made else []
            for call, result in zip(calls, results, strict=False):
                call["result"] = [{"functionResponse": result}]
        else:
            made.append({"type": "user", "content": parts})
    return made


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, map(_part, content if isinstance(content, list) else [content])))


def _part(part: Any) -> str:
    """A part in words; calls, answers to them and thoughts are told apart from them."""
    found = dict_of(part)
    if isinstance(part, str) or found.keys() & {"functionCall", "functionResponse"} or found.get("thought") is True:
        return text_of(part)
    return text_of(found.get("text")) or (f"[{next(iter(found), 'part')}]" if part else "")


def _answers(message: dict[str, Any]) -> list[dict[str, Any]]:
    """What stands in a message as an answer to calls."""
    return [p for p in dicts_of(message.get("content")) if "functionResponse" in p]


def _add(conversation: Conversation, message: dict[str, Any], *, is_called: bool) -> None:
    """One message. What a subagent is told after its task is the program's, or its caller's."""
    kind = message.get("type")
    if kind == "gemini":
        conversation.add_step(_step(message))
        return
    at, text = time_of(message.get("timestamp")), _words(message.get("content"))
    if kind == "user" and is_called and conversation.builder.steps:
        if not _answers(message):
            conversation.add_message(Message(role="user", content=text))
    elif kind == "user" and not _answers(message):
        conversation.add_pictures(message.get("content"))
        conversation.add_person_turn(text, at)
    elif kind == "history":
        _begin_anew(conversation, dicts_of(message["messages"]), message["is_new"] is True)
    elif kind in ("error", "warning"):
        conversation.builder.fact(NoteAdded(step=conversation.builder.steps, text=f"{kind}: {text[:20_000]}"), at=at)


def _begin_anew(conversation: Conversation, history: Sequence[dict[str, Any]], is_compressed: bool) -> None:
    """Later contexts begin with that history; its first words are the summary where it was compressed."""
    if is_compressed and conversation.builder.steps:
        conversation.add_summary(next((_words(m.get("content")) for m in history), ""), enters_context=False)
    conversation.refs = []
    for message in history:
        if message.get("type") == "gemini":
            conversation.add_past(_step(message))
        elif message.get("type") == "user" and not _answers(message):
            conversation.add_message(Message(role="user", content=_words(message.get("content"))))


def _step(message: dict[str, Any]) -> ForeignStep:
    """An answer; the content of later versions holds its thoughts and calls as well."""
    parts = dicts_of(message.get("content"))
    called = dicts_of(message.get("toolCalls"))
    known = {text_of(c.get("id")) for c in called}
    called += [c for p in parts if (c := dict_of(p.get("functionCall"))) and text_of(c.get("id")) not in known]
    calls = tuple(make_call(c.get("id"), c.get("name"), c.get("args") or {}, n) for n, c in enumerate(called, 1))
    thoughts = [text_of(p.get("text")) for p in parts if p.get("thought") is True] or [
        ": ".join(t for t in (text_of(th.get("subject")), text_of(th.get("description"))) if t)
        for th in dicts_of(message.get("thoughts"))]
    results = [_result(c, calls[n].id) for n, c in enumerate(called) if c.get("result") or c.get("status")]
    return ForeignStep(thought=_words(message.get("content")), reasoning="\n".join(thoughts), calls=calls,
                       results=results, started_at=time_of(message.get("timestamp")),
                       usage=_usage(dict_of(message.get("tokens"))),
                       model=text_of(message.get("model")))


def _usage(tokens: dict[str, Any]) -> Usage:
    return usage_of(sum_of(tokens, "input", "tool"), sum_of(tokens, "output", "thoughts"), tokens.get("cached"))


def _result(call: dict[str, Any], name: str) -> CallResult:
    texts, failed = [], ""
    for part in dicts_of(call.get("result")):
        answer = dict_of(part.get("functionResponse"))
        if text_of(answer.get("id")) not in ("", name):
            continue  # a history that was written over gives each call the answers to all
        response = dict_of(answer.get("response"))
        failed = failed or (as_json(response["error"]) if response.get("error") else "")
        output = response.get("output", response.get("error"))
        texts.append(as_json(output) if output is not None else text_of(part.get("text")))
    text = "\n".join(t for t in texts if t) or text_of(call.get("resultDisplay"))
    status = call.get("status")
    error = ActionError(kind="tool_error", message=(failed or text)[:2000]) if status == "error" or failed else None
    if status == "cancelled":
        error = ActionError(kind="cancelled", message=text[:500] or "A person cancelled the action.")
    return CallResult(text=text, call=name, error=error, status="killed" if status == "cancelled" else "finished",
                      ended_at=time_of(call.get("timestamp")), pictures=pictures_in(call.get("result")))


FORMAT = Format(name=NAME, title="Gemini CLI chat", recognises=recognises, read=read)
