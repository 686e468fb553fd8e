"""A session whose agent is not ours: its gateway, its program, and the states that people see."""

import asyncio
import logging
import os
import secrets
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from core.actions.runner import ActionRunner
from core.agents.agent_process import RETOLD, AgentProcess, Start
from core.agents.agent_words import AgentWords
from core.agents.delivery import Inbox
from core.agents.held_words import LeaveAsked
from core.agents.journal import Journal
from core.agents.line_session import LineSession
from core.agents.line_sessions import LineSessions
from core.agents.progress import reached
from core.agents.seam import Seam
from core.agents.signals import Signals
from core.agents.snapshots import Snapshots
from core.agents.states import enter, is_over, read_progress, save_progress
from core.agents.steps import StepJournal
from core.agents.subagent import SUBAGENTS, MakeSpool, SubagentCall, SubagentSession
from core.agents.submissions import Submissions
from core.aio import TaskScope
from core.domain.errors import Unavailable
from core.domain.events import SessionState
from core.domain.host_rights import endpoint_of
from core.domain.session import FINAL_STATES
from core.domain.task import AgentSettings, Task
from core.gateway.inlet import Inlet
from core.gateway.recipe import RecipeValues, recipe_of
from core.gateway.request import RequestReader
from core.gateway.upstream import Upstream
from core.llm.model import estimate_tokens
from core.sandbox.sandbox import Sandbox
from core.store.home import write_private

log = logging.getLogger("agent")

OUTAGE_AFTER = 3
"""Failed answers in a row from which on the session is said to be waiting."""
STARTS = 3
"""An agent that ends badly is taken up again, but for so many starts without a step between them."""
FLUSH_S = 30.0
LOOK_S = 240.0
"""So long at most an agent waits for its answer's end where a snapshot of its files is being taken."""
GATEWAY_FILE = "gateway.json"


class GatewayAddress(msgspec.Struct, frozen=True):
    """Where the gateway of a session is reached, by whoever starts an agent outside its hosts."""

    url: str
    token: str
    program: str = ""


