"""SWE-agent `.traj` files, versions 0.x to 1.x.

One JSON object with `trajectory` (the steps) and `history` (the messages), or `history` alone. The format marks
no step as failed, has no times and counts tokens per run only, so none of these is made up here.
Field by field: the project's documentation, docs/usage/trajectories.md of SWE-agent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from core.domain.action_kinds import Family
from core.domain.context import MessageRef
from core.domain.message import Message
from core.domain.step import Action, Observation, Output, StepBody
from core.formats.chat import action_of, content_text, read_calls, role_of
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.json_text import parse
from core.formats.rows import canonical_parts
from core.formats.source import Source
from core.formats.values import dict_of, dicts_of, text_of

NAME = "swe-agent"
_FILE_COMMANDS = frozenset({"open", "goto", "scroll_up", "scroll_down", "create", "edit", "insert", "find_file",
                            "search_dir", "search_file", "str_replace_editor", "filemap", "view"})


def recognises(source: Source) -> bool:
    """Whether the file is an object with SWE-agent's steps or its annotated history."""
    value = source.object
    steps, history = value.get("trajectory"), value.get("history")
    return _all_have(steps, ("action", "observation")) or (not steps and _all_have(history, ("role", "agent")))


def read(source: Source) -> Iterator[Imported]:
    """The one session of a file; of a damaged file, the steps before the damage."""
    parsed = source.json
    run = parsed.value
    builder = SessionBuilder(NAME, source.name, canonical_parts(run), is_named=False)
    history = [m for m in dicts_of(run.get("history")) if not m.get("is_demo")]
    steps = dicts_of(run.get("trajectory")) or _steps_of_history(history)
    if not steps:
        raise source.without_steps("step", [parsed.problem])
    asked = next((content_text(m.get("content")) for m in history if m.get("role") == "user"), "")
    title = source.name.removesuffix(".traj")
    builder.create(title, asked, task=title, model=_model_name(run))
    _add_steps(builder, steps, history)
    if parsed.problem:
        builder.warnings.append(f"{parsed.problem} The {len(steps)} steps before it were read.")
    _end(builder, dict_of(run.get("info")))
    yield builder.build()


def _all_have(items: Any, keys: tuple[str, ...]) -> bool:
    return isinstance(items, list) and bool(items) and all(
        isinstance(i, dict) and all(k in i for k in keys) for i in items[:3])


def _inner(text: str) -> dict[str, Any]:
    """The object that a text of the file holds as JSON; empty where it holds none."""
    return dict_of(parse(text.encode()).value) if text.lstrip().startswith("{") else {}


def _model_name(run: dict[str, Any]) -> str:
    config = run.get("replay_config")
    if isinstance(config, str):
        config = _inner(config)
    agent = dict_of(dict_of(config).get("agent"))
    name = dict_of(agent.get("model")).get("name") or dict_of(agent.get("model")).get("model_name")
    return name if isinstance(name, str) else ""


