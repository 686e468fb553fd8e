"""The demonstration's session: begun, and seen to its end, so that nothing is left behind."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from core.cli.log_access import do, reading
from core.cli.new_session import create
from core.cli.watch import watch_to_end
from core.domain.errors import LimitReached
from core.domain.session import FINAL_STATES
from core.domain.task import AgentSettings
from core.protocol.operations import Control
from core.store import log
from core.store.home import Home
from core.tasks.demo import demonstration

_STOP_S = 20.0


def settings_of(unconfined: bool) -> tuple[str, AgentSettings]:
    """The demonstration's task, and its agent's settings."""
    task, settings = demonstration()
    if unconfined:
        settings = msgspec.structs.replace(settings, sandbox="local", confirmed_unconfined=True)
    return task, settings


def start_session(home: Home, unconfined: bool) -> str:
    """Create the demonstration's session on the running server; gives its id."""
    return create(home, *settings_of(unconfined))


def stop_session(home: Home, session: str) -> None:
    """End the demonstration's session, if it still runs, and see it end, so that nothing is left behind."""
    with reading(home) as conn:
        over = log.row(conn, session).state in FINAL_STATES
    if over:
        return
    do(session, Control(control="stop"), home)
    with suppress(LimitReached):  # the runner ends by itself later, and tells the next server
        watch_to_end(home, session, lambda trajectory, event: None, _STOP_S)
