"""What an agent asks leave for, in words, who answers, and which of its own options an answer is."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from .values import Json, objects_of, text_of

MOST_TITLE, MOST_GIVEN = 300, 4_000
"""Characters that are shown of what leave is asked for; how many more there are is said."""


def title_of(call: Json) -> str:
    """What the agent calls it, in one line."""
    return " ".join((text_of(call.get("title")) or text_of(call.get("kind")) or "an action").split())[:MOST_TITLE]


def asked_for(call: Json) -> str:
    """What leave is asked for: the agent's own title of it as the first line, and what it is about to do, whatever the
    title says, a line for each argument; what goes on in further lines is indented, so that none passes for another."""
    given = call.get("rawInput") or {text_of(part.get("path")): part.get("newText")
                                     for part in objects_of(call.get("content")) if part.get("type") == "diff"}
    title = title_of(call)
    if not isinstance(given, dict):
        given = {"": given}
    lines = [f"{name}: {_given(value)}" if name else _given(value) for name, value in given.items() if value != title]
    shown = "\n".join([title, *(line.replace("\n", "\n    ") for line in lines)])
    most = len(title) + MOST_GIVEN
    return shown if len(shown) <= most else f"{shown[:most]} … and {len(shown) - most:,} characters more"


def _given(value: object) -> str:
    """An argument as it is: a text without its quotes."""
    return text_of(value) or json.dumps(value, ensure_ascii=False)


def option_for(may: bool, options: Sequence[Json]) -> str | None:
    """The agent's option for an answer. One yes is never one for always; None where it offers nothing else."""
    found = {text_of(o.get("kind")): text_of(o.get("optionId")) for o in options}
    kinds: tuple[str, ...] = ("allow_once",) if may else ("reject_once", "reject_always")
    return next((found[kind] for kind in kinds if kind in found), None)


def leave_of(who: str, ask: Callable[[str], bool], tell: Callable[[str, object], Json]) -> Callable[[str], bool]:
    """What decides on what an agent asks to do: a person at the session (`desktop`), `ask`, or always the same answer.
    Each answer is noted in the session."""
    def leave(what: str) -> bool:
        may = tell("leave", what).get("allow") is True if who == "desktop" else (
            ask(what) if who == "ask" else who == "allow")
        tell("note", f"The agent asked for leave: {what}. Answer: {'allow' if may else 'reject'}.")
        return may

    return leave
