"""The stream of `codex exec --json`: JSON Lines of `thread.started`, `turn.…` and `item.…` events.

An item that the agent made is a step: words and reasoning are joined to the call that follows them. Tokens are counted
per turn, so they are a note; there are no times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from core.domain.events import NoteAdded
from core.domain.step import Action, ActionError
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.reading_on import ItemsRead, read_on
from core.formats.records import Records, records
from core.formats.rows import canonical_parts
from core.formats.session_span import by_totals
from core.formats.source import Source
from core.formats.tools import family_of
from core.formats.values import as_json, code_of, dict_of, exit_error, int_of, text_of

NAME = "codex-exec"
_TYPES = frozenset({"thread.started", "turn.started", "turn.completed", "turn.failed", "item.started", "item.updated",
                    "item.completed", "error"})
_WORDS = ("agent_message", "assistant_message", "reasoning")


def recognises(source: Source) -> bool:
    """Whether the first lines are events of such a stream."""
    events = [v for v in source.samples[:20] if isinstance(v, dict)]
    return any(text_of(v.get("type")).startswith(("thread.", "item.", "turn.")) for v in events) and all(
        text_of(v.get("type")) in _TYPES for v in events)


def read(source: Source) -> Iterator[Imported]:
    """The one session of a stream."""
    found = records(source, _outline)
    thread = next((o.thread for o in found.outlines if o.thread), "")
    groups = list(_groups(found.outlines))
    title = next((text_of(_item(found, place).get("text")) for group in groups for place in group.words), "")

    def begin() -> Conversation:
        identity = canonical_parts([thread] if thread else found.items)
        builder = SessionBuilder(NAME, source.name, identity, found.warnings)
        builder.create(title[:400] or source.name, "", task=thread)
        return Conversation(builder)

    def add(done: ItemsRead, place: int) -> None:
        _add(done.conversation, found, groups[place])

    held = source.held if thread else None
    builder = read_on(held, "read", (thread, title), groups, begin, add).conversation.builder
    if not builder.steps:
        raise source.without_steps("item of the agent", found.warnings)
    _end(builder, found)
    yield builder.build()


class _Outline(msgspec.Struct, frozen=True):
    """What is remembered of an event: the name of its thread, of the item that it tells of with its kind, and what was
    used."""

    thread: str = ""
    item: str = ""
    kind: str = ""
    used: dict[str, Any] = {}


_PLAIN = _Outline()


def _outline(place: int, event: dict[str, Any]) -> _Outline:
    thread, used, name, kind = text_of(event.get("thread_id")), dict_of(event.get("usage")), "", ""
    if text_of(event.get("type")).startswith("item."):
        item = dict_of(event.get("item"))
        name, kind = text_of(item.get("id")) or str(place), _kind(item)
    return _Outline(thread, name, kind, used) if thread or name or used else _PLAIN


class _Group(msgspec.Struct, frozen=True):
    """An item and the words before it that are joined to it, by the places of their events; -1: words alone."""

    words: tuple[int, ...]
    item: int
    is_error: bool = False


def _groups(outlines: Sequence[_Outline]) -> Iterator[_Group]:
    """The items in the order in which they began, each in its last form."""
    places = {outline.item: place for place, outline in enumerate(outlines) if outline.item}
    words: list[int] = []
    for place in places.values():
        if outlines[place].kind in _WORDS:
            words.append(place)
        elif outlines[place].kind == "error":
            yield _Group((), place, is_error=True)
        else:
            yield _Group(tuple(words), place)
            words = []
    if words:
        yield _Group(tuple(words), -1)


def _item(events: Records, place: int) -> dict[str, Any]:
    return dict_of(events.items[place].get("item"))


def _add(conversation: Conversation, events: Records, group: _Group) -> None:
    """The conversation goes on with a group."""
    texts = [(events.outlines[place].kind == "reasoning", text_of(_item(events, place).get("text")))
             for place in group.words]
    words, reasons = ([text for is_reason, text in texts if is_reason is wanted] for wanted in (False, True))
    if group.is_error:
        text = f"error: {text_of(_item(events, group.item).get('message'))[:20_000]}"
        conversation.builder.fact(NoteAdded(step=conversation.builder.steps, text=text))
    elif group.item >= 0:
        conversation.add_step(_step(_item(events, group.item), words, reasons))
    else:
        conversation.add_step(ForeignStep(thought="\n\n".join(words), reasoning="\n\n".join(reasons)))


def _kind(item: dict[str, Any]) -> str:
    return text_of(item.get("type")) or text_of(item.get("item_type"))


def _step(item: dict[str, Any], words: list[str], reasons: list[str]) -> ForeignStep:
    kind, name = _kind(item), text_of(item.get("id")) or "1"
    tool = text_of(item.get("tool")) or kind or "unknown"
    hidden = ("id", "type", "item_type", "status", "aggregated_output", "exit_code", "result", "error", "tool")
    arguments = {k: v for k, v in item.items() if k not in hidden}
    action = Action(call_id=name, tool=tool, arguments=arguments, family=family_of(kind))
    code, failed = code_of(item.get("exit_code")), dict_of(item.get("error"))
    error = exit_error(code)
    if error is None and (failed or item.get("status") == "failed"):
        error = ActionError(kind="failed", message=text_of(failed.get("message"))[:2000] or "The item failed.")
    output = item.get("aggregated_output", item.get("result"))
    results = [] if item.get("status") == "in_progress" else [
        CallResult(text="" if output is None else as_json(output), call=name, exit_code=code, error=error)]
    return ForeignStep(thought="\n\n".join(words), reasoning="\n\n".join(reasons), actions=(action,), results=results)


def _end(builder: SessionBuilder, events: Records) -> None:
    for used in [outline.used for outline in events.outlines if outline.used]:
        builder.totals({k: v for k, v in used.items() if int_of(v) is not None}, of="a turn")
    event = events.items[-1] if events.items else {}
    last, failed = text_of(event.get("type")), dict_of(event.get("error"))
    if last == "turn.failed":
        builder.end("failed", "turn_failed", text_of(failed.get("message"))[:2000])
    else:
        builder.end("finished" if last == "turn.completed" else "stopped",
                    "finished" if last == "turn.completed" else "end_not_recorded")


FORMAT = Format(name=NAME, title="Codex exec stream", recognises=recognises, read=read, span=by_totals)
