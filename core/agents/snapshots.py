"""Snapshots of a session at work: between two steps, when a rule or a person asks for one.

A snapshot that cannot be taken is told in the log and never ends a run.
"""

import asyncio
import logging
import posixpath
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta

import msgspec

from core.agents import prompts
from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.agents.saved_files import HostSaver, Seen, load_host
from core.agents.saved_journal import JournalPart, payload_names, save_journal
from core.agents.saved_trees import SavedHost
from core.agents.snapshot_store import SavedTerminal, Snapshot, SnapshotStore
from core.agents.states import read_progress
from core.agents.steps import StepJournal
from core.domain.errors import Conflict, NotFound, ReportableError
from core.domain.events import NotSaved, SnapshotFailed, SnapshotTaken
from core.domain.ids import new_id
from core.domain.task import Host, SnapshotRules
from core.sandbox.sandbox import Sandbox
from core.sandbox.values import TerminalInfo
from core.store.pieces import PieceWriter
from core.store.sqlite import driver

_log = logging.getLogger("agent")

RECALLED = 64 << 10
"""Bytes of a terminal's text that its next shell has above it."""

_MOST_NAMED = 200


class LastSnapshot(msgspec.Struct, frozen=True):
    """Which one was the last that was taken or tried, after which step and when."""

    id: str
    step: int
    at: datetime


