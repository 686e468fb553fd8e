"""Harbor's Agent Trajectory Interchange Format, versions 1.0 to 1.8 (harbor, docs of the ATIF RFC).

One object: `schema_version`, `agent`, `steps`. A continuation that lies beside the file is joined to it; embedded
subagents, and those whose files lie beside it, become sessions of their own that name the step they began at.
A `recording.cast` beside it is replayed, a Harbor trial's result gives scores and end (`harbor`).
The format marks no step as failed. The system prompt is mostly missing, so contexts are approximate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from core.domain.errors import ReportableError
from core.domain.events import NoteAdded
from core.domain.message import Message
from core.formats.chat import make_call, tool_definitions
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.json_items import only
from core.formats.pictures import pictures_in
from core.formats.readers import harbor
from core.formats.rows import canonical
from core.formats.source import Source, is_plain
from core.formats.values import as_json, dict_of, dicts_of, float_of, text_of, time_of, usage_of

NAME = "atif"
_DEPTH = 50
"""Continuations, and subagents inside subagents, that are read."""

_NAMES_FILES, _MOST = (b'"continued_trajectory_ref"', b'"trajectory_path"'), 16 * 1024 * 1024
"""Marks of a trajectory that names other files, and the bytes up to which a file is searched for them."""


def recognises(source: Source) -> bool:
    """Whether the file is an object that names this format's version."""
    return _is_atif(source.object)


def _is_atif(value: dict[str, Any]) -> bool:
    return text_of(value.get("schema_version")).upper().startswith("ATIF") and isinstance(value.get("steps"), list)


def companions(files: Sequence[Path]) -> Iterator[Path]:
    """Continuations, subagents and recordings; large files are read alone."""
    for path in files:
        if path.suffix == ".json":
            with suppress(ReportableError):
                yield from _read_with(Source(path))


def _read_with(source: Source) -> list[Path]:
    recording = harbor.beside(source.path)
    if source.size > _MOST or b'"schema_version"' not in source.data or not (
            recording or any(mark in source.data for mark in _NAMES_FILES)):
        return []
    references = [source.object.get("continued_trajectory_ref")]
    references += [ref.get("trajectory_path") for step in dicts_of(source.object.get("steps"))
                   for result in _results(step) for ref in dicts_of(result.get("subagent_trajectory_ref"))]
    return [found for found in (recording, *(_beside(source.path, ref) for ref in references)) if found is not None]


def read(source: Source) -> Iterator[Imported]:
    """The session of a file, its continuations joined, then its subagents'."""
    run = source.object
    yield from _read_run(source.path, run, "", 0, source.damage, 0)


def _read_run(path: Path, run: dict[str, Any], parent: str, parent_step: int, problems: list[str],
              depth: int) -> Iterator[Imported]:
    builder = SessionBuilder(NAME, path.name, _identity(run, parent), problems)
    agent = dict_of(run.get("agent"))
    asked = next((_text(s.get("message")) for s in dicts_of(run.get("steps")) if s.get("source") == "user"), "")
    name = text_of(run.get("session_id")) or text_of(run.get("trajectory_id"))
    title = text_of(run.get("trajectory_id")) if parent else asked[:400]
    builder.create(title or asked[:400] or name, asked, task=name, model=text_of(agent.get("model_name")),
                   parent=parent, parent_step=parent_step, is_call=bool(parent))
    runs = list(_joined(path, run, builder))
    times = [time_of(s.get("timestamp")) for r in runs for s in only(dicts_of(r.get("steps")), *_MARKS) if _is_step(s)]
    recording = harbor.Recording(path, builder, times) if not parent else None
    conversation, children = _ReplayedConversation(builder, recording, times), []
    for one in runs:
        children += _add_run(conversation, path, one)
    if recording is not None:
        recording.rest()
    if not builder.steps and not parent:
        raise Source(path).without_steps("step of the agent", problems)
    if parent or not harbor.end(builder, path):
        builder.end("finished", "end_not_recorded")
    yield builder.build()
    if depth < _DEPTH:
        for child, step in children:
            yield from _read_run(path, child, builder.session, step, [], depth + 1)


