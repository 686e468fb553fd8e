"""A new session on a task, through the running server."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.domain.task import AgentSettings
    from core.store.home import Home


def create(home: Home, task: str, settings: AgentSettings) -> str:
    """Create a session through the running server; gives its id."""
    from core.cli.log_access import writing
    from core.domain.ids import new_id
    from core.protocol.operations import CreateSession

    session = new_id()
    writing(home, lambda authority: authority.do(session, CreateSession(task=task, agent=settings)))
    return session
