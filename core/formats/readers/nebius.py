"""Nebius' SWE-agent-trajectories: rows of `{instance_id, model_name, target, trajectory, exit_status, …}`.

A turn of `ai` is a step, the `user` turn after it its observation; the last code block is the command. `target` says
whether the tests passed; `mask` whether training should learn the turn. No times, tokens or marks of failure.
"""

from __future__ import annotations

import re
from typing import Any

from core.domain.step import Action
from core.formats.conversation import CallResult
from core.formats.dialogue import DialogueTurn, add_turns
from core.formats.imported import Imported, SessionBuilder
from core.formats.rows import SourceRow, row_format
from core.formats.source import Source
from core.formats.tools import family_of
from core.formats.values import dicts_of, text_of

NAME = "nebius"
_BLOCK = re.compile(r"```[^\n]*\n(.*?)\n?```", re.DOTALL)


def _is_row(value: Any) -> bool:
    turns = value.get("trajectory") if isinstance(value, dict) else None
    return isinstance(turns, list) and bool(turns) and all(
        isinstance(t, dict) and t.get("role") in ("system", "user", "ai") and ("text" in t or "system_prompt" in t)
        for t in turns)


def _row(source: Source, row: SourceRow) -> Imported | str:
    run = row.value
    turns: list[DialogueTurn] = []
    for turn in dicts_of(run.get("trajectory")):
        text = text_of(turn.get("text")) or text_of(turn.get("system_prompt"))
        if turn["role"] == "ai":
            learn = turn.get("mask")
            thought, actions = _split(text)
            turns.append(DialogueTurn(role="assistant", text=text, thought=thought, actions=actions,
                                      learn=learn if isinstance(learn, bool) else None))
        elif turn["role"] == "user" and turns and turns[-1].role == "assistant":
            turns.append(DialogueTurn(role="user", text=text, result=CallResult(text=text, role="user")))
        else:
            turns.append(DialogueTurn(role="system" if turn["role"] == "system" else "user", text=text))
    if not any(t.role == "assistant" for t in turns):
        return "no turn is the agent's."
    name = text_of(run.get("instance_id"))
    builder = SessionBuilder(NAME, source.name, row.data)
    add_turns(builder, turns, title=name, task=name, model=text_of(run.get("model_name")), source="approximate")
    _end(builder, run)
    return builder.build()


def _split(text: str) -> tuple[str, tuple[Action, ...]]:
    """Thought and command: SWE-agent runs the last code block."""
    blocks = list(_BLOCK.finditer(text))
    if not blocks:
        return text, ()
    last = blocks[-1]
    command = last[1]
    words = command.split(maxsplit=1)
    tool = words[0] if words and words[0] in ("submit", "edit", "open", "create", "goto", "scroll_up", "scroll_down",
                                              "search_dir", "search_file", "find_file") else "command"
    thought = (text[: last.start()] + text[last.end() :]).strip()
    return thought, (Action(call_id="1", tool=tool, arguments={"command": command}, family=family_of(tool)),)


def _end(builder: SessionBuilder, run: dict[str, Any]) -> None:
    builder.submission(text_of(run.get("generated_patch")))
    if isinstance(run.get("target"), bool):
        builder.reward(float(run["target"]), "tests of the benchmark")
    status = text_of(run.get("exit_status"))
    if not status:
        builder.end("stopped", "end_not_recorded")
    else:
        builder.end("finished" if status.startswith("submitted") else "failed", status)


FORMAT = row_format(NAME, "Nebius SWE-agent trajectories", _is_row, "run of SWE-agent", _row)
