"""A new session on a task, through the running server."""

from __future__ import annotations

from core.cli.log_access import do
from core.domain.ids import new_id
from core.domain.task import AgentSettings, Task
from core.protocol.operations import CreateSession
from core.store.home import Home


def create(home: Home, task: Task | str, settings: AgentSettings) -> str:
    """Create a session through the running server; gives its id."""
    session = new_id()
    do(session, CreateSession(task=task, agent=settings), home)
    return session