class Snapshots:
    """Takes the snapshots of one session."""

    def __init__(self, journal: Journal, inbox: Inbox, hosts: Mapping[str, Sandbox], store: SnapshotStore,
                 rules: SnapshotRules, flush: Callable[[], Awaitable[None]], services: Iterable[str] = ()) -> None:
        """`flush` has all terminal output journalled; of the `services` a snapshot holds nothing but that."""
        self._journal, self._inbox, self._hosts, self._store = journal, inbox, hosts, store
        self._rules, self._flush, self._services = rules, flush, tuple(services)

    async def at_border(self) -> None:
        """Between two steps: take one where it is time."""
        if (last := self._last) is None:
            last = LastSnapshot("", 0, _now())
            self._journal.put_slot("last_snapshot", last)
        if cause := self._due(last):
            await self.take(cause)

    async def if_asked(self) -> None:
        """A person may want one while the session is paused."""
        if self._journal.slot("snapshot_asked", bool):
            await self.take("person")

    async def before_evaluation(self) -> None:
        """The step's answer asks for an evaluation, and nothing of it was done yet."""
        if self._rules.at_evaluations and self._is_news():
            await self.take("evaluation")

    async def after_summary(self) -> None:
        """The context was summarised."""
        if self._rules.at_summaries and self._is_news():
            await self.take("summary")

    async def at_end(self) -> None:
        """The session is over."""
        if self._rules.at_end:
            await self.take("end")

    def _due(self, last: LastSnapshot) -> str:
        if self._journal.slot("snapshot_asked", bool):
            return "person"
        if not self._is_news():
            return ""
        if self._rules.at_guidance and self._inbox.waiting():
            return "guidance"
        steps = read_progress(self._journal).steps - last.step
        if self._rules.every_steps and steps >= self._rules.every_steps:
            return "steps"
        minutes = timedelta(minutes=self._rules.every_min)
        return "time" if minutes and _now() - last.at >= minutes else ""

    def _is_news(self) -> bool:
        last = self._last
        return last is None or last.step < read_progress(self._journal).steps

    @property
    def _last(self) -> LastSnapshot | None:
        return self._journal.slot("last_snapshot", LastSnapshot)

    async def take(self, cause: str) -> None:
        """Take one now, and tell of it or of why not."""
        step, id = read_progress(self._journal).steps, new_id()
        try:
            await self._flush()
            taken = await self._saved(id, step, cause)
        except (ReportableError, driver.Error, OSError) as error:
            why = error.sentence if isinstance(error, ReportableError) else str(error)
            _log.warning("no snapshot after step %d: %s", step, why)
            self._tell(SnapshotFailed(step=step, cause=cause, reason=why[:2000]), LastSnapshot("", step, _now()))
            return
        images = {name: " ".join(host.trees.values()) for name, host in taken.hosts.items()}
        fact = SnapshotTaken(step=step, images=images, id=id, cause=cause, bytes=taken.bytes, added=taken.added,
                             files=sum(h.files for h in taken.hosts.values()), seconds=taken.seconds,
                             not_saved=taken.not_saved)
        self._tell(fact, LastSnapshot(id, step, _now()))
        _log.info("snapshot after step %d (%s): %d bytes, %d of them new, in %.2f s", step, cause, taken.bytes,
                  taken.added, taken.seconds)
        await asyncio.to_thread(self._store.prune, self._journal.session, self._rules)

    def _tell(self, fact: SnapshotTaken | SnapshotFailed, last: LastSnapshot) -> None:
        with self._journal.transaction("snapshot"):
            self._journal.add(fact)
            self._journal.put_slot("last_snapshot", last)
            if fact.cause == "person":  # what a person asked for while another was being taken is still to be done
                self._journal.put_slot("snapshot_asked", None)

    async def _saved(self, id: str, step: int, cause: str) -> Snapshot:
        try:
            return await self._save(id, step, cause, is_first=False)
        except Conflict as error:
            if error.code != "piece_gone":
                raise
            return await self._save(id, step, cause, is_first=True)

    async def _save(self, id: str, step: int, cause: str, *, is_first: bool) -> Snapshot:
        """`is_first`: read everything, whatever is known."""
        began = asyncio.get_running_loop().time()
        with PieceWriter(self._store.pieces) as writer:
            hosts: dict[str, SavedHost] = {}
            seen: dict[str, Seen] = {}
            for name, host in self._hosts.items():
                before = {} if is_first else self._store.seen(self._journal.session, name)
                saver = HostSaver(host, writer, before)
                hosts[name] = await saver.save()
                seen[name] = saver.seen
            terminals, lost = await self._terminals(writer)
            lost += [NotSaved(kind="file", host=n, what=p[:500]) for n, h in hosts.items() for p in h.problems]
            journal, subagents = self._journals(writer, None if is_first else self._before())
            snapshot = Snapshot(
                id=id, session=self._journal.session, step=step, cause=cause, at=_now(), hosts=hosts,
                terminals=tuple(terminals), journal=journal, subagents=subagents,
                not_saved=tuple(lost[:_MOST_NAMED]), bytes=sum(h.bytes for h in hosts.values()),
                seconds=asyncio.get_running_loop().time() - began)
            return await asyncio.to_thread(self._store.commit, writer, snapshot, seen)

    def _before(self) -> Snapshot | None:
        try:
            return self._store.last(self._journal.session)
        except NotFound:
            return None

    def _journals(self, writer: PieceWriter, before: Snapshot | None) -> tuple[JournalPart, dict[str, JournalPart]]:
        """The session's journal and its subagents'; a subagent's that is closed is as it was."""
        subagents = dict(before.subagents) if before else {}
        for name, part in subagents.items():
            if name not in self._journal.others:
                writer.rely((*part.pieces, *payload_names(self._store.pieces, part)))
        for name, journal in self._journal.others.items():
            if journal.head:
                subagents[name] = save_journal(journal, writer, subagents.get(name))
        return save_journal(self._journal, writer, before.journal if before else None), subagents

    async def _terminals(self, writer: PieceWriter) -> tuple[list[SavedTerminal], list[NotSaved]]:
        """Every terminal's end of text, and what runs in them: that is lost."""
        found: list[SavedTerminal] = []
        lost = [NotSaved(kind="service", what=name) for name in self._services]
        for name, host in self._hosts.items():
            lost += _of_host(name, host.host)
            for info in await host.terminals.list():
                found.append(await self._terminal(name, host, info, writer))
                lost += [NotSaved(kind="process", host=name, what=f"{info.name}: {p.command[:300]}")
                         for p in (await host.terminals.processes(info.name) if info.alive else [])]
                if info.alive:
                    lost.append(NotSaved(kind="shell", host=name, what=info.name))
        return found, lost

    async def _terminal(self, name: str, host: Sandbox, info: TerminalInfo, writer: PieceWriter) -> SavedTerminal:
        text = await host.terminals.read(info.name, max(0, info.total - RECALLED), info.total) if info.total else None
        data = self._journal.clean(text.data) if text else b""
        folder, cwd = _place(host, info.cwd)
        return SavedTerminal(host=name, name=info.name, folder=folder, cwd=cwd, length=info.total,
                             text=writer.put(data) if data else "")


