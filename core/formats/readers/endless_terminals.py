"""Endless Terminals' solutions: `{num_runs, num_success, pass_at_k, results: [{success, messages, output, reward}]}`.

Each run is one session. An assistant message holds `<command>` or `<action>done</action>`, the user's message after
it the output with its exit code. The messages before are exactly the context. No times and no tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from core.domain.events import NoteAdded
from core.domain.step import Action
from core.formats.chat import content_text, is_chat, role_of
from core.formats.conversation import CallResult
from core.formats.dialogue import DialogueTurn, add_turns
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.rows import canonical, joined
from core.formats.source import Source
from core.formats.values import dicts_of, exit_error, float_of, text_of

NAME = "endless-terminals"
_PART = re.compile(r"<(command|action)>(.*?)</\1>", re.DOTALL)
_EXIT = re.compile(r"\(exit_code=(-?\d{1,9})\)\s*\Z")


def recognises(source: Source) -> bool:
    """Whether the file is a summary of solutions."""
    results = source.object.get("results")
    return isinstance(results, list) and bool(results) and any(
        isinstance(r, dict) and "success" in r and is_chat(r.get("messages")) for r in results[:20])


def read(source: Source) -> Iterator[Imported]:
    """A session per run."""
    return joined(source.path, _runs(source))


def _runs(source: Source) -> Iterator[tuple[str, Imported | str]]:
    for number, run in enumerate(dicts_of(source.object.get("results")), 1):
        yield f"Run {number}", _run(source, number, run)
    if source.json.problem:
        yield "The end", source.json.problem


def _run(source: Source, number: int, run: dict[str, Any]) -> Imported | str:
    messages = run.get("messages")
    if not is_chat(messages) or not any(m.get("role") == "assistant" for m in dicts_of(messages)):
        return f"Run {number} was left out: it holds no answer of the model."
    turns: list[DialogueTurn] = []
    for message in dicts_of(messages):
        turns.append(_turn(message, bool(turns) and turns[-1].role == "assistant"))
    builder = SessionBuilder(NAME, source.name, canonical([number, messages]))
    asked = next((t.text for t in turns if t.role == "user"), "")
    add_turns(builder, turns, title=f"Run {number}: {asked[:400]}")
    if output := text_of(run.get("output")):
        builder.fact(NoteAdded(step=0, text=f"Output of the final tests:\n{output[:20_000]}"))
    reward = float_of(run.get("reward"))
    if reward is None and isinstance(run.get("success"), bool):
        reward = float(run["success"])
    builder.reward(reward, "final tests")
    return builder.build_without_end()


def _turn(message: dict[str, Any], after_call: bool) -> DialogueTurn:
    text, role = content_text(message.get("content")), role_of(message.get("role")) or "user"
    if role == "assistant":
        found = _PART.search(text)
        if not found:
            return DialogueTurn(role=role, text=text)
        thought = (text[: found.start()] + text[found.end() :]).strip()
        if found[1] == "action":
            action = Action(call_id="1", tool=found[2].strip() or "action", family="control")
        else:
            action = Action(call_id="1", tool="command", arguments={"command": found[2]}, family="command")
        return DialogueTurn(role=role, text=text, thought=thought, actions=(action,))
    code = _EXIT.search(text)
    exit_code = int(code[1]) if code else None
    result = CallResult(text=text, role="user", exit_code=exit_code, error=exit_error(exit_code))
    return DialogueTurn(role=role, text=text, result=result if after_call else None)


FORMAT = Format(name=NAME, title="Endless Terminals solutions", recognises=recognises, read=read)
