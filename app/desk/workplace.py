"""What a panel is given: the desks, the cursor, what is in sight, and those who act, speak and remember for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.desk.cursor import Cursor
from app.desk.desks import Desks
from app.desk.in_sight import InSight
from app.desk.notices import Notices
from app.desk.offline_copies import OfflineCopies
from app.desk.queue_book import QueueBook
from app.desk.run_book import RunBook
from app.desk.servers import Servers
from app.desk.settings import Settings
from app.desk.watermarks import Watermarks
from core.aio import TaskScope
from core.domain.verdict import Author
from core.store.home import Home

if TYPE_CHECKING:
    from app.desk.actions import Actions
    from app.desk.sender import Sender


@dataclass(frozen=True)
class Workplace:
    """One window's collaborators. `cursor` is for moving, `sight` for reading what is shown; `sender` is
    the only way to act on a session; `scope` runs coroutines."""

    home: Home
    desks: Desks
    cursor: Cursor
    sight: InSight
    scope: TaskScope
    notices: Notices
    settings: Settings
    servers: Servers
    watermarks: Watermarks
    offline_copies: OfflineCopies
    queues: QueueBook
    runs: RunBook
    sender: Sender
    actions: Actions

    def reader(self, session: str) -> str:
        """The author's key under which the person here judges a session."""
        return Author(kind="person", name=self.desks.of(session).name).key

    def blind_reader(self, session: str) -> str:
        """From whom others' opinions on a session are hidden until they have decided (`core.domain.blindness`);
        "" while they are not."""
        return self.reader(session) if self.queues.is_blind(session) else ""
