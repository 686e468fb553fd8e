"""A step as parts of a text view: thought, each action with its arguments, its observation with its envelope."""

from __future__ import annotations

from typing import Any

import msgspec
from PySide6.QtCore import QCoreApplication

from app.desk.row_text import error_word, status_word
from app.kit import quantities
from app.kit.highlight import lexer_for
from app.kit.long_text import Part
from app.kit.safe_text import one_line
from core.domain.step import Action, Observation, StepBody

_STATUS_SIGN = {"finished": "✓", "running": "…", "timeout": "✗", "killed": "✗", "refused": "✗", "failed": "✗"}


def parts_of(body: StepBody) -> list[Part]:
    """The whole step, each action followed by what came back for it."""
    parts: list[Part] = []
    if body.thought:
        parts += [_heading(QCoreApplication.translate("Step", "Thought")), _gap(Part(text=body.thought.strip()))]
    answers = {o.call_id: o for o in body.observations}
    count = len(body.actions)
    for number, action in enumerate(body.actions, 1):
        parts += _action_parts(action, number, count)
        observation = answers.pop(action.call_id, None)
        if observation is not None:
            parts += observation_parts(observation)
    for observation in answers.values():
        parts += observation_parts(observation)
    if not parts:
        parts.append(Part(text=QCoreApplication.translate("Step", "The model wrote nothing in this step."),
                          style="meta"))
    return parts


def _action_parts(action: Action, number: int, count: int) -> list[Part]:
    word = QCoreApplication.translate("Step", "Action")
    if count > 1:
        word = QCoreApplication.translate("Step", "Action {n} of {count}").format(n=number, count=count)
    parts = [_heading(f"{word}  {one_line(action.tool, 80)}", number if count > 1 else 0)]
    if action.malformed:
        parts.append(Part(text=QCoreApplication.translate("Step", "Malformed call: ") + action.malformed + "\n",
                          meaning="error"))
    return [*parts, *(argument_parts(action.arguments) or [Part(text="\n", style="meta")])]


def argument_parts(arguments: dict[str, Any]) -> list[Part]:
    """Arguments pretty-printed: short ones on a line, texts as blocks in the colours of their language."""
    path = next((str(arguments[k]) for k in ("path", "filename", "file_path") if arguments.get(k)), "")
    parts: list[Part] = []
    for key, value in arguments.items():
        text = value if isinstance(value, str) else _json(value)
        block = "\n" in text or len(text) > 120
        parts.append(Part(text=f"{key}{':' if block else ': '}", style="mono", meaning="muted"))
        if block:
            parts.append(Part(text="\n", style="mono"))
        lexer = _lexer(key, value, path)
        parts.append(Part(text=text.rstrip("\n") + "\n", style="mono", lexer=lexer))
    return [*parts[:-1], _gap(parts[-1])] if parts else parts


def _lexer(key: str, value: object, path: str) -> str:
    if not isinstance(value, str):
        return "json"
    if key in ("command", "input_text"):
        return "bash"
    return lexer_for(path) if key in ("content", "new_content", "text", "old_str", "new_str", "replacement") else ""


def observation_parts(observation: Observation) -> list[Part]:
    """An observation: its envelope in words, its error, its output as the model saw it."""
    failed = observation.is_error
    sign = "✗" if failed else _STATUS_SIGN.get(observation.status, "")
    word = QCoreApplication.translate("Step", "Observation")
    parts = [Part(text=f"{word}  {sign} {envelope(observation)}\n", style="heading", meaning="error" if failed else "")]
    if observation.error is not None:
        parts.append(Part(text=f"{error_word(observation.error.kind)}: {observation.error.message}\n", meaning="error"))
    output = observation.output
    if output.text:
        parts.append(Part(text=output.text.rstrip("\n") + "\n", style="mono", terminal=True))
    elif not observation.data and observation.error is None:
        parts.append(Part(text=QCoreApplication.translate("Step", "No output.") + "\n", style="meta"))
    if output.truncated:
        parts.append(Part(text=_cut(observation) + "\n", style="meta", meaning="attention"))
    if observation.data:
        parts.append(Part(text=_json(observation.data) + "\n", style="mono", lexer="json"))
    return [*parts[:-1], _gap(parts[-1])]


def envelope(observation: Observation) -> str:
    """Status, exit code, duration, job and terminal in one line."""
    words = [status_word(observation.status)]
    if observation.exit_code is not None:
        words.append(QCoreApplication.translate("Step", "exit code {code}").format(code=observation.exit_code))
    took = quantities.duration(quantities.between(observation.started_at, observation.ended_at))
    if took:
        words.append(took)
    if observation.job:
        words.append(QCoreApplication.translate("Step", "job {id}").format(id=one_line(observation.job, 40)))
    if observation.output.terminal:
        words.append(QCoreApplication.translate("Step", "terminal {name}").format(
            name=one_line(observation.output.terminal, 60)))
    if observation.output.truncated:
        words.append(QCoreApplication.translate("Step", "truncated"))
    return " · ".join(words)


def _cut(observation: Observation) -> str:
    output = observation.output
    sentence = QCoreApplication.translate("Step", "The model was given {shown} of {total} characters.")
    return sentence.format(shown=quantities.number(len(output.text)), total=quantities.number(output.total_chars))


def _heading(text: str, choice: int = 0) -> Part:
    return Part(text=text + "\n", style="heading", choice=choice)


def _gap(part: Part) -> Part:
    """The part with an empty line after it."""
    return msgspec.structs.replace(part, text=part.text.rstrip("\n") + "\n\n")


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
