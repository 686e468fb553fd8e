"""Which sessions have been on the server long enough (retention.toml; without that file none), and taking them away.

Every removal is in the server's log.
"""

import asyncio
import logging
import time
import tomllib
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from core.domain.errors import InvalidInput, ReportableError
from core.domain.events import TagSet, decode_stored
from core.domain.ids import new_id
from core.domain.misfit import misfit
from core.domain.session import SessionRow
from core.domain.step_entry import Tags, set_tag
from core.export.session_archive import write_session
from core.protocol.messages import Command
from core.protocol.operations import DeleteSession
from core.server.deletion import delete, require_over
from core.server.hub import Hub
from core.server.lookups import Lookups
from core.store import log
from core.store.home import Home
from core.store.sqlite import Connection, connect
from core.store.tombstones import losses_of

_log = logging.getLogger("session")

FILE = "retention.toml"

LOOK_S = 3_600.0
"""How often the server looks."""

ACCOUNT = "retention"
"""In whose name the settings delete."""

_DAY_S = 86_400.0

Remove = Callable[[str, int], Awaitable[Any]]
"""Deletes a session whose newest event is the one named. Raises as `delete` does."""

Days = Annotated[float, Meta(gt=0, le=36_500)]


class RetentionSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`after_days`: so long after its end a session goes; left out: never. `action`: what happens to it; an archive
    goes to `folder` ("": HOME/archives). `review_days`: so long after a person's last opinion it stays (left out: as
    `after_days`). A session with one of `tags`, on itself or a step of it, stays.
    """

    after_days: Days | None = None
    action: Literal["archive", "delete"] = "archive"
    folder: str = ""
    review_days: Days | None = None
    tags: tuple[str, ...] = ("retain",)

    def target(self, home: Home) -> Path:
        """The folder of the archives."""
        return Path(self.folder).expanduser() if self.folder else home.archives


def read_retention(home: Home) -> RetentionSettings:
    """The settings of a home. Raises InvalidInput (bad_retention): then nothing goes."""
    path = home.path / FILE
    try:
        found = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), RetentionSettings)
    except FileNotFoundError:
        return RetentionSettings()
    except msgspec.ValidationError as error:
        raise InvalidInput("bad_retention", f"In {path} {misfit(error, RetentionSettings)}.", path=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput("bad_retention", f"{path} is no TOML: {error}", path=str(path)) from error
    except OSError as error:
        raise InvalidInput("bad_retention", f"{path} cannot be read: {error}", path=str(path)) from error
    if found.folder and not found.target(home).is_absolute():
        raise InvalidInput("bad_retention", f"In {path} folder must be a whole path, not {found.folder!r}.",
                           path=str(path))
    return found


class DueSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that has been here long enough: `ended` (seconds since 1970), and why it goes, in words."""

    session: str
    title: str
    ended: float
    steps: int
    bytes: int
    head: int
    why: str


def due_sessions(conn: Connection, settings: RetentionSettings, lookups: Lookups, now: float) -> list[DueSession]:
    """What goes at `now`, by session: never one that something writes, that is in review, or that bears a tag."""
    if settings.after_days is None:
        return []
    rows = [row for row in log.rows(conn) if not row.unreadable and _is_over(row, lookups)]
    found = [(row, _ended(conn, row)) for row in rows]
    return [_due(conn, row, ended, settings.after_days) for row, ended in found
            if now - ended > settings.after_days * _DAY_S and not _stays(conn, row, settings, now)]


def _due(conn: Connection, row: SessionRow, ended: float, after_days: float) -> DueSession:
    lost = losses_of(conn, row.session)
    why = f"it ended on {time.strftime('%Y-%m-%d', time.gmtime(ended))}, more than {after_days:g} days ago"
    return DueSession(session=row.session, title=row.title, ended=ended, steps=lost.steps, bytes=lost.bytes,
                      head=lost.head, why=why)


def _is_over(row: SessionRow, lookups: Lookups) -> bool:
    try:
        require_over(row, lookups)
    except ReportableError:
        return False
    return True


def _ended(conn: Connection, row: SessionRow) -> float:
    """When a session ended, or came here, whichever is later: an old file that is imported today is of today."""
    sql = "SELECT body FROM event WHERE session = ? AND kind = 'session_state' ORDER BY seq DESC LIMIT 1"
    last = conn.execute(sql, (row.session,)).fetchone()
    stated = decode_stored(bytes(last[0])).at.timestamp() if last else 0.0
    heard = row.updated_at.timestamp() if row.updated_at and not last else 0.0
    return max(stated, heard, log.came_at(conn, row.session))


def _stays(conn: Connection, row: SessionRow, settings: RetentionSettings, now: float) -> bool:
    """Whether somebody is at it, or has marked it."""
    review = settings.review_days if settings.review_days is not None else settings.after_days or 0.0
    tags: dict[int, Tags] = {}
    for body in log.opinions(conn, row.session):
        event = decode_stored(body)
        if now - event.at.timestamp() <= review * _DAY_S:
            return True
        if isinstance(event.fact, TagSet):
            set_tag(tags.setdefault(event.fact.step, {}), event.fact.tag, event.author.key, event.fact.on)
    return any(tag in settings.tags for on_one in tags.values() for tag in on_one)


async def remove_due(home: Home, settings: RetentionSettings, due: list[DueSession], remove: Remove) -> list[str]:
    """Archive (where that is set) and delete; gives what went. One that cannot go now is logged, and asked again."""
    gone = []
    for one in due:
        try:
            where = await asyncio.to_thread(_archive, home, settings, one) if settings.action == "archive" else ""
            await remove(one.session, one.head)
        except ReportableError as error:
            _log.warning("retention: session %s stays for now: %s", one.session, error.sentence)
            continue
        _log.info("retention: session %s (%d steps) was %s: %s", one.session, one.steps,
                  f"archived to {where} and deleted" if where else "deleted", one.why)
        gone.append(one.session)
    return gone


def _archive(home: Home, settings: RetentionSettings, one: DueSession) -> str:
    path = settings.target(home) / f"{one.session}.tiphys"
    with closing(connect(home.server_db, readonly=True)) as conn:
        write_session(conn, one.session, path)
    return str(path)


class Retention:
    """Looks regularly in a running server."""

    def __init__(self, hub: Hub, home: Home) -> None:
        self._hub, self._home = hub, home
        self._problem = ""

    async def run(self) -> None:
        """Look at once, then every hour, until cancelled."""
        while True:
            try:
                await self.look()
                self._problem = ""
            except ReportableError as error:
                if error.sentence != self._problem:
                    _log.error("retention: nothing goes: %s", error.sentence)
                self._problem = error.sentence
            await asyncio.sleep(LOOK_S)

    async def look(self) -> list[str]:
        """Take away what is due now; gives the sessions. Raises InvalidInput (bad_retention)."""
        settings = read_retention(self._home)
        if settings.after_days is None:
            return []
        due = await asyncio.to_thread(self._due, settings)
        return await remove_due(self._home, settings, due, self._remove)

    def _due(self, settings: RetentionSettings) -> list[DueSession]:
        with closing(connect(self._home.server_db, readonly=True)) as conn:
            return due_sessions(conn, settings, self._hub.lookups, time.time())

    async def _remove(self, session: str, head: int) -> None:
        op = DeleteSession(head=head)
        command = Command(id=new_id(), cseq=1, session=session, op=op)
        await self._hub.delete(session, partial(delete, account=ACCOUNT, command=command, op=op,
                                                lookups=self._hub.lookups))