class ExternalAgent:
    """One session's external agent."""

    def __init__(self, journal: Journal, inbox: Inbox, signals: Signals, steps: StepJournal, host: Sandbox,
                 actions: ActionRunner, submissions: Submissions, task: Task, settings: AgentSettings, folder: Path,
                 *, snapshots: Snapshots, on_text: Callable[[str], None], make_spool: MakeSpool) -> None:
        """`make_spool` links the journal of a subagent to the server."""
        self._journal, self._inbox, self._signals, self._steps = journal, inbox, signals, steps
        self._host, self._actions, self._submissions = host, actions, submissions
        self._task, self._settings, self._folder, self._on_text = task, settings, folder, on_text
        self._snapshots, self._saving = snapshots, asyncio.Lock()
        self._recipe = recipe_of(settings)
        self._process = AgentProcess(journal, host, actions, self._recipe)
        self._main = LineSession(journal, inbox, steps, settings, self._recipe,
                                 lambda: journal.terminals() | actions.offsets())
        self._make_spool = make_spool
        self._lines = LineSessions(self._main, self._subagent, self._recipe, has_samples=settings.samples)
        self._words = AgentWords(self._main, inbox, signals, host=host.host.name, is_attached=settings.is_attached,
                                 speaks_acp=bool(settings.acp), stays=task.waits_for_guidance, is_over=self._is_spent,
                                 on_leave=self._show_leave, on_waits=self._show_wait, on_ended=self._take_end)
        self._scope = TaskScope("external agent")
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._look: asyncio.Task[None] | None = None
        self._goes_on = False
        """Whether the session had ended before."""

    async def run(self) -> None:
        """Work until a final state is journalled. Raises Unavailable where the agent cannot begin."""
        was_over = read_progress(self._journal).state in FINAL_STATES
        if is_over(self._journal, self._inbox):
            return
        self._goes_on = was_over or self._inbox.continued is not None
        self._steps.go_on()
        if self._inbox.leave is None:
            self._inbox.done("resume")
        seam = self._seam()
        try:
            async with self._scope:
                filling = await self._open_gateway()
                self._scope.spawn(Inlet(self._host.accept, seam.handle).run(), name="gateway")
                await self._work(filling)
                await self._lines.sent(FLUSH_S)
                async with self._saving:
                    await self._snapshots.at_end()
        finally:
            seam.close()
            await self._lines.close()

    def _subagent(self, call: SubagentCall) -> SubagentSession:
        """A subagent's session: a journal beside this one, linked as soon as it holds anything."""
        journal = self._journal.beside(self._folder / SUBAGENTS / f"{call.line}.db", call.session)
        inbox = Inbox(journal)
        task = Task(id=self._task.id, title=call.title, description=call.asked)
        own = LineSession(journal, inbox, StepJournal(journal, inbox, task, estimate_tokens), self._settings,
                          self._recipe, dict, call.line, lambda: self._main.book.places)
        return SubagentSession(call, own, lambda: self._make_spool(journal, inbox, lambda _: self._signals.ring(),
                                                            call.message))

    # ---- the gateway

    def _seam(self) -> Seam:
        model = self._settings.model
        key = os.environ.get(model.key_env, "") if model.key_env else ""
        if model.key_env and not key:
            raise Unavailable("no_key", f"The environment variable {model.key_env} holds no key.", env=model.key_env)
        return Seam(self._lines, self._inbox, self._signals, RequestReader(self._recipe.summary),
                    Upstream(endpoint_of(model.base_url)), token=self._token(), key=key, words=self._words,
                    is_over=self._is_spent, on_paused=self._show_pause, on_text=self._on_text, on_step=self._on_step,
                    on_failures=self._show_failures)

    def _token(self) -> str:
        """The session's token, which says nothing outside its gateway; it goes into no log."""
        token = self._journal.slot("gateway_token", str)
        if token is None:
            token = secrets.token_hex(24)
            self._journal.put_slot("gateway_token", token)
        self._journal.hide(token)
        return token

    async def _open_gateway(self) -> RecipeValues:
        port = await self._host.listen(self._journal.slot("gateway_port", int) or 0)
        self._journal.put_slot("gateway_port", port)
        filling = RecipeValues(gateway=f"http://127.0.0.1:{port}", token=self._token(), model=self._settings.model.name,
                          task=self._task.description, workspace=self._host.workspace)
        if self._settings.is_attached:
            address = GatewayAddress(filling.gateway, filling.token, self._settings.recipe)
            write_private(self._folder / GATEWAY_FILE, msgspec.json.encode(address))
        return filling

    def _is_spent(self) -> bool:
        """Whether a limit ends the session before its next request."""
        progress = read_progress(self._journal)
        ending = progress.ending or reached(self._lines.counted, self._steps.limits)
        if ending:
            save_progress(self._journal, msgspec.structs.replace(progress, ending=ending))
            self._signals.ring()
        return bool(ending)

    def _show_pause(self, is_paused: bool) -> None:
        if is_paused:
            enter(self._journal, "paused", "paused_by_person")
        else:
            self._inbox.done("resume")
            enter(self._journal, "running")

    def _show_leave(self, asked: LeaveAsked | None) -> None:
        if asked is None:
            self._show_pause(False)
        else:
            enter(self._journal, "paused", "asks_for_leave", asked.what, asked.question)

    def _show_wait(self, waits: bool) -> None:
        if waits and self._inbox.wish == "pause":
            enter(self._journal, "paused", "paused_by_person")
        elif waits:
            enter(self._journal, "waiting", "guidance", "The agent has ended its turn and waits for advice.")
        else:
            enter(self._journal, "running")

    def _show_failures(self, count: int, sentence: str) -> None:
        if count >= OUTAGE_AFTER:
            enter(self._journal, "waiting", "endpoint", sentence)
        elif not count and self._inbox.wish != "pause":
            enter(self._journal, "running")

    def _take_end(self, status: int) -> None:
        if not self._ended.done():
            self._ended.set_result(status)

    async def _wait_for_look(self) -> None:
        """Until a step was looked at, so that the agent changes nothing meanwhile; but not for ever."""
        if self._look is not None:
            await asyncio.wait({self._look}, timeout=LOOK_S)

    def _on_step(self, step: int) -> Callable[[], Awaitable[None]]:
        """A step begins, so the one before is over: look what it changed, while the model thinks."""
        if self._look is None or self._look.done():
            self._look = self._scope.spawn(self._look_at(max(0, step - 1)), name="look")
        return self._wait_for_look

    async def _look_at(self, step: int) -> None:
        """The agent waits for its model meanwhile, so its files are as after the step, its own record among them."""
        await self._actions.look(step)
        async with self._saving:
            await self._snapshots.at_border()

    # ---- the program

    async def _work(self, filling: RecipeValues) -> None:
        if self._goes_on and (self._settings.is_attached or (self._lines.lines.main and not self._recipe.resume)):
            enter(self._journal, "running")
            enter(self._journal, "failed", "cannot_continue", f"{self._recipe.title} cannot be taken up after its end.")
            return
        version = "" if self._settings.is_attached else await self._process.prepare(filling)
        if self._inbox.wish not in ("pause", "stop"):
            enter(self._journal, "running", "", f"{self._recipe.title} {version}".strip())
        start = None if self._settings.is_attached else await self._begun(filling)
        while True:
            status = await self._until_ended(start)
            if self._inbox.wish == "stop":
                await self._stop()
                return
            ending = read_progress(self._journal).ending
            if ending or status == 0:
                await self._end(ending or "finished")
                return
            if start is None or not self._may_start_again(start):
                await self._give_up(status)
                return
            log.warning("the agent ended with status %s; it is taken up again", status)
            start = await self._again(filling)

    async def _begun(self, filling: RecipeValues) -> Start:
        """The start that is there from a runner before, or the first one; or one more after the session's end, and in
        a branch, whose agent had begun elsewhere."""
        if self._goes_on if self._process.last else self._lines.lines.main is not None:
            return await self._again(filling)
        return self._process.last or await self._process.start(filling, self._recipe.command, 0)

    async def _again(self, filling: RecipeValues) -> Start:
        has_history = self._lines.lines.main is not None
        self._lines.lines.is_restarted = True
        self._lines.end_all("failed", "agent_died")
        command = self._recipe.resume if has_history else self._recipe.command
        if has_history and RETOLD in command:
            await self._process.write_retold(filling.task + self._main.retold())
        return await self._process.start(filling, command, read_progress(self._journal).steps)

    def _may_start_again(self, start: Start) -> bool:
        """Whether the agent can be taken up: it knows how to, and has got somewhere since it was last."""
        steps = read_progress(self._journal).steps
        return bool(self._recipe.resume or not self._lines.lines.main) and (start.count < STARTS or steps > start.step)

    async def _until_ended(self, start: Start | None) -> int | None:
        """Wait for the agent's end, for a stop, or for a limit. The exit status, None where nobody knows it."""
        process = self._scope.spawn(self._watched(start), name="process")
        asked = self._scope.spawn(self._until_asked(), name="asked")
        try:
            await asyncio.wait({process, asked}, return_when=asyncio.FIRST_COMPLETED)
            if process.done():
                return process.result()
            await self._process.end()
            return None
        finally:
            for task in (process, asked):
                task.cancel()

    async def _watched(self, start: Start | None) -> int | None:
        if start is None:
            return await self._ended
        job = await self._process.ended(start)
        return job.exit_code if job is not None else None

    async def _until_asked(self) -> None:
        while self._inbox.wish != "stop" and not read_progress(self._journal).ending:
            await self._signals.heard()
            if self._inbox.wish == "pause":
                async with self._saving:
                    await self._snapshots.if_asked()

    async def interrupt(self) -> bool:
        """Refuse what the agent asks leave for, else end the commands that it runs now; the agent itself goes on.
        Whether there was anything."""
        if self._words.refuse():
            return True
        if self._settings.is_attached:
            log.info("what an attached agent runs is beyond this session's reach")
            return False
        opened = self._main.steps.open
        if opened is None or opened.answered_at is None:
            return False
        since = (datetime.now(UTC) - opened.answered_at).total_seconds()
        return bool(await self._process.interrupt_tools(since))

    # ---- ends

    async def _closed(self, state: SessionState, reason: str) -> None:
        """Everything that the agent left is in the journal, and its subagents are over."""
        self._main.book.finish(is_end=reason == "finished")
        self._lines.end_all(state, reason)
        await self._actions.look(read_progress(self._journal).steps)

    async def _end(self, reason: str) -> None:
        await self._closed("finished", reason)
        if self._submissions.can_score and not self._steps.progress.final_scored:
            await self._snapshots.before_evaluation()
            await self._submissions.hand_in(self._steps.progress.steps, final=True)
        enter(self._journal, "finished", reason)

    async def _stop(self) -> None:
        await self._closed("stopped", "stopped_by_person")
        with self._journal.transaction("stop"):
            self._inbox.done("stop")
            enter(self._journal, "stopped", "stopped_by_person")

    async def _give_up(self, status: int | None) -> None:
        words = "" if self._settings.is_attached else await self._process.last_words()
        await self._closed("failed", "agent_died")
        how = "ended without telling how" if status is None else f"ended with status {status}"
        enter(self._journal, "failed", "agent_died", f"{self._recipe.title} {how}. {words}")
