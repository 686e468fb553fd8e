"""What a command may need to know beside the database."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from core.agents.snapshot_store import FOLDER, SnapshotStore
from core.domain.errors import NotFound
from core.domain.task import AgentSettings, Task
from core.server.pool_file import refuse_unfit
from core.store.home import Home
from core.store.lock import is_held
from core.tasks.allowances import Allowances
from core.tasks.catalogue import Catalogue

if TYPE_CHECKING:
    from core.agents.restored_session import Past

RUNNER_LOCK = "runner.lock"


class Lookups(msgspec.Struct, frozen=True, kw_only=True):
    """`find_task` gives a catalogue's task with the agent that it suggests (raises NotFound); `is_alive` whether a
    session has a living runner; `snapshots` which of a session's are on this computer, oldest first; `restore` has its
    next runner begin from one (as `restore_in_place`, with what runners wrote); `catalogue` all tasks
    that can be found so; `allowances` what they may take of this computer; `readers` says who has which session open
    now.
    """

    find_task: Callable[[str], tuple[Task, AgentSettings]]
    is_alive: Callable[[str], bool]
    snapshots: Callable[[str], list[str]] = lambda _: []
    restore: Callable[[str, str, Past], bool] = lambda session, _, __: _no_snapshot(session)
    catalogue: Catalogue = Catalogue([])
    allowances: Allowances = Allowances(None)
    readers: Callable[[], dict[str, list[str]]] = dict
    refuse_unfit: Callable[[Task], None] = lambda _: None
    """Raises Conflict (no_such_host) for a task that no member of the host pool could ever take."""


def lookups_of(home: Home, is_connected: Callable[[str], bool] = lambda _: False,
               readers: Callable[[], dict[str, list[str]]] = dict) -> Lookups:
    """The lookups of a home folder; `is_connected` tells of runners that came by themselves from elsewhere."""

    catalogue = Catalogue.of(home.path)

    def find_task(task: str) -> tuple[Task, AgentSettings]:
        from core.environments.registry import with_horizon  # with all that is played; most commands ask for no task

        entry = catalogue.find(task)
        return with_horizon(entry.task), entry.agent

    def snapshots(session: str) -> list[str]:
        if not (home.path / FOLDER).is_dir():
            return []
        with closing(SnapshotStore(home.path)) as store:
            return [one.id for one in store.of(session)]

    def restore(session: str, snapshot: str, past: Past) -> bool:
        from core.agents.restored_session import restore_in_place  # with what runners speak to servers

        with closing(SnapshotStore(home.path)) as store:
            chosen = store.get(snapshot)
            if chosen.session != session:
                _no_snapshot(session)
            return restore_in_place(home.sessions / session, store, chosen, past)

    return Lookups(find_task=find_task, snapshots=snapshots, restore=restore,
                   is_alive=lambda s: is_held(runner_lock(home, s)) or is_connected(s), catalogue=catalogue,
                   allowances=Allowances(home.allowed), readers=readers,
                   refuse_unfit=lambda task: refuse_unfit(home, task))


def _no_snapshot(session: str) -> bool:
    raise NotFound("no_snapshot", f"Session {session} has no such snapshot on this computer.", session=session)


def runner_lock(home: Home, session: str) -> Path:
    """The file that a session's runner locks while it lives."""
    return home.sessions / session / RUNNER_LOCK