def _place(host: Sandbox, path: str) -> tuple[str, str]:
    """A path as the name of a saved folder and what follows it; ("", path) where it lies elsewhere."""
    for name, folder in host.folders.items():
        if path == folder or path.startswith(f"{folder}/"):
            return name, path[len(folder) + 1 :]
    return "", path


def _of_host(name: str, host: Host) -> list[NotSaved]:
    """What is never saved of a host: its memory of passing things, and what it did elsewhere."""
    lost = [NotSaved(kind="temporary", host=name, what="/tmp")]
    if host.network:
        lost.append(NotSaved(kind="outside", host=name))
    return lost


async def restore_hosts(hosts: Mapping[str, Sandbox], store: SnapshotStore, snapshot: Snapshot,
                        lengths: Mapping[str, int]) -> None:
    """Bring files and terminals of a snapshot back into sandboxes that run; what their folders hold now goes.

    `lengths` is how long each terminal's stream ("host/terminal") is in the log. Raises NotFound (no_piece, no_host),
    InvalidInput (bad_tree), Unavailable.
    """
    for name, host in hosts.items():
        if name not in snapshot.hosts:
            raise NotFound("no_host", f"The snapshot has no host {name}, which the session has.", host=name)
        await load_host(host, store.pieces, snapshot.hosts[name])
    known = {name: {t.name for t in await host.terminals.list()} for name, host in hosts.items()}
    for one in (t for t in snapshot.terminals if t.host in hosts):
        if one.name not in known[one.host]:
            text = store.pieces.get(one.text) if one.text else b""
            await _reopen(hosts[one.host], one, text, max(one.length, lengths.get(f"{one.host}/{one.name}", 0)))


async def _reopen(host: Sandbox, one: SavedTerminal, text: bytes, length: int) -> None:
    """With a shell that stands where the other one stood, if that folder is there."""
    cwd = posixpath.join(host.folders[one.folder], one.cwd) if one.folder in host.folders else one.cwd
    try:
        cwd = cwd if cwd and (await host.stat(cwd)).kind == "dir" else ""
    except ReportableError:
        cwd = ""
    await host.terminals.open(one.name, cwd=cwd, offset=length, recall=text)


def _now() -> datetime:
    return datetime.now(UTC)


async def bring_back(journal: Journal, hosts: Mapping[str, Sandbox], store: SnapshotStore, steps: StepJournal) -> None:
    """The files of a snapshot that somebody wants back, or of hosts that were lost. Raises as `restore_hosts`.

    A restart in the middle begins anew: the agent has done nothing before it is over.
    """
    wanted = journal.slot("restore", str)
    if wanted is not None:
        await restore_hosts(hosts, store, store.get(wanted), journal.terminals())
        journal.put_slot("restore", None)
    elif steps.progress.steps and (lost := {name: host for name, host in hosts.items() if host.is_new}):
        await _replace_lost(journal, lost, store, steps)


async def _replace_lost(journal: Journal, lost: Mapping[str, Sandbox], store: SnapshotStore, steps: StepJournal
                        ) -> None:
    found = store.of(journal.session)
    step = found[-1].step if found else None
    if found:
        _log.warning("hosts %s were lost: their files are as after step %d", ", ".join(lost), found[-1].step)
        await restore_hosts(lost, store, found[-1], journal.terminals())
    for name in lost:
        if step != steps.progress.steps:
            steps.tell(prompts.host_lost(name, step), "host_lost")
