"""Carries actions out on the session's hosts and gives one observation for each."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from time import monotonic

import msgspec

from core.actions.bench import Bench
from core.actions.command import end_programs, job_result
from core.actions.jobs import JobNote, job_id
from core.actions.output import text_output
from core.actions.registry import ACTIONS
from core.actions.result import ActionFailed, Result
from core.actions.sink import ActionSink
from core.aio import TaskScope
from core.domain.action_kinds import ACTION_KINDS
from core.domain.errors import LimitReached, NotFound, ReportableError, Unavailable
from core.domain.step import Action, ActionError, Observation, refusal
from core.domain.task import AgentSettings
from core.sandbox.sandbox import Sandbox
from core.sandbox.services import Services

INTERRUPT_S = 3.0
"""How long a command has to end after SIGINT before it is killed, in seconds."""
HOST_S, LONGEST_PAUSE_S = 900.0, 15.0
"""How long an action waits for a host that is lost, and the most between two tries, in seconds."""
WATCH_S = 5.0
"""How often an action that waits for jobs looks whether their hosts are there."""
_log = logging.getLogger("agent")


class RunnerState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What to keep over a restart: how far each terminal's stream was emitted, open files, and jobs."""

    offsets: dict[str, int] = {}
    files: dict[str, tuple[str, int]] = {}
    cleared: dict[str, int] = {}
    jobs: tuple[JobNote, ...] = ()


