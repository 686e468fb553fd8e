"""An agent's surroundings for tests: a world that only a ledger file remembers, a log that plays the server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from core.actions.runner import RunnerState
from core.agents.delivery import Inbox, News
from core.agents.journal import Boundary, Journal
from core.agents.live_action import telling
from core.agents.loop import Agent
from core.agents.signals import Signals
from core.agents.sink import Sink
from core.agents.steps import StepJournal
from core.agents.submissions import Submissions
from core.domain.events import (
    ControlAsked,
    Fact,
    GuidanceChangeAsked,
    GuidanceQueued,
    SessionCreated,
    encode_event,
    make_event,
)
from core.domain.message import Message
from core.domain.step import Action, ActionError, Observation, Output
from core.domain.task import AgentSettings, Evaluator, Limits, ModelSettings, Task
from core.domain.verdict import Author
from core.llm.model import Completion, LanguageModel, OnText, Request
from core.tasks.catalogue import Catalogue
from core.tasks.handing_in import HandingIn

PERSON = Author(kind="person", name="Ada")


def memory() -> str | None:
    """A folder where files cost no fsync, for tests of logic that do not ask what a disk keeps."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


class Crash(BaseException):
    """The process dies here."""


class Outside:
    """What outlives the agent: a ledger of every action that was really carried out, and of every question asked."""

    def __init__(self, folder: Path) -> None:
        self.acts = folder / "acts.jsonl"
        self.asked = folder / "asked.jsonl"

    def write(self, path: Path, value: object) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(value) + "\n")

    def read(self, path: Path) -> list[list[object]]:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


class LedgerActions:
    """Carries actions out by writing them down: the world of the crash tests (the real one has its own tests)."""

    def __init__(self, outside: Outside, sink: Sink, boundary: Boundary | None = None) -> None:
        self._outside, self._sink, self._boundary = outside, sink, boundary

    async def run(self, action: Action, step: int) -> Observation:
        if action.tool == "finish":
            return await self._sink.finish(step)
        if action.tool == "eval":
            return await self._sink.evaluate(step)
        if action.tool == "sleep":
            reason = await self._sink.wait(float(action.arguments["sleep_time"]))
            return Observation(call_id="", output=Output(text=f"woken by {reason}"))
        if self._boundary:
            self._boundary("act", "before")
        self._outside.write(self._outside.acts, [step, action.call_id])
        if self._boundary:
            self._boundary("act", "after")
        if action.arguments.get("fail"):
            return Observation(call_id="", status="failed", error=ActionError(kind="not_found", message="no"))
        text = str(action.arguments.get("text", f"did {action.tool}"))
        return Observation(call_id="", output=Output(text=text, total_chars=len(text)), exit_code=0)

    async def recover(self, action: Action, step: int) -> Observation:
        error = ActionError(kind="interrupted", message="The runner was restarted while this ran.")
        return Observation(call_id="", status="failed", error=error)

    async def interrupt(self) -> bool:
        return False

    async def flush(self) -> None:
        return

    def offsets(self) -> dict[str, int]:
        return {}

    def state(self) -> RunnerState:
        return RunnerState()

    async def close(self) -> None:
        return


class Recorded:
    """Any model, with every question written down before it is answered."""

    def __init__(self, model: LanguageModel, outside: Outside, boundary: Boundary | None = None) -> None:
        self._model, self._outside, self._boundary = model, outside, boundary

    @property
    def name(self) -> str:
        return self._model.name

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        told = [(m.role, m.content) for m in request.messages]
        self._outside.write(self._outside.asked, [request.step, request.purpose, told])
        completion = await self._model.complete(request, on_text)
        if self._boundary:
            self._boundary("model", "after")
        return completion

    def count(self, message: Message) -> tuple[int, bool]:
        return self._model.count(message)

    async def close(self) -> None:
        await self._model.close()


class Log:
    """The session's log as the server would hold it: what people did, in order."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    def add(self, fact: Fact, author: Author = PERSON) -> None:
        self.bodies.append(encode_event(make_event(fact, author, at=datetime(2026, 1, 1, tzinfo=UTC))))

    def guide(self, name: str, text: str, mode: str = "note") -> None:
        self.add(GuidanceQueued(guidance=name, text=text, mode=mode))  # type: ignore[arg-type]

    def change(self, name: str, request: str, text: str | None) -> None:
        self.add(GuidanceChangeAsked(guidance=name, request=request, text=text))

    def control(self, control: str, answers: str = "") -> None:
        self.add(ControlAsked(control=control, answers=answers))  # type: ignore[arg-type]

    def give(self, inbox: Inbox, first: int = 1) -> News:
        return inbox.take(first, self.bodies[first - 1 :])


class Stage:
    """One incarnation of an agent over a folder that outlives it."""

    def __init__(self, folder: Path, model: LanguageModel, *, limits: Limits = Limits(), context_tokens: int = 100_000,
                 native: bool = True, evaluator: Evaluator = Evaluator(), waits: bool = False,
                 boundary: Boundary | None = None) -> None:
        self.outside = Outside(folder)
        self.journal = Journal(folder / "journal.db", "s1", boundary)
        self.inbox = Inbox(self.journal)
        self.signals = Signals(self.inbox)
        self.task = Task(id="t", title="T", description="Do it.", limits=limits, evaluator=evaluator,
                         waits_for_guidance=waits)
        model_settings = ModelSettings(actions="native" if native else "text")
        settings = AgentSettings(model=model_settings, context_tokens=context_tokens)
        recorded = Recorded(model, self.outside, boundary)
        self.steps = StepJournal(self.journal, self.inbox, self.task, recorded.count, native=native,
                           tools=b"[]" if native else b"")
        handing_in = HandingIn(self.task, Catalogue([]), None, None)  # type: ignore[arg-type]
        submissions = Submissions(self.journal, self.steps, self.task, handing_in)
        self.sink = Sink(self.journal, self.steps, self.signals, submissions)
        self.actions = LedgerActions(self.outside, self.sink, boundary)
        self.thoughts: list[str] = []
        self.running: list[str] = []
        self.agent = Agent(self.journal, self.inbox, self.signals, self.steps, recorded, self.actions,  # type: ignore[arg-type]
                           submissions, self.task, settings, [], on_thought=self.thoughts.append,
                           on_action=partial(telling, self.running.append), back_off_s=0.001)

    def facts(self, kind: type | tuple[type, ...]) -> list[Fact]:
        return [fact for fact in self.journal.facts() if isinstance(fact, kind)]

    def close(self) -> None:
        self.journal.close()


def turns(count: int, *, tool: str = "run_command", finish: bool = True, extra: Sequence[str] = ()) -> str:
    """A script of `count` turns with one call each, and the end."""
    told = ["pace_s = 0.0"]
    told += [f'[[turn]]\nthought = "turn {n}"\n[[turn.calls]]\ntool = "{tool}"\n'
             f'[turn.calls.arguments]\ncommand = "c{n}"' for n in range(count)]
    told.extend(extra)
    if finish:
        told.append('[[turn]]\nthought = "end"\n[[turn.calls]]\ntool = "finish"')
    return "\n".join(told)


def created(task: Task) -> SessionCreated:
    """The first event of a log."""
    return SessionCreated(task=task)
