"""The runner: one process that works on one session. It may be killed at any moment and started again.

Order of things: the lock, the journal, the link, what the log says, the sandboxes, the loop, the last entries out.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from core import logs
from core.actions.runner import ActionRunner, RunnerState
from core.agents.branching import answering, seed
from core.agents.delivery import Inbox, News
from core.agents.hosts import SessionHosts, read_places
from core.agents.journal import Journal
from core.agents.live_action import telling
from core.agents.loop import Agent
from core.agents.playing import play
from core.agents.signals import Signals
from core.agents.sink import Sink
from core.agents.snapshot_store import SnapshotStore
from core.agents.snapshots import Snapshots, bring_back
from core.agents.spool import Spool
from core.agents.states import enter, is_over, read_progress, watch_stall
from core.agents.steps import StepJournal
from core.agents.submissions import Submissions
from core.agents.task_model import open_task_model
from core.aio import TaskScope
from core.client.dial import is_loopback
from core.domain.errors import Conflict, ReportableError, Unavailable
from core.domain.events import SessionCreated
from core.domain.host_rights import rights_of
from core.domain.session import FINAL_STATES
from core.domain.task import AgentSettings, Task
from core.environments.hosts import HostEnvironment
from core.llm.model import LanguageModel, estimate_tokens
from core.protocol.messages import Command
from core.sandbox.disk_watch import unless_full
from core.store.endpoint import address_now
from core.store.home import Home
from core.store.lock import FileLock
from core.store.sqlite import driver, is_disk_failure
from core.tasks.allowances import Allowances
from core.tasks.catalogue import Catalogue
from core.tasks.handing_in import HandingIn
from core.tasks.images import built_images
from core.tasks.task_check import check_task

if TYPE_CHECKING:
    from core.agents.external import ExternalAgent

log = logging.getLogger("agent")

CATCH_UP_S = 5.0
FOLDER_LOOK_S = 5.0
FLUSH_S = 30.0
_SECRET = re.compile(r"(?:^|_)(?:key|token|secret|password|passwd|credential)s?$", re.IGNORECASE)
"""Names of environment variables whose values are secrets."""

_LIKE_A_SECRET = re.compile(r"(?=.*\d)[^/\s]\S{11,}")
"""Not a word that may stand anywhere, and no path."""


async def run_session(folder: Path, url: str, token: str, session: str, *, allow: bool = False) -> None:
    """Work on a session until its final state is journalled and sent, or the process is told to stop.

    `allow`: who starts this runner allows whatever the session asks of this computer; else the home's grants decide.

    Raises Conflict: runner_exists when another runner of this folder lives, fenced when a newer one took over;
    Unavailable when the disk does not take the journal, which then waits as it is for a later runner.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FileLock(folder / "runner.lock")
    if not lock.take():
        raise Conflict("runner_exists", f"Another runner works in {folder}.", session=session)
    try:
        with lock, closing(Journal(folder / "journal.db", session)) as journal:
            await _Run(journal, folder, url, token, allow).run()
    except (driver.Error, OSError) as error:
        if not is_disk_failure(error):
            raise
        raise Unavailable("journal_write_failed", f"The journal in {folder} cannot be written: {error}.",
                          path=str(folder)) from error


def _address_now(home: Path, url: str) -> str:
    """The address of this computer's own server, whose port or certificate may have changed; of another, as it was."""
    return address_now(Home(home), url) if is_loopback(url) else url


