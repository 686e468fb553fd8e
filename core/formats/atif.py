"""Harbor's Agent Trajectory Interchange Format, versions 1.0 to 1.7 (harbor, docs of the ATIF RFC).

One object: `schema_version`, `agent`, `steps`. A continuation that lies beside the file is joined to it; embedded
subagents, and those whose files lie beside it, become sessions of their own that name the step they began at.
A `recording.cast` beside it is replayed, a Harbor trial's result gives scores and end (`harbor`).
The format marks no step as failed. The system prompt is mostly missing, so contexts are approximate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from core.domain.errors import InvalidInput, ReportableError
from core.domain.events import NoteAdded
from core.domain.message import Message, ToolCall
from core.formats import harbor
from core.formats.conversation import Answer, Conversation, Turn
from core.formats.imported import Imported, SessionBuilder
from core.formats.rows import canonical
from core.formats.source import Source
from core.formats.values import as_json, dict_of, dicts_of, float_of, text_of, time_of, usage_of

NAME = "atif"
_DEPTH = 50
"""Continuations, and subagents inside subagents, that are followed."""


def recognises(source: Source) -> bool:
    """Whether the file is an object that names this format's version."""
    return _is_atif(source.object)


def _is_atif(value: dict[str, Any]) -> bool:
    return text_of(value.get("schema_version")).upper().startswith("ATIF") and isinstance(value.get("steps"), list)


def companions(source: Source) -> set[Path]:
    """The files beside this one that reading it reads too: its continuation and its subagents."""
    run = source.object
    refs = [run.get("continued_trajectory_ref"), *(r.get("trajectory_path") for _, r in _references(run))]
    recording = harbor.beside(source.path)
    found = {found for ref in refs if (found := _beside(source.path, ref)) is not None}
    return found | {recording} if recording is not None else found


def read(source: Source) -> Iterator[Imported]:
    """The session of a file, its continuations joined, then its subagents'."""
    run = source.object
    problems = [f"{source.json.problem} What stands before it was read."] if source.json.problem else []
    yield from _read_run(source.path, run, "", 0, problems, 0)


def _read_run(path: Path, run: dict[str, Any], parent: str, parent_step: int, problems: list[str],
              depth: int) -> Iterator[Imported]:
    builder = SessionBuilder(NAME, path.name, _identity(run, parent))
    builder.warnings.extend(problems)
    agent = dict_of(run.get("agent"))
    asked = next((_text(s.get("message")) for s in dicts_of(run.get("steps")) if s.get("source") == "user"), "")
    name = text_of(run.get("session_id")) or text_of(run.get("trajectory_id"))
    title = text_of(run.get("trajectory_id")) if parent else asked[:400]
    builder.create(title or asked[:400] or name, asked, task=name, model=text_of(agent.get("model_name")),
                   parent=parent, parent_step=parent_step)
    runs = list(_joined(path, run, builder))
    times = [time_of(s.get("timestamp")) for r in runs for s in dicts_of(r.get("steps")) if _is_step(s)]
    recording = harbor.Recording(path, builder, times) if not parent else None
    talk, children = _Talk(builder, recording, times), []
    for one in runs:
        children += _add_run(talk, path, one)
    if recording is not None:
        recording.rest()
    if not builder.steps and not parent:
        raise InvalidInput("no_steps", f"{path} holds no step of the agent. {' '.join(problems)}".strip(),
                           path=str(path))
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


def _is_step(step: dict[str, Any]) -> bool:
    return step.get("source") == "agent" and not step.get("is_copied_context")


class _Talk(Conversation):
    """The conversation, with the recording told as far as each step's end."""

    def __init__(self, builder: SessionBuilder, recording: harbor.Recording | None,
                 times: Sequence[datetime | None]) -> None:
        super().__init__(builder)
        self._recording, self._times = recording, times

    def step(self, turn: Turn) -> None:
        """One more step; what the terminal showed until the next one began is told before it."""
        if self._recording is not None:
            place = self.builder.steps + 1
            is_last = place >= len(self._times)
            turn.terminals = self._recording.rest() if is_last else self._recording.until(self._times[place])
        super().step(turn)


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
    return found if found != path and found.is_file() and not found.is_symlink() else None


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


