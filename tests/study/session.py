"""One session of the product's own agent in the shell world: real journal, delivery, steps, evaluation and log.

Only three things are ours: the world instead of a container, direct calls of the server's functions instead of a
socket, and no progress note at the end of a context.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

import msgspec
from study.world import WORKSPACE, Shell, ShellHost, observed

from core.actions.runner import ActionRunner, RunnerState
from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.agents.loop import Agent
from core.agents.signals import Signals
from core.agents.sink import Sink
from core.agents.steps import OpenStep, StepJournal
from core.agents.submissions import Submissions
from core.domain.events import GuidanceQueued, SessionCreated, blobs_of, decode_event, encode_event, make_event
from core.domain.ids import new_id
from core.domain.step import Action, ActionError, Observation
from core.domain.task import AgentSettings, ModelSettings, Task
from core.domain.trajectory import Trajectory, fold
from core.domain.verdict import Author
from core.llm.model import LanguageModel
from core.sandbox.sandbox import Sandbox
from core.store import blobs, log
from core.store.home import Home
from core.store.sqlite import Connection
from core.store.writer import Writer
from core.tasks.catalogue import Catalogue
from core.tasks.handing_in import HandingIn

PERSON = Author(kind="person", name="Watcher")

OnActed = Callable[["Link", int], Awaitable[None]]
"""Told of each step's number once its action was carried out, as a person who watches would see it."""


class Store:
    """The home folder of a study with its log of record and its catalogue."""

    def __init__(self, home: Path) -> None:
        self.home = Home(home)
        self.writer = Writer(self.home.server_db)
        self.catalogue = Catalogue([self.home.tasks])

    async def append(self, session: str, bodies: list[bytes]) -> None:
        """Events enter a session's log at its end."""
        await self.writer.do(lambda conn: log.append(conn, session, bodies))

    def read(self, session: str) -> Trajectory:
        """A session as the log tells it."""
        return self.writer.do_blocking(lambda conn: fold(session, log.read_all(conn, session)))

    def close(self) -> None:
        """Let go of the file."""
        self.writer.close()


class Link:
    """What a runner's socket does: the journal's entries go into the log, the log's events into the inbox."""

    def __init__(self, store: Store, journal: Journal, inbox: Inbox) -> None:
        self._store, self._journal, self._inbox = store, journal, inbox
        self._session, self._sent, self._fence = journal.session, 0, 0

    async def open(self, task: Task, settings: AgentSettings) -> None:
        """Create the session, and lease it."""
        fact = SessionCreated(task=task, agent=settings)

        def create(conn: Connection) -> int:
            log.create(conn, self._session)
            log.append(conn, self._session, [encode_event(make_event(fact, PERSON))])
            return log.lease(conn, self._session, self._journal.id)[0]

        self._fence = await self._store.writer.do(create)
        await self.sync()

    async def sync(self) -> None:
        """Send what is new in the journal, take in what is new in the log."""
        entries = self._journal.entries(self._sent + 1, 1 << 20, 1 << 40)
        names = {n for body in entries for n in blobs_of(decode_event(body).fact)}
        payloads = [(name, self._journal.compressed(name) or b"") for name in sorted(names)]

        def store(conn: Connection) -> list[bytes]:
            for name, data in payloads:
                blobs.put_compressed(conn, name, data)
            log.append_journal(conn, self._session, self._fence, self._sent + 1, entries)
            return [p.body for p in log.read_all(conn, self._session)][self._inbox.cursor :]

        fresh = await self._store.writer.do(store)
        self._sent += len(entries)
        self._inbox.take(self._inbox.cursor + 1, fresh)

    async def guide(self, text: str) -> None:
        """A person's advice enters the log behind all that the agent told so far; the next step will hold it."""
        await self.sync()
        advice = make_event(GuidanceQueued(guidance=new_id(), text=text), PERSON)
        await self._store.append(self._session, [encode_event(advice)])
        await self.sync()


class BareSteps(StepJournal):
    """Steps without the progress note: it stands before every answer when it is asked for, yet of a trained context
    only before the last one, so a short session would teach that the note means the end."""

    def begin(self) -> OpenStep:
        """The open step, its context without the note."""
        opened = super().begin()
        opened = msgspec.structs.replace(opened, extra=tuple(x for x in opened.extra if x.ref.source != "note"))
        self._journal.put_slot("open", opened)
        return opened


class ShellActions:
    """Carries actions out in the world; everything but a command and the end is refused."""

    def __init__(self, shell: Shell, sink: Sink, acted: Callable[[int], Awaitable[None]]) -> None:
        self._shell, self._sink, self._acted = shell, sink, acted

    async def run(self, action: Action, step: int) -> Observation:
        """The observation of one action."""
        observation = await self._carried(action, step)
        await self._acted(step)
        return observation

    async def _carried(self, action: Action, step: int) -> Observation:
        if action.malformed or action.tool not in ("run_command", "finish"):
            error = ActionError(kind="malformed", message="This is no command.")
            return Observation(call_id="", status="refused", error=error)
        if action.tool == "finish":
            return await self._sink.finish(step)
        return observed(self._shell, str(action.arguments["command"]))

    async def flush(self) -> None:
        """Nothing waits."""

    def offsets(self) -> dict[str, int]:
        """There is no terminal."""
        return {}

    def state(self) -> RunnerState:
        """Nothing is remembered."""
        return RunnerState()


def settings_for(name: str, answer_tokens: int, context_tokens: int) -> AgentSettings:
    """How every agent of the study works: plain-text actions, short answers, a summary where the context is full."""
    model = ModelSettings(kind="policy", name=name, actions="text", max_output_tokens=answer_tokens)
    return AgentSettings(model=model, context_tokens=context_tokens)


async def play(store: Store, session: str, task_id: str, model: LanguageModel, settings: AgentSettings,
               on_acted: OnActed | None = None) -> None:
    """Run a session from its creation to its last evaluation; all of it is then in the log."""
    task = store.catalogue.find(task_id).task
    shell = Shell({name: path.read_text() for name, path in store.catalogue.paths(task, task.workspace)})
    journal = Journal(None, session)
    try:
        inbox = Inbox(journal)
        link = Link(store, journal, inbox)
        await link.open(task, settings)
        await _agent(store, journal, inbox, task, settings, model, shell, link, on_acted).run()
        await link.sync()
    finally:
        journal.close()


def _agent(store: Store, journal: Journal, inbox: Inbox, task: Task, settings: AgentSettings, model: LanguageModel,
           shell: Shell, link: Link, on_acted: OnActed | None) -> Agent:
    async def acted(step: int) -> None:
        if on_acted is not None:
            await on_acted(link, step)

    signals = Signals(inbox)
    steps = BareSteps(journal, inbox, task, model.count, native=False)
    handing_in = HandingIn(task, store.catalogue, cast(Sandbox, ShellHost(shell)), None)
    submissions = Submissions(journal, steps, task, handing_in)
    actions = ShellActions(shell, Sink(journal, steps, signals, submissions), acted)
    return Agent(journal, inbox, signals, steps, model, cast(ActionRunner, actions), submissions, task, settings, [],
                 workspace=WORKSPACE)
