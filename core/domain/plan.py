"""A checklist as an agent keeps it: what a call of a todo tool says, in any program's words."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

PlanState = Literal["done", "working", "open"]

_LISTS = ("todos", "plan", "items", "task_list", "tasks", "todoList")
_WORDS = ("content", "step", "title", "text", "description", "task", "name", "activeForm")
_STATES: dict[str, PlanState] = {
    "completed": "done", "done": "done", "complete": "done", "in_progress": "working", "in-progress": "working",
    "active": "working", "doing": "working", "current": "working"}

MOST_ITEMS = 500
"""Items of one plan that are read."""


class PlanItem(msgspec.Struct, frozen=True):
    """One item of a plan, in one line."""

    words: str
    state: PlanState = "open"


def plan_items(given: Mapping[str, Any]) -> list[PlanItem] | None:
    """The items of a call; None where it holds no list of them."""
    found = next((v for v in (given.get(k) for k in _LISTS) if isinstance(v, list)), None)
    return None if found is None else [_item(one) for one in found[:MOST_ITEMS]]


def working_on(title: str) -> str:
    """What a step's title (`core.domain.deed`) says is in work; "" for none."""
    return title.partition("▸ ")[2].strip()


def _item(one: object) -> PlanItem:
    row = one if isinstance(one, dict) else {"content": one}
    if row.get("completed") is True:
        state: PlanState = "done"
    else:
        state = _STATES.get(str(row.get("status", row.get("state", ""))).lower(), "open")
    words = next((row[k] for k in _WORDS if row.get(k) not in (None, "", [], {})), "")
    return PlanItem(" ".join(str(words)[:2000].split()), state)
