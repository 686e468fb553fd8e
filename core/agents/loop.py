"""The agent's loop: border, room, model, actions, step; until it ends by itself, by a limit or by a person.

Every phase is journalled before the next begins (`core.agents.steps`), so the loop may die anywhere.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Protocol

import msgspec

from core.actions.registry import parse_call
from core.actions.runner import RunnerState
from core.agents import prompts
from core.agents.asking import Asker, Halted
from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.agents.persons_turn import PersonsTurn
from core.agents.progress import AgentProgress, reached
from core.agents.signals import Signals
from core.agents.snapshots import Snapshots
from core.agents.states import enter, is_over
from core.agents.steps import OpenStep, StepJournal
from core.agents.submissions import Submissions
from core.agents.summary import Summarizer
from core.domain.action_kinds import ACTION_KINDS
from core.domain.message import Message, ToolCall
from core.domain.step import Action, Observation, refusal
from core.domain.task import AgentSettings, Task
from core.llm.model import Completion, EndpointError, LanguageModel, Request, ToolSpec
from core.llm.text_actions import line_argument, parse_react, parse_text_actions

log = logging.getLogger("agent")


class Actor(Protocol):
    """The agent's hands."""

    async def run(self, action: Action, step: int) -> Observation:
        """Carry an action out. Never raises for the agent's mistake."""

    async def recover(self, action: Action, step: int) -> Observation:
        """After a restart: what became of an action that had begun."""

    async def flush(self) -> None:
        """Emit what has come so far."""

    def offsets(self) -> dict[str, int]:
        """How far each terminal's stream was emitted."""

    def state(self) -> RunnerState:
        """What to journal with a step."""

    async def interrupt(self) -> bool:
        """End the action that is running; whether there is one."""


