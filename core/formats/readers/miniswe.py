"""mini-swe-agent: a bare list of messages (before 1.0), or `{info, messages, trajectory_format}` (1.0, 1.1).

The messages before an assistant message are exactly what the model was given. A step is an assistant message with
what follows it (the project's own rule, run/inspector.py). Times, costs and exit codes are in `extra` from 1.1 on;
before, the exit code stands in the observation's first tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from core.domain.message import Message
from core.domain.step import Action, ActionError
from core.formats.chat import action_of, content_text, is_chat, read_calls, role_of, usage_in
from core.formats.conversation import CallResult, Conversation, ForeignStep, grouped
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.rows import canonical_parts
from core.formats.source import SAMPLES, Source
from core.formats.values import code_of, dict_of, dicts_of, exit_error, float_of, text_of, time_of

NAME = "mini-swe-agent"
_BLOCK = re.compile(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n?```", re.DOTALL)
_CODE = re.compile(r"\s*<returncode>(-?\d{1,10})</returncode>")
_NOT_RUN = "action was not executed"
_HUMAN = ("UserInterruption", "UserRejection", "UserNewTask")


def recognises(source: Source) -> bool:
    """Whether the file names the format, or is a bare list of messages with its command blocks."""
    if text_of(source.object.get("trajectory_format")).startswith("mini-swe-agent"):
        return True
    messages = source.json.value if source.shape == "list" else None
    return isinstance(messages, list) and is_chat(messages) and any(
        m["role"] == "assistant" and _BLOCK.search(content_text(m.get("content"))) for m in messages[:SAMPLES])


def read(source: Source) -> Iterator[Imported]:
    """The one session of a file; of a damaged file, the steps before the damage."""
    run = source.object
    messages = dicts_of(run.get("messages") if run else source.json.value)
    if not any(_is_step(m) for m in messages):
        raise source.without_steps("step", [source.json.problem])
    info = dict_of(run.get("info"))
    timed = _first_time(messages) is not None
    builder = SessionBuilder(NAME, source.name, _identity(run, messages), is_named=timed)
    first = next(n for n, m in enumerate(messages) if _is_step(m))
    asked = next((content_text(m.get("content")) for m in messages[:first] if m.get("role") == "user"), "")
    named = text_of(run.get("instance_id"))
    builder.create(named or asked[:400], asked, task=named, model=_model(info, messages))
    conversation = Conversation(builder, "")
    for message in messages[:first]:
        conversation.add_message(_message(message))
    _add_steps(conversation, messages[first:])
    if source.json.problem:
        builder.warnings.append(f"{source.json.problem} The {builder.steps} steps before it were read.")
    _end(builder, info, messages)
    yield builder.build()


def _first_time(messages: list[dict[str, Any]]) -> float | None:
    return float_of(next(dict_of(m.get("extra")).get("timestamp") for m in messages if _is_step(m)))


def _identity(run: dict[str, Any], messages: list[dict[str, Any]]) -> Iterator[bytes]:
    """The moment of the first answer names a run for good; without times only the whole content does."""
    began = _first_time(messages)
    if began is not None:
        return canonical_parts([run.get("instance_id"), began])
    return canonical_parts({k: m.get(k) for k in ("role", "content")} for m in messages)


def _model(info: dict[str, Any], messages: list[dict[str, Any]]) -> str:
    configured = text_of(dict_of(dict_of(info.get("config")).get("model")).get("model_name"))
    answered = (dict_of(dict_of(m.get("extra")).get("response")).get("model") for m in messages)
    return configured or next((a for a in answered if isinstance(a, str)), "")


def _is_step(message: dict[str, Any]) -> bool:
    return message.get("role") == "assistant" or bool(dict_of(message.get("extra")).get("actions"))


def _message(message: dict[str, Any]) -> Message:
    return Message(role=role_of(message.get("role")) or "user", content=content_text(message.get("content")),
                   tool_calls=read_calls(message), tool_call_id=text_of(message.get("tool_call_id")))


def _add_steps(conversation: Conversation, messages: list[dict[str, Any]]) -> None:
    for answer, others in grouped(messages, lambda _, after: not _is_step(after)):
        human = [m for m in others if dict_of(m.get("extra")).get("interrupt_type") in _HUMAN
                 and m.get("role") != "exit"]
        conversation.add_step(_step(answer, [m for m in others if m not in human and m.get("role") != "exit"]))
        for message in human:
            conversation.add_person_turn(content_text(message.get("content")),
                                         time_of(dict_of(message.get("extra")).get("timestamp")))


def _step(message: dict[str, Any], outputs: list[dict[str, Any]]) -> ForeignStep:
    extra = dict_of(message.get("extra"))
    response = dict_of(extra.get("response"))
    text = content_text(message.get("content"))
    return ForeignStep(
        thought=text, calls=read_calls(message), actions=_actions(text, extra, message),
        results=[_result(m) for m in outputs], model=text_of(response.get("model")),
        usage=usage_in(response, extra.get("cost")),
        ended_at=time_of(extra.get("timestamp")))


def _actions(text: str, extra: dict[str, Any], message: dict[str, Any]) -> tuple[Action, ...]:
    commands = dicts_of(extra.get("actions"))
    calls = read_calls(message)
    if commands:
        ids = [c.id for c in calls]
        return tuple(
            Action(call_id=text_of(a.get("tool_call_id")) or (ids[n] if n < len(ids) else str(n + 1)), tool="bash",
                   arguments={"command": text_of(a.get("command"))}, family="command") for n, a in enumerate(commands))
    blocks = _BLOCK.findall(text) if not calls else []
    if len(blocks) == 1:
        return (Action(call_id="1", tool="bash", arguments={"command": blocks[0]}, family="command"),)
    return tuple(action_of(c, "command") for c in calls)


def _result(message: dict[str, Any]) -> CallResult:
    extra = dict_of(message.get("extra"))
    text = content_text(message.get("content"))
    code = code_of(extra.get("returncode"))
    if code is None and (tag := _CODE.match(text)):
        code = int(tag[1])
    problem = text_of(extra.get("exception_info"))
    if problem == _NOT_RUN and code == -1:  # what came before it ended the run, by handing in too
        code, problem = None, ""
    error = exit_error(code)
    if problem:
        error = ActionError(kind="exception", message=problem[:2000])
    if extra.get("interrupt_type") == "FormatError":
        error = ActionError(kind="format_error", message="The answer did not have the form that was asked for.")
    return CallResult(text=text, call=text_of(message.get("tool_call_id")), exit_code=code, error=error,
                      ended_at=time_of(extra.get("timestamp")), role=text_of(message.get("role")))


def _end(builder: SessionBuilder, info: dict[str, Any], messages: list[dict[str, Any]]) -> None:
    stats = dict_of(info.get("model_stats"))
    builder.totals({k: float_of(stats.get(k)) for k in ("instance_cost", "api_calls")})
    last = dict_of(messages[-1].get("extra")) if messages[-1].get("role") == "exit" else {}
    status = text_of(info.get("exit_status")) or text_of(last.get("exit_status"))
    builder.submission(text_of(info.get("submission")) or text_of(last.get("submission")))
    if not status:
        builder.end("stopped", "end_not_recorded")
    else:
        builder.end("finished" if status == "Submitted" else "failed", status)


FORMAT = Format(name=NAME, title="mini-swe-agent trajectory", recognises=recognises, read=read)