def _joined(path: Path, run: dict[str, Any], builder: SessionBuilder) -> Iterator[dict[str, Any]]:
    """The run and its continuations."""
    for _ in range(_DEPTH):
        yield run
        ref = run.get("continued_trajectory_ref")
        more = _load(path, ref, builder) if ref else None
        if more is None:
            return
        run = more


_MARKS = ("timestamp", "source", "is_copied_context")


def _is_step(step: dict[str, Any]) -> bool:
    return step.get("source") == "agent" and not step.get("is_copied_context")


class _ReplayedConversation(Conversation):
    """The conversation, with the recording replayed as far as each step's end."""

    def __init__(self, builder: SessionBuilder, recording: harbor.Recording | None,
                 times: Sequence[datetime | None]) -> None:
        super().__init__(builder)
        self._recording, self._times = recording, times

    def add_step(self, step: ForeignStep) -> None:
        """One more step; what the terminal showed until the next one began comes before it."""
        if self._recording is not None:
            place = self.builder.steps + 1
            is_last = place >= len(self._times)
            step.terminals = self._recording.rest() if is_last else self._recording.until(self._times[place])
        super().add_step(step)


def _identity(run: dict[str, Any], parent: str) -> bytes:
    names = [run.get("session_id"), run.get("trajectory_id")]
    if not any(isinstance(n, str) and n for n in names):
        return canonical([parent, run.get("agent"), run.get("steps")])
    return canonical([parent, *names])


def _beside(path: Path, ref: Any) -> Path | None:
    """A regular file of that plain name in the same folder."""
    if not isinstance(ref, str) or not ref or ref != Path(ref).name or "\0" in ref or len(ref) > 200:
        return None
    found = path.parent / ref
    return found if found != path and is_plain(found) else None


def _load(path: Path, ref: Any, builder: SessionBuilder) -> dict[str, Any] | None:
    found = _beside(path, ref)
    if found is None:
        builder.warnings.append(f"It goes on in {as_json(ref)[:200]}, which is not beside it.")
        return None
    try:
        other = Source(found)
        run = other.object
    except ReportableError as error:
        builder.warnings.append(str(error))
        return None
    if not _is_atif(run):
        builder.warnings.append(f"It goes on in {found.name}, which is no trajectory.")
        return None
    if other.json.problem:
        builder.warnings.append(f"{found.name}: {other.json.problem}")
    return run


def _results(step: dict[str, Any]) -> list[dict[str, Any]]:
    return dicts_of(dict_of(step.get("observation")).get("results"))


def _add_run(conversation: Conversation, path: Path, run: dict[str, Any]) -> list[tuple[dict[str, Any], int]]:
    """The steps of one file; gives the subagents' runs with the steps that called them."""
    builder = conversation.builder
    tools = dict_of(run.get("agent")).get("tool_definitions")
    definitions = builder.blob(canonical(tool_definitions(tools))) if isinstance(tools, list) and tools else ""
    embedded = {text_of(r.get("trajectory_id")) or text_of(r.get("session_id")): r
                for r in dicts_of(run.get("subagent_trajectories"))}
    children: list[tuple[dict[str, Any], int]] = []
    copied, handover = False, False
    for step in dicts_of(run.get("steps")):
        if step.get("is_copied_context") and not copied and builder.steps:
            conversation.refs, copied = [], True
        if handover and step.get("source") == "user":  # words of the summary's own agents, not of a person
            conversation.add_message(Message(role="user", content=_text(step.get("message"))))
        else:
            handover = _add_step(conversation, step, definitions)
        for result in _results(step):
            for ref in dicts_of(result.get("subagent_trajectory_ref")):
                key = text_of(ref.get("trajectory_id")) or text_of(ref.get("session_id"))
                child = embedded.pop(key, None) or _child_file(path, ref, builder)
                if child is not None:
                    children.append((child, builder.steps))
    builder.totals({k: v for k, v in dict_of(run.get("final_metrics")).items() if float_of(v) is not None})
    return children + [(child, builder.steps) for child in embedded.values()]