def _steps_of_history(history: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The steps of a file without `trajectory`: each assistant message with the message after it."""
    found = []
    for message, after in zip(history, [*history[1:], {}], strict=True):
        if message.get("role") == "assistant":
            answered = after.get("role") in ("user", "tool")
            found.append({"thought": message.get("thought", ""), "action": message.get("action", ""),
                          "response": content_text(message.get("content")),
                          "observation": content_text(after.get("content")) if answered else None})
    return found


def _add_steps(builder: SessionBuilder, steps: Sequence[dict[str, Any]], history: Sequence[dict[str, Any]]) -> None:
    places = _align(steps, history)
    refs = [builder.message(_message(m), "approximate") for m in history]
    contexts = [_context(builder, step, refs, place) for step, place in zip(steps, places, strict=True)]
    for number, (step, place) in enumerate(zip(steps, places, strict=True), 1):
        message = history[place] if place is not None and place < len(history) else {}
        completion = refs[place] if message and place is not None else None
        builder.step(_body(number, step, message), contexts[number - 1], completion)
    if any("query" not in s for s in steps):
        builder.warnings.append("The file does not hold the exact input of every step: contexts are taken from its "
                                "history and may differ from what the model was given.")
    if unknown := sum(c is None for c in contexts):
        builder.warnings.append(
            f"The history does not match the steps, so {unknown} of {len(steps)} contexts are unknown.")


def _align(steps: Sequence[dict[str, Any]], history: Sequence[dict[str, Any]]) -> list[int | None]:
    """For each step the place of its assistant message in the history, which may leave answers out, as those that the
    agent refused as they stood; None where that is not sure. len(history) for a step just after its end."""
    spoken = [n for n, message in enumerate(history) if message.get("role") == "assistant"]
    heard = [history[n].get("action", "") for n in spoken]
    is_blank_held = "" in heard
    given = [n for n, step in enumerate(steps) if is_blank_held or text_of(step.get("action")).strip()]
    pairs = _pairs(heard, [steps[n].get("action") for n in given])
    places = {given[step]: spoken[place] for place, step in pairs}
    if (len(pairs) == len(spoken) and given and given[-1] == len(steps) - 1 and places.keys() >= {*given[-2:-1]}
            and history and history[-1].get("role") != "assistant"):
        places.setdefault(given[-1], len(history))
    return [places.get(n) for n in range(len(steps))]


def _pairs(heard: Sequence[Any], done: Sequence[Any]) -> list[tuple[int, int]]:
    """The places in `heard` and in `done` that are one action: as far as both begin alike; beyond that those that are
    one wherever what is left out stood."""
    alike = next((n for n, (one, other) in enumerate(zip(heard, done, strict=False)) if one != other),
                 min(len(heard), len(done)))
    first, last = _places(heard, done), _places(heard[::-1], done[::-1])
    if alike == len(heard) or first is None or last is None:
        return [(n, n) for n in range(alike)]
    return [(n, at) for n, (at, back) in enumerate(zip(first, reversed(last), strict=True))
            if at == len(done) - 1 - back]


def _places(heard: Sequence[Any], done: Sequence[Any]) -> list[int] | None:
    """Where each stands in `done` at the earliest, in order; None where one does not."""
    found: list[int] = []
    for one in heard:
        at = next((n for n in range(found[-1] + 1 if found else 0, len(done)) if done[n] == one), None)
        if at is None:
            return None
        found.append(at)
    return found


def _context(
    builder: SessionBuilder, step: dict[str, Any], refs: Sequence[MessageRef], place: int | None
) -> list[MessageRef] | None:
    if query := dicts_of(step.get("query")):
        return [builder.message(_message(m)) for m in query]
    return None if place is None else list(refs[:place])


def _message(message: dict[str, Any]) -> Message:
    ids = message.get("tool_call_ids")
    first = ids[0] if isinstance(ids, list) and ids and isinstance(ids[0], str) else ""
    return Message(role=role_of(message.get("role")) or "user", content=content_text(message.get("content")),
                   tool_calls=read_calls(message), tool_call_id=first)


def _body(number: int, step: dict[str, Any], message: dict[str, Any]) -> StepBody:
    command = text_of(step.get("action"))
    calls = read_calls(message)
    actions = tuple(action_of(c, _family(c.name)) for c in calls)
    if not actions and command.strip():
        actions = (_command(command, number),)
    call_id = actions[0].call_id if actions else str(number)
    thought = text_of(step.get("thought")) or (text_of(step.get("response")) if not actions else "")
    return StepBody(number=number, thought=thought, actions=actions, observations=_observed(step, call_id))


def _observed(step: dict[str, Any], call_id: str) -> tuple[Observation, ...]:
    text = step.get("observation")
    if not isinstance(text, str):
        return ()
    state = step.get("state")
    if isinstance(state, str):
        state = _inner(state) or {"state": state}
    data = {k: v for k, v in dict_of(state).items() if k in ("open_file", "working_dir", "diff", "state")}
    if isinstance(step.get("execution_time"), int | float):
        data["execution_time_s"] = step["execution_time"]
    return (Observation(call_id=call_id, output=Output(text=text, total_chars=len(text)), data=data),)


def _command(command: str, number: int) -> Action:
    """A command line; SWE-agent's own commands are known by their name, the rest goes to the shell."""
    name = command.split(maxsplit=1)[0]
    tool = name if name in _FILE_COMMANDS or name == "submit" else "command"
    return Action(call_id=str(number), tool=tool, arguments={"command": command}, family=_family(tool))


def _family(tool: str) -> Family:
    if tool in _FILE_COMMANDS:
        return "file"
    return "control" if tool == "submit" else "command"


def _end(builder: SessionBuilder, info: dict[str, Any]) -> None:
    stats = dict_of(info.get("model_stats"))
    builder.totals({k: v for k, v in stats.items() if isinstance(v, int | float)})
    builder.submission(text_of(info.get("submission")))
    status = text_of(info.get("exit_status"))
    if not status:
        builder.end("stopped", "end_not_recorded")
    else:
        builder.end("finished" if status.startswith("submitted") else "failed", status)


FORMAT = Format(name=NAME, title="SWE-agent trajectory", recognises=recognises, read=read)
