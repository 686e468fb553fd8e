"""The one table of actions, in the order in which the model is told of them."""

from __future__ import annotations

import os

from core.actions import browse, command, control, file, media, parse, web_search
from core.actions.declare import Declared
from core.domain.task import AgentSettings, Task

OFFERED: tuple[Declared, ...] = (*command.ACTIONS, *file.ACTIONS, *parse.ACTIONS, *media.ACTIONS, *web_search.ACTIONS,
                                 *browse.ACTIONS, *control.ACTIONS)
"""The 42 actions; a model is offered those of them that can work in its session (`is_offered`)."""


def is_offered(action: Declared, task: Task, settings: AgentSettings) -> bool:
    """Whether an action can work in a session: what nobody configured costs the model its words alone."""
    family, name = action.kind.family, action.name
    if family == "search":
        return bool(os.environ.get("TIPHYS_SEARCH_URL"))
    if family == "browse":
        return os.environ.get("TIPHYS_BROWSE") == "on"
    if action in media.ACTIONS:
        return settings.media is not None
    return name != "eval" or bool(task.evaluator.script)


ACTIONS: dict[str, Declared] = {d.name: d for d in (*OFFERED, *control.UNLISTED)}
"""All that a call may name; two more than offered, which older data holds."""