class _Run:
    """One incarnation of a session's runner."""

    def __init__(self, journal: Journal, folder: Path, url: str, token: str, allow: bool) -> None:
        self._journal, self._folder = journal, folder
        self._url, self._token = url, token
        self._inbox = Inbox(journal)
        self._signals = Signals(self._inbox)
        self._home = Path(os.environ.get("TIPHYS_HOME") or folder.parent.parent)
        self._spool = Spool(journal, self._inbox, url, token, self._on_news, lambda: _address_now(self._home, url))
        self._catalogue = Catalogue.of(self._home)
        self._allowances = None if allow else Allowances(self._home / "allowed")
        self._scope = TaskScope("runner")
        self._actions: ActionRunner | ExternalAgent | None = None
        journal.hide(token)
        self._work: asyncio.Task[None] | None = None
        self._fenced: BaseException | None = None

    async def run(self) -> None:
        """The whole life of this incarnation."""
        loop = asyncio.get_running_loop()
        for one in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(one, self._stop)
        try:
            async with self._scope:
                self._scope.spawn(self._linked(), name="link", on_error=self._link_failed)
                self._scope.spawn(self._spool.run_live(), name="live")
                self._scope.spawn(watch_stall(self._journal, self._inbox), name="stall")
                self._scope.spawn(self._watch_folder(), name="folder")
                self._work = self._scope.spawn(self._guarded(), name="work")
                await asyncio.wait([self._work])
                failure = None if self._work.cancelled() else self._work.exception()
                if not (self._fenced or self._spool.lost or failure):
                    await self._spool.flushed(FLUSH_S if not self._work.cancelled() else 3.0)
        finally:
            for one in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(one)
        if failed := self._fenced or self._spool.lost or failure:
            raise failed

    def _stop(self) -> None:
        log.info("told to stop; the journal holds everything that a next runner needs")
        self._cancel()

    def _cancel(self) -> None:
        if self._work is not None:
            self._work.cancel()

    async def _watch_folder(self) -> None:
        """Where the journal was deleted, nothing that is done can be told to anybody."""
        while (self._folder / "journal.db").exists():
            await asyncio.sleep(FOLDER_LOOK_S)
        log.error("%s was deleted: the runner ends", self._folder)
        self._cancel()

    async def _linked(self) -> None:
        """The link, until it is cancelled or a newer runner takes over, which is no defect to be logged as one."""
        try:
            await self._spool.run()
        except Conflict as error:
            self._link_failed(error)

    def _link_failed(self, error: BaseException) -> None:
        """A newer runner holds the session, so nothing that this one does counts any more."""
        self._fenced = error
        self._cancel()

    def _on_news(self, news: News) -> None:
        self._signals.ring()
        if self._spool.lost is not None:
            self._cancel()
        if self._actions is not None and (news.interrupt or {"interrupt", "stop"} & set(news.controls)):
            self._scope.spawn(self._interrupt(self._actions), name="interrupt")

    def _miss_host(self, sentence: str) -> None:
        """An action waits for a host that is lost, or (with nothing said) does no longer."""
        if sentence:
            enter(self._journal, "waiting", "host", sentence)
        elif read_progress(self._journal).state == "waiting":
            enter(self._journal, "running")

    @staticmethod
    async def _interrupt(actions: ActionRunner | ExternalAgent) -> None:
        if await actions.interrupt():
            log.info("the running action was interrupted")

    async def _guarded(self) -> None:
        """The work; whatever goes wrong in it becomes the session's end, told in the log."""
        try:
            await self._prepared()
        except ReportableError as error:
            if error is self._spool.lost:  # whatever this journal says counts no more; `run` tells why
                return
            log.error("%s", error.sentence)
            self._fail(error.code, error.sentence)
        except Exception as error:
            if is_disk_failure(error):  # the session does not fail for it: a later runner goes on
                raise
            log.exception("the session fails by a defect of ours")
            self._fail("internal", f"{type(error).__name__}: {error}")

    def _fail(self, reason: str, detail: str) -> None:
        if read_progress(self._journal).state not in FINAL_STATES:
            enter(self._journal, "failed", reason, logs.redactor.redact(detail))

    async def _prepared(self) -> None:
        created = await self._created()
        if is_over(self._journal, self._inbox):
            return  # only the last entries have to go out
        task, settings = created.task, created.agent
        self._check(task, settings)
        self._hide_keys(settings)
        self._seed(task)
        if settings.kind == "external":
            await self._with_hosts(task, settings, None)
            return
        model = answering(self._inbox.branched, self._home / "server.db",
                          open_task_model(self._catalogue, task, settings.model))
        self._check(task, settings)  # again: what was read is what was allowed
        try:
            if task.environment is not None:
                await play(self._journal, self._inbox, self._signals, task, settings, model,
                           on_thought=self._tell_thought, on_action=partial(telling, self._tell_action))
            else:
                await self._with_hosts(task, settings, model)
        finally:
            await model.close()

    def _seed(self, task: Task) -> None:
        """A branch begins with what another session had. Raises NotFound where its snapshot is not here."""
        branched = self._inbox.branched
        if branched is not None:
            with closing(SnapshotStore(self._home)) as store:
                seed(self._journal, store, branched, self._home / "server.db", task.limits)

    async def _created(self) -> SessionCreated:
        """What the session is; and, when the server can be reached, everything that its log says by now."""
        await self._spool.caught_up(CATCH_UP_S if self._inbox.created else None)
        if self._spool.lost is not None:
            raise self._spool.lost
        created = self._inbox.created
        while created is None:
            await self._signals.heard()
            created = self._inbox.created
        return created

    def _check(self, task: Task, settings: AgentSettings) -> None:
        """Refuse what this computer's operator did not allow, whatever the log says, as it may come from elsewhere.

        Raises InvalidInput, Conflict (task_not_allowed).
        """
        check_task(task, settings)
        rights = rights_of(task, settings)
        if rights and self._allowances is not None:
            self._allowances.require(rights, task.id, self._catalogue.digest(task.id), self._journal.session)

    def _hide_keys(self, settings: AgentSettings) -> None:
        """Whatever this process knows as a secret goes into no entry and no log, whoever shows it."""
        keys = [one.key_env for one in (settings.model, settings.media) if one is not None]
        for name, value in os.environ.items():
            if name in keys or (_SECRET.search(name) and _LIKE_A_SECRET.fullmatch(value)):
                self._journal.hide(value)
                logs.redactor.add(value)

    async def _with_hosts(self, task: Task, settings: AgentSettings, model: LanguageModel | None) -> None:
        """Work on the session's hosts; without a model of ours an external agent does."""
        hosts = await self._hosts(task, settings)
        handing_in = HandingIn(task, self._catalogue, hosts.first, hosts.for_evaluation(),
                               lambda: self._check(task, settings), self._folder)
        environment = HostEnvironment(task, settings, handing_in)
        tools = environment.tools()
        native = settings.model.actions == "native"
        steps = StepJournal(self._journal, self._inbox, task, model.count if model else estimate_tokens, native=native,
                            tools=msgspec.json.encode(tools) if native else b"")
        submissions = Submissions(self._journal, steps, task, environment)
        actions = self._acting(hosts, Sink(self._journal, steps, self._signals, submissions), settings)
        environment.carry_out_by(actions)
        store = SnapshotStore(self._home)
        try:
            await hosts.open(self._tell_thought)
            await bring_back(self._journal, hosts.sandboxes, store, steps)
            await environment.reset(task, 0)
            self._actions = actions
            snapshots = Snapshots(self._journal, self._inbox, hosts.sandboxes, store, settings.snapshots, actions.flush,
                                  hosts.services.sandboxes)
            agent: Agent | ExternalAgent
            if model is None:
                from core.agents.external import ExternalAgent  # with the gateway, which takes long to import

                agent = ExternalAgent(self._journal, self._inbox, self._signals, steps, hosts.first, actions,
                                      submissions, task, settings, self._folder, snapshots=snapshots,
                                      on_text=self._tell_thought, make_spool=self._spool_of)
                self._actions = agent
            else:
                agent = Agent(self._journal, self._inbox, self._signals, steps, model, actions, submissions, task,
                              settings, tools, workspace=hosts.first.workspace, on_thought=self._tell_thought,
                              snapshots=snapshots, read=environment.read,
                              on_action=partial(telling, self._tell_action))
            await unless_full(agent.run(), hosts.all)
        finally:
            self._actions = None
            if steps.progress.state in FINAL_STATES:
                await hosts.end()
            await environment.close()
            store.close()

    def _acting(self, hosts: SessionHosts, sink: Sink, settings: AgentSettings) -> ActionRunner:
        """What carries out the session's actions, from where it stood."""
        state = msgspec.structs.replace(self._journal.slot("actions", RunnerState) or RunnerState(),
                                        offsets=self._journal.terminals())
        return ActionRunner(hosts.sandboxes, sink, settings, state, self._miss_host, hosts.services)

    async def _hosts(self, task: Task, settings: AgentSettings) -> SessionHosts:
        """The session's hosts, closed still, their images built."""
        lab_names = Allowances(self._home / "allowed").names()
        images = await built_images(self._catalogue, task, settings, read_places(self._folder), lab_names)
        return SessionHosts(self._journal, task, settings, self._catalogue, self._folder, self._home, images, lab_names)

    def _spool_of(self, journal: Journal, inbox: Inbox, on_news: Callable[[News], None], call: Command) -> Spool:
        """The link of a subagent's session, with this session's token."""
        return Spool(journal, inbox, self._url, self._token, on_news, lambda: _address_now(self._home, self._url), call)

    def _tell_action(self, text: str) -> None:
        self._spool.tell_live("action", self._journal.clean_text(text))

    def _tell_thought(self, text: str) -> None:
        self._spool.tell_live("thought", self._journal.clean_text(text))