class Agent:
    """One session's agent. For live display `on_thought` is told the text that the model is making, whole, and
    `on_action` is entered while an action is carried out."""

    def __init__(self, journal: Journal, inbox: Inbox, signals: Signals, steps: StepJournal, model: LanguageModel,
                 actions: Actor, submissions: Submissions, task: Task, settings: AgentSettings,
                 tools: Sequence[ToolSpec], *, workspace: str = "/workspace",
                 on_thought: Callable[[str], None] | None = None,
                 on_action: Callable[[int, Action], AbstractAsyncContextManager[None]] | None = None,
                 back_off_s: float = 1.0, snapshots: Snapshots | None = None, opening: Sequence[Message] = (),
                 read: Callable[[ToolCall], Action] = parse_call) -> None:
        """`tools` are all that the agent may call, whether told natively or in the system message, and `read` reads its
        calls. `opening`: what it is given first, where that is not the task on its hosts."""
        self._journal, self._inbox, self._signals, self._steps = journal, inbox, signals, steps
        self._actions, self._submissions, self._task, self._settings = actions, submissions, task, settings
        self._native = settings.model.actions == "native"
        self._line = line_argument(tools) if settings.model.actions == "react" else None
        self._opening, self._read_call = tuple(opening), read
        self._given = tuple(tools) if self._native else ()
        self._described = () if self._native else tuple(tools)
        self._workspace, self._on_thought, self._on_action = workspace, on_thought, on_action
        self._snapshots = snapshots
        self._asker = Asker(model, signals, on_outage=partial(enter, journal, "waiting", "endpoint"),
                            on_recovery=partial(enter, journal, "running"), first_s=back_off_s)
        self._person = PersonsTurn(journal, inbox, signals, steps, msgspec.json.encode(list(tools)),
                                   settings.model.actions, self._line)
        self._summarizer = Summarizer(journal, inbox, steps, self._asker, settings, self._given)

    async def run(self) -> None:
        """Work until a final state is journalled. A final state of an earlier run stands, unless resumed."""
        if is_over(self._journal, self._inbox):
            return
        self._steps.found(self._opening or [
            Message(role="system", content=prompts.system_prompt(self._task, self._workspace, self._described)),
            Message(role="user", content=prompts.task_prompt(self._task)),
        ])
        self._steps.go_on()
        self._steps.tell_waiting()
        self._person.begin_again()
        if self._inbox.wish not in ("pause", "stop"):
            enter(self._journal, "running")
        while await self._border():
            try:
                await self._step()
            except Halted:  # the step stays open: a person ends the session now, or writes what it does
                self._tell("")
            await asyncio.sleep(0)  # the link and people have their turn, however fast the model is
        if self._snapshots is not None:
            await self._snapshots.at_end()

    # ---- borders and states

    async def _border(self) -> bool:
        """What people and limits say between two steps; False when the run is over."""
        if self._inbox.wish == "pause":
            await self._pause()
        if self._inbox.wish == "resume":
            self._inbox.done("resume")
        if self._inbox.wish == "stop":
            self._stop()
            return False
        ending = self._ending_now(self._steps.progress) if self._steps.open is None else ""
        if not ending:
            if self._snapshots is not None and self._steps.open is None:
                await self._snapshots.at_border()
            return not self._person.is_on or await self._person.is_wanted() or await self._border()
        if ending == "finished" and self._task.waits_for_guidance:
            return await self._wait_for_guidance()
        await self._end(ending)
        return False

    def _ending_now(self, progress: AgentProgress) -> str:
        """The reason for which the run ends now, or "". A branch first takes all the steps again that it is to."""
        branched = self._inbox.branched
        if branched is not None and branched.replays and progress.steps < branched.step:
            return ""
        if branched is not None and branched.ends and progress.steps >= branched.step:
            return "replayed"
        return progress.ending or reached(progress, self._steps.limits)

    async def _pause(self) -> None:
        enter(self._journal, "paused", "paused_by_person")
        while self._inbox.wish == "pause":
            if self._snapshots is not None and self._steps.open is None:
                await self._snapshots.if_asked()
            await self._signals.heard()
        if self._inbox.wish != "stop":
            enter(self._journal, "running")

    async def _wait_for_guidance(self) -> bool:
        """The task says that a person is asked: the agent that is done waits for advice, or for the stop."""
        enter(self._journal, "waiting", "guidance", "The agent is done and waits for advice.")
        while not self._inbox.waiting() and self._inbox.wish is None:
            await self._signals.heard()
        with self._journal.transaction("answered by a person"):
            if self._inbox.waiting():
                self._steps.save(msgspec.structs.replace(self._steps.progress, ending=""))
            if self._inbox.wish != "stop":
                enter(self._journal, "running")
        return True

    async def _end(self, reason: str) -> None:
        """The end by the agent or by a limit: a last evaluation, then the final state."""
        if self._submissions.can_score and not self._steps.progress.final_scored:
            await self._submissions.hand_in(self._steps.progress.steps, final=True)
        await self._actions.flush()
        self._person.end("over")
        enter(self._journal, "finished", reason)

    def _stop(self) -> None:
        with self._journal.transaction("stop"):
            self._inbox.done("stop")
            self._person.end("over")
            enter(self._journal, "stopped", "stopped_by_person")

    # ---- one step

    async def _step(self) -> None:
        clock = asyncio.get_running_loop()
        began, outage = clock.time(), self._asker.outage_s
        wanted = self._person.wanted
        is_new = self._steps.open is None and wanted is None
        if is_new and await self._summarizer.make_room() and self._snapshots is not None:
            await self._snapshots.after_summary()
        opened = self._steps.begin()
        if opened.completion is None:
            if wanted is not None:
                enter(self._journal, "running")
                opened = self._person.answer(opened, wanted)
            else:
                opened = self._steps.answered(opened, await self._complete(opened))
        thought, actions = self._read(opened)
        asks_for_score = any(action.tool == "eval" for action in actions)
        if self._snapshots is not None and asks_for_score and not self._steps.intended(opened.number, 0):
            await self._snapshots.before_evaluation()
        observations = await self._act(opened.number, actions)
        await self._actions.flush()
        worked = clock.time() - began - (self._asker.outage_s - outage)
        with self._journal.transaction("step"):
            self._journal.put_slot("actions", self._actions.state())
            self._steps.add(opened, thought, actions, observations, worked_s=max(0.0, worked),
                            terminals=self._actions.offsets(), ending=_ending(actions, observations))
        self._tell("")

    async def _complete(self, opened: OpenStep) -> Completion:
        """The model's answer; a context that turns out too long is shortened, and the step asked again."""
        attempt = 0
        while True:
            lines = self._steps.context(opened)
            request = Request(messages=self._steps.messages(lines), tools=self._given, step=opened.number,
                              max_tokens=self._settings.model.max_output_tokens, past=self._steps.past(lines))
            try:
                completion = await self._asker.ask(request, self._tell)
            except EndpointError as error:
                attempt += 1
                log.warning("step %d: %s", opened.number, error.sentence)
                if not await self._summarizer.shrink():
                    enter(self._journal, "waiting", "endpoint", error.sentence)
                    await self._signals.heard(min(60.0, 2.0 ** attempt))
                    if self._inbox.wish == "stop":
                        raise Halted from None
            else:
                enter(self._journal, "running")
                return completion

    def _tell(self, text: str) -> None:
        if self._on_thought is not None:
            self._on_thought(text)

    def _read(self, opened: OpenStep) -> tuple[str, tuple[Action, ...]]:
        """Thought and actions of the answer."""
        message = opened.completion.message if opened.completion else Message(role="assistant")
        thought, calls = message.content, message.tool_calls
        if self._line is not None:
            thought, calls = parse_react(message.content, opened.number, *self._line)
        elif not self._native:
            thought, calls = parse_text_actions(message.content, opened.number)
        return thought or message.reasoning, tuple(self._read_call(call) for call in calls)

    async def _act(self, step: int, actions: Sequence[Action]) -> list[Observation]:
        """Carry the actions out in their order, neighbours that only look or wait together; one that was begun before a
        crash is looked after, not repeated."""
        observations: list[Observation] = []
        for together in in_groups(actions):
            first = len(observations)
            observations += await asyncio.gather(*(self._carried(step, first + n, a) for n, a in enumerate(together)))
        return observations

    async def _carried(self, step: int, place: int, action: Action) -> Observation:
        """The observation of an action: the one of before a crash, or a new one, which is then in the journal."""
        observation = self._steps.result(step, place)
        if observation is None:
            observation = await self._one(step, place, action)
            observation = msgspec.structs.replace(observation, call_id=action.call_id)
            self._steps.done(step, place, observation)
        return observation

    async def _one(self, step: int, place: int, action: Action) -> Observation:
        if not self._steps.intended(step, place):
            self._steps.intend(step, place, action)
        elif not (kind := ACTION_KINDS.get(action.tool)) or not kind.is_inward:
            return await self._actions.recover(action, step)
        if place and self._inbox.wish == "stop":
            return refusal("stopped", "A person stopped the session before this action began.")
        async with self._on_action(step, action) if self._on_action is not None else nullcontext():
            return await self._actions.run(action, step)


def in_groups(actions: Sequence[Action]) -> list[list[Action]]:
    """The actions in their order: those that change nothing with their neighbours of the same kind, others alone."""
    groups: list[list[Action]] = []
    open_group = False
    for action in actions:
        kind = ACTION_KINDS.get(action.tool)
        is_parallel = kind is not None and kind.is_parallel and not action.malformed
        if is_parallel and open_group:
            groups[-1].append(action)
        else:
            groups.append([action])
        open_group = is_parallel
    return groups


def _ending(actions: Sequence[Action], observations: Sequence[Observation]) -> str:
    """The reason for which a step ends the run, or ""."""
    for action, observation in zip(actions, observations, strict=True):
        if observation.done or (action.tool == "finish" and not observation.is_error):
            return "finished"
        if action.tool == "eval" and observation.error and observation.error.kind == "limit_evaluations":
            return "limit_evaluations"
    return ""