class ActionRunner:
    """Runs one action at a time, or several together that change nothing. The hosts stay the caller's: it starts and
    closes them through this."""

    def __init__(self, hosts: Mapping[str, Sandbox], sink: ActionSink, settings: AgentSettings,
                 state: RunnerState = RunnerState(), on_missing: Callable[[str], None] = lambda _: None,
                 services: Services | None = None) -> None:
        """`hosts` in the task's order: the first is the default. `state` is what `state()` gave before a restart.
        `on_missing` hears why an action waits for its host, and "" when it does no longer. `services` are started again
        with a host that was lost: what took it may have taken them."""
        self._bench = Bench(hosts, sink, settings)
        self._hosts = hosts
        self._state = state
        self._scope = TaskScope("actions")
        self._interrupted = asyncio.Event()
        self._running: set[asyncio.Task[Observation]] = set()
        self._services = services or Services(())
        self._on_missing, self._reaching = on_missing, asyncio.Lock()
        self._emptied: set[str] = set()
        """Hosts that lost their terminals while the actions of now run."""

    async def start(self) -> None:
        """Start or re-attach to every sandbox and follow its terminals. Raises Unavailable."""
        for sandbox in self._hosts.values():
            await sandbox.start()
        self._bench.open_files.update(self._state.files)
        self._bench.cleared.update(self._state.cleared)
        await self._bench.jobs.start_watch(self._scope, self._state.jobs)
        await self._bench.follower.start(self._scope, self._state.offsets)
        await self._bench.files.start()
        self._scope.spawn(self._watch(), name="hosts")

    async def run(self, action: Action, step: int) -> Observation:
        """Carry an action out. Never raises for the agent's mistake, nor for a sandbox that is gone."""
        began = datetime.now(UTC)
        self._bench.step, self._bench.call_id = step, action.call_id
        if not self._running:
            self._interrupted.clear()
            self._emptied.clear()
        observation = await self._interruptible(action)
        observation = await self._afterwards(action, step, observation)
        return msgspec.structs.replace(observation, call_id=action.call_id, started_at=began,
                                       ended_at=datetime.now(UTC))

    async def recover(self, action: Action, step: int) -> Observation:
        """After a restart: what became of an action that had begun. Looks, and never does it again."""
        now = datetime.now(UTC)
        self._bench.step, self._bench.call_id = step, action.call_id
        observation = await self._found_again(action, step)
        if observation is None:
            observation = refusal("interrupted", "The agent was restarted while this action ran; whether it had its "
                                  "effect is not known. Look before you repeat it.", "killed")
        return msgspec.structs.replace(observation, call_id=action.call_id, started_at=now, ended_at=now)

    async def interrupt(self) -> bool:
        """End the action that is running: SIGINT to a command, wake a sleep. False when none is running."""
        if not self._running:
            return False
        self._interrupted.set()
        return True

    async def look(self, step: int) -> None:
        """Emit what changed on the hosts by somebody else's actions: terminals' output and files, as of a step."""
        await self.flush()
        for host in self._hosts:
            await self._bench.files.scan(host, step)

    def follow(self, host: str, terminal: str) -> None:
        """Follow a terminal that was opened beside the actions."""
        self._bench.follower.follow(host, terminal)

    async def flush(self) -> None:
        """Emit all terminal output that has come so far (before a step's end is recorded)."""
        await self._bench.follower.flush()

    def offsets(self) -> dict[str, int]:
        """The length of each terminal's stream as emitted so far, by "host/terminal": StepAdded.terminals."""
        return self._bench.follower.offsets()

    def state(self) -> RunnerState:
        """What to journal with a step."""
        bench = self._bench
        return RunnerState(offsets=bench.follower.offsets(), files=dict(bench.open_files), cleared=dict(bench.cleared),
                           jobs=bench.jobs.notes())

    async def close(self) -> None:
        """Stop following; the sandboxes and their terminals go on."""
        await self._scope.close()
        if self._bench.media is not None:
            await self._bench.media.close()
        for sandbox in self._hosts.values():
            await sandbox.close()

    async def _interruptible(self, action: Action) -> Observation:
        """The observation of an action, or of its interruption."""
        running = self._scope.spawn(self._carried(action), name=f"action {action.tool}")
        self._running.add(running)
        asked = self._scope.spawn(self._interrupted.wait(), name="interrupt")
        try:
            await asyncio.wait({running, asked}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                return running.result()
            return await self._stopped(running)
        finally:
            self._running.discard(running)
            running.cancel()
            asked.cancel()

    async def _stopped(self, task: asyncio.Task[Observation]) -> Observation:
        """End what runs, kindly first, and say that it was interrupted."""
        if foreground := self._bench.foreground:
            host, terminal, _ = foreground
            try:
                await self._hosts[host].terminals.interrupt(terminal)
                await asyncio.wait({task}, timeout=INTERRUPT_S)
                if not task.done():
                    await end_programs(self._bench, host, terminal)
                    await asyncio.wait({task}, timeout=INTERRUPT_S)
            except ReportableError as error:
                _log.warning("The interrupted command on %s cannot be ended: %s", host, error)
        ended = task.result() if task.done() else Observation(call_id="")
        interruption = ActionError(kind="interrupted", message="This action was interrupted by a person.")
        return msgspec.structs.replace(ended, status="killed", error=interruption)

    async def _carried(self, action: Action) -> Observation:
        """The observation of an action; failures that are not bugs become one too."""
        declared = ACTIONS.get(action.tool)
        if action.malformed or declared is None:
            return refusal("malformed", action.malformed or f"There is no tool {action.tool!r}.")
        try:
            result = await declared.carry(declared.read(action.arguments), self._bench)
            return result if isinstance(result, Observation) else await self._observation_of(result)
        except ActionFailed as failure:
            return refusal(failure.kind, failure.message, failure.status)
        except msgspec.ValidationError as error:
            return refusal("malformed", f"The arguments of {action.tool} are wrong: {error}.")
        except Unavailable as error:
            return await self._revived(action, error)
        except ReportableError as error:
            return refusal(_kind(error), error.sentence, "failed")

    async def _observation_of(self, result: Result) -> Observation:
        output = result.output or await text_output(self._bench, result.text)
        return Observation(call_id="", status=result.status, exit_code=result.exit_code, error=result.error,
                           job=result.job, data=result.data, output=output)

    async def _revived(self, action: Action, error: Unavailable) -> Observation:
        """What becomes of an action whose host was lost: the host is waited for, and a command that went on is found.
        """
        missing = await self._reached()
        try:
            until, pause = monotonic() + HOST_S, 1.0
            while missing and monotonic() < until:
                self._on_missing(" ".join(missing))
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_S)
                missing = await self._reached()
        finally:
            self._on_missing("")
        if not missing and (found := await self._found_again(action, self._bench.step)) is not None:
            return found
        again = [f"Host {name} was started again: its files are there, its sessions and programs are gone."
                 for name in sorted(self._emptied)]
        return refusal("unavailable", " ".join([error.sentence, *again, *missing]), "failed")

    async def _watch(self) -> None:
        """While an action waits for jobs, look after their hosts: of a lost one nobody would tell it anything."""
        is_missing = False
        while True:
            await asyncio.sleep(WATCH_S)
            if not self._running or not self._bench.jobs.running():
                continue
            if not is_missing and await self._answer():
                continue
            missing = await self._reached()
            if missing or is_missing:
                self._on_missing(" ".join(missing))
            is_missing = bool(missing)

    async def _answer(self) -> bool:
        """Whether all hosts with running jobs do."""
        try:
            for host in self._bench.jobs.running():
                await self._hosts[host].terminals.list()
        except ReportableError:
            return False
        return True

    async def _reached(self) -> list[str]:
        """Start the hosts that do not answer; why some still do not."""
        missing: list[str] = []
        async with self._reaching:
            for name, sandbox in self._hosts.items():
                try:
                    await self._answered(name, sandbox)
                except ReportableError as problem:
                    missing.append(f"Host {name} cannot be started again: {problem.sentence}")
        return missing

    async def _answered(self, name: str, sandbox: Sandbox) -> None:
        try:
            known = await sandbox.terminals.list()
        except ReportableError:
            await sandbox.start()
            await self._services.start()
            known = await sandbox.terminals.list()
            if not known:
                self._bench.jobs.lost(name)
                self._emptied.add(name)
        for terminal in known:
            self._bench.follower.follow(name, terminal.name)

    async def _afterwards(self, action: Action, step: int, observation: Observation) -> Observation:
        """Terminal output into the log, changed files, and the jobs that ended meanwhile."""
        declared = ACTIONS.get(action.tool)
        looks = declared is not None and declared.kind.family in ("command", "control")
        if looks and not action.malformed and action.tool != "think":
            await self._bench.follower.flush()
            for host in self._hosts:
                await self._bench.files.scan(host, step)
        return self._with_jobs(action, observation) if looks else observation

    def _with_jobs(self, action: Action, observation: Observation) -> Observation:
        """Tell of jobs that ended; the first failed one gives its job, code and error to an action that looks."""
        if observation.is_error and observation.error and observation.error.kind == "malformed":
            return observation
        ended = [n for n in self._bench.jobs.tell() if n.id != observation.job]
        if not ended:
            return observation
        text = "\n".join([observation.output.text, *(f"[{n.sentence}]" for n in ended)]).lstrip("\n")
        rows = [{"job": n.id, "call_id": n.call_id, "step": n.step, "host": n.host, "session_id": n.terminal,
                 "exit_code": n.exit_code} for n in ended]
        changed = msgspec.structs.replace(
            observation, output=msgspec.structs.replace(observation.output, text=text),
            data={**observation.data, "finished_jobs": rows})
        first = next((n for n in ended if n.failed), ended[0])
        if not ACTION_KINDS[action.tool].reports_jobs or observation.is_error:
            return changed
        error = ActionError(kind="exit_code", message=first.sentence) if first.failed else None
        return msgspec.structs.replace(changed, job=first.id, exit_code=first.exit_code, error=error)

    async def _found_again(self, action: Action, step: int) -> Observation | None:
        """A command's job is still known to its terminal: how it stands."""
        if action.tool != "run_command":
            return None
        wanted = job_id(step, action.call_id)
        for host, sandbox in self._hosts.items():
            try:
                job = next((j for j in await sandbox.terminals.jobs() if j.id == wanted), None)
                if job is not None:
                    command = " ".join(str(action.arguments.get("command", "")).split())[:200]
                    self._bench.jobs.start(JobNote(id=wanted, call_id=action.call_id, step=step, host=host,
                                                   terminal=job.terminal, command=command))
                    return await self._observation_of(await job_result(self._bench, host, job))
            except ReportableError as error:
                _log.warning("Job %s cannot be looked up on %s: %s", wanted, host, error)
        return None


def _kind(error: ReportableError) -> str:
    kinds = {NotFound: "not_found", LimitReached: "too_large"}
    return next((kind for known, kind in kinds.items() if isinstance(error, known)), error.code)