def _references(run: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """The subagents that steps refer to, with the step's place."""
    return [(n, ref) for n, step in enumerate(dicts_of(run.get("steps")))
            for result in dicts_of(dict_of(step.get("observation")).get("results"))
            for ref in dicts_of(result.get("subagent_trajectory_ref"))]


def _add_run(talk: Conversation, path: Path, run: dict[str, Any]) -> list[tuple[dict[str, Any], int]]:
    """The steps of one file; gives the subagents' runs with the steps that called them."""
    builder = talk.builder
    tools = dict_of(run.get("agent")).get("tool_definitions")
    given = builder.blob(canonical(_tools(tools))) if isinstance(tools, list) and tools else ""
    embedded = {text_of(r.get("trajectory_id")) or text_of(r.get("session_id")): r
                for r in dicts_of(run.get("subagent_trajectories"))}
    children: list[tuple[dict[str, Any], int]] = []
    copied, handover = False, False
    for step in dicts_of(run.get("steps")):
        if step.get("is_copied_context") and not copied and builder.steps:
            talk.refs, copied = [], True
        if handover and step.get("source") == "user":  # words of the summary's own agents, not of a person
            talk.tell(Message(role="user", content=_text(step.get("message"))))
        else:
            handover = _add_step(talk, step, given)
        for result in dicts_of(dict_of(step.get("observation")).get("results")):
            for ref in dicts_of(result.get("subagent_trajectory_ref")):
                key = text_of(ref.get("trajectory_id")) or text_of(ref.get("session_id"))
                child = embedded.pop(key, None) or _child_file(path, ref, builder)
                if child is not None:
                    children.append((child, builder.steps))
    _note_totals(builder, dict_of(run.get("final_metrics")))
    return children + [(child, builder.steps) for child in embedded.values()]


def _child_file(path: Path, ref: dict[str, Any], builder: SessionBuilder) -> dict[str, Any] | None:
    name = text_of(ref.get("trajectory_path"))
    told = text_of(dict_of(ref.get("extra")).get("summary")) or text_of(ref.get("session_id"))
    builder.fact(NoteAdded(step=builder.steps, text=f"Subagent: {told or name}"))
    return _load(path, name, builder) if _beside(path, name) else None


def _tools(tools: list[Any]) -> list[dict[str, Any]]:
    """Definitions as our steps name them: name, description, parameters."""
    told = [dict_of(t.get("function")) or t for t in dicts_of(tools)]
    return [{k: t[k] for k in ("name", "description", "parameters") if k in t} for t in told]


def _add_step(talk: Conversation, step: dict[str, Any], tools: str) -> bool:
    """One step of the file; tells whether it was a compaction."""
    text, source = _text(step.get("message")), step.get("source")
    if source == "agent" and step.get("is_copied_context"):
        talk.tell(Message(role="assistant", content=text))
    elif source == "agent":
        talk.step(_turn(step, text, tools))
    elif source == "user" and step.get("is_copied_context"):
        talk.tell(Message(role="user", content=text))
    elif source == "user":
        talk.ask(text, time_of(step.get("timestamp")))
    elif source == "system":
        return _add_system(talk, step, text)
    return False


def _add_system(talk: Conversation, step: dict[str, Any], text: str) -> bool:
    """The system's words; a step that announces a compaction becomes a summary of the steps before."""
    results = dicts_of(dict_of(step.get("observation")).get("results"))
    answered = "\n".join(t for r in results if (t := _text(r.get("content"))))
    managed = text_of(dict_of(dict_of(step.get("extra")).get("context_management")).get("type"))
    summarised = any("summar" in text_of(dict_of(ref.get("extra")).get("summary")).lower()
                     for r in results for ref in dicts_of(r.get("subagent_trajectory_ref")))
    if talk.builder.steps and (managed == "compaction" or summarised):
        talk.summarise(answered or text)
        return True
    if text or answered:
        talk.tell(Message(role="system", content="\n".join(t for t in (text, answered) if t)))
    return False


def _turn(step: dict[str, Any], text: str, tools: str) -> Turn:
    metrics = dict_of(step.get("metrics"))
    calls = tuple(
        ToolCall(id=text_of(c.get("tool_call_id")) or str(n), name=text_of(c.get("function_name")) or "unknown",
                 arguments=as_json(c.get("arguments", {}))) for n, c in enumerate(dicts_of(step.get("tool_calls")), 1))
    results = dicts_of(dict_of(step.get("observation")).get("results"))
    answers = [Answer(text=_text(r.get("content")), call=text_of(r.get("source_call_id")),
                      data={"extra": r["extra"]} if isinstance(r.get("extra"), dict) else {}) for r in results]
    usage = usage_of(metrics.get("prompt_tokens"), metrics.get("completion_tokens"), metrics.get("cached_tokens"),
                     metrics.get("cost_usd"))
    when = time_of(step.get("timestamp"))
    return Turn(thought=text, reasoning=text_of(step.get("reasoning_content")), calls=calls, answers=answers,
                usage=usage, started_at=when, model=text_of(step.get("model_name")), tools=tools)


def _note_totals(builder: SessionBuilder, totals: dict[str, Any]) -> None:
    told = [f"{k} {v}" for k, v in totals.items() if float_of(v) is not None]
    if told:
        builder.fact(NoteAdded(step=0, text="Recorded for the whole run: " + ", ".join(told) + "."))


def _text(value: Any) -> str:
    """A message's text; pictures and other parts are named with where they lie."""
    if not isinstance(value, list):
        return "" if value is None else as_json(value)
    found = []
    for part in dicts_of(value):
        where = text_of(dict_of(part.get("source")).get("path"))
        told = f"[{text_of(part.get('type')) or 'part'}{': ' if where else ''}{where}]"
        found.append(part["text"] if isinstance(part.get("text"), str) else told)
    return "\n".join(found)
