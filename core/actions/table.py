"""The one table of actions, in the order in which the model is told of them."""

from __future__ import annotations

from core.actions import browse, command, control, file, parse, web_search
from core.actions.declare import Declared

OFFERED: tuple[Declared, ...] = (*command.ACTIONS, *file.ACTIONS, *parse.ACTIONS, *web_search.ACTIONS, *browse.ACTIONS,
                                 *control.ACTIONS)
"""The 42 actions that a model is offered."""

ACTIONS: dict[str, Declared] = {d.name: d for d in (*OFFERED, *control.UNLISTED)}
"""All that a call may name; two more than offered, which older data holds."""