def _child_file(path: Path, ref: dict[str, Any], builder: SessionBuilder) -> dict[str, Any] | None:
    name = text_of(ref.get("trajectory_path"))
    title = text_of(dict_of(ref.get("extra")).get("summary")) or text_of(ref.get("session_id"))
    builder.fact(NoteAdded(step=builder.steps, text=f"Subagent: {title or name}"))
    return _load(path, name, builder) if _beside(path, name) else None


def _add_step(conversation: Conversation, step: dict[str, Any], tools: str) -> bool:
    """One step of the file; gives whether it was a compaction."""
    text, source = _text(step.get("message")), step.get("source")
    if source == "agent" and step.get("is_copied_context"):
        conversation.add_message(Message(role="assistant", content=text))
    elif source == "agent":
        conversation.add_step(_read_step(step, text, tools))
    elif source == "user" and step.get("is_copied_context"):
        conversation.add_message(Message(role="user", content=text))
    elif source == "user":
        conversation.add_pictures(step.get("message"))
        conversation.add_person_turn(text, time_of(step.get("timestamp")))
    elif source == "system":
        return _add_system(conversation, step, text)
    return False


def _add_system(conversation: Conversation, step: dict[str, Any], text: str) -> bool:
    """The system's words; a step that announces a compaction becomes a summary of the steps before."""
    results = _results(step)
    output = "\n".join(t for r in results if (t := _text(r.get("content"))))
    managed = text_of(dict_of(dict_of(step.get("extra")).get("context_management")).get("type"))
    summarised = any("summar" in text_of(dict_of(ref.get("extra")).get("summary")).lower()
                     for r in results for ref in dicts_of(r.get("subagent_trajectory_ref")))
    if conversation.builder.steps and (managed == "compaction" or summarised):
        conversation.add_summary(output or text)
        return True
    if text or output:
        conversation.add_message(Message(role="system", content="\n".join(t for t in (text, output) if t)))
    return False


def _read_step(step: dict[str, Any], text: str, tools: str) -> ForeignStep:
    metrics = dict_of(step.get("metrics"))
    calls = tuple(
        make_call(c.get("tool_call_id"), c.get("function_name"), c.get("arguments", {}),
                  n) for n, c in enumerate(dicts_of(step.get("tool_calls")), 1))
    results = [CallResult(
        text=_text(r.get("content")), call=text_of(r.get("source_call_id")), pictures=pictures_in(r.get("content")),
        data={"extra": r["extra"]} if isinstance(r.get("extra"), dict) else {}) for r in _results(step)]
    usage = usage_of(metrics.get("prompt_tokens"), metrics.get("completion_tokens"), metrics.get("cached_tokens"),
                     metrics.get("cost_usd"))
    when = time_of(step.get("timestamp"))
    return ForeignStep(thought=text, reasoning=text_of(step.get("reasoning_content")), calls=calls, results=results,
                       usage=usage, started_at=when, model=text_of(step.get("model_name")), tools=tools)


def _text(value: Any) -> str:
    """A message's text; pictures and other parts are named with where they lie."""
    if not isinstance(value, list):
        return "" if value is None else as_json(value)
    found = []
    for part in dicts_of(value):
        where = text_of(dict_of(part.get("source")).get("path"))
        mark = f"[{text_of(part.get('type')) or 'part'}{': ' if where else ''}{where}]"
        found.append(part["text"] if isinstance(part.get("text"), str) else mark)
    return "\n".join(found)


FORMAT = Format(name=NAME, title="ATIF trajectory", recognises=recognises, read=read, companions=companions)
