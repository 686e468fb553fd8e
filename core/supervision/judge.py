"""A language model that proposes verdicts, by the system and tool prompts of APOLLO's appendix E.

It is asked twice: about all turns, in windows; and, for each guidance that was delivered, about the turns before it:
do they go against what the person says? What the model does not answer for a turn stays unjudged: it never counts
as keep or mask.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable

import msgspec

from core.domain.errors import Unavailable
from core.domain.events import Event, VerdictGiven, make_event
from core.domain.message import Message
from core.domain.trajectory import Trajectory
from core.domain.verdict import Author, VerdictValue
from core.llm.model import EndpointError, LanguageModel, Request, estimate_tokens
from core.store.home import resources
from core.supervision.gather import BodyOf
from core.supervision.opinions import OpinionCache, TurnOpinion, judge_tool, read_answer, read_opinions
from core.supervision.turns import TurnWindow, guided_windows, windows

__all__ = ["Judge", "JudgeSettings", "read_opinions"]

OnProgress = Callable[[int, int], None]
"""Told how many windows of how many are judged."""

_PASSING = ("endpoint_unreachable", "endpoint_timeout", "endpoint_busy", "endpoint_failed", "endpoint_nonsense")
BY_GUIDANCE = "/guidance "
"""Between a judge's name and the guidance that it held against a step."""

_PER_TURN = 40
"""Tokens that an answer takes per turn, about."""


class JudgeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a judge is asked. `context_tokens` is what turns may take of its context, `overlap` how many turns a window
    repeats of the one before, `before` how many steps before a guidance are held against it (0: none are). With an
    endpoint that takes no temperature the model judges at its own."""

    max_score: float = 100.0
    context_tokens: int = 60_000
    overlap: int = 4
    before: int = 20
    temperature: float = 0.0
    answer_tokens: int = 8192
    attempts: int = 3

    @property
    def version(self) -> str:
        """The version of the verdicts that come of asking so: it changes with the prompts and with what is chosen."""
        chosen = msgspec.json.encode(msgspec.structs.replace(self, attempts=0))
        return hashlib.sha256(_prompts().encode() + chosen).hexdigest()[:8]


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What judging would take: questions, and tokens where neither the log nor the cache has an answer yet."""

    windows: int
    cached: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None


class Judge:
    """Asks one model about one session at a time."""

    def __init__(self, model: LanguageModel, settings: JudgeSettings = JudgeSettings(),
                 cache: OpinionCache | None = None) -> None:
        self._model = model
        self._settings = settings
        self._cache = cache

    def open_windows(self, trajectory: Trajectory, body_of: BodyOf) -> list[TurnWindow]:
        """What is still to be judged, the turns before guidance last."""
        s = self._settings
        plain = windows(trajectory, body_of, s.context_tokens, s.overlap)
        guided = guided_windows(trajectory, body_of, s.context_tokens, s.before) if s.before else ()
        return [w for w in (*plain, *guided) if self._open(trajectory, w)]

    def estimate(self, trajectory: Trajectory, body_of: BodyOf, input_price: float | None = None,
                 output_price: float | None = None) -> Estimate:
        """What `verdicts` would take; prices are USD per million tokens."""
        todo = self.open_windows(trajectory, body_of)
        asked = [w for w in todo if not self._cached(trajectory, w)]
        given = sum(estimate_tokens(m)[0] for w in asked for m in self._messages(trajectory, w))
        output = sum(_PER_TURN * len(w.steps) for w in asked)
        cost = None
        if input_price is not None and output_price is not None:
            cost = (given * input_price + output * output_price) / 1e6
        return Estimate(windows=len(todo), cached=len(todo) - len(asked), input_tokens=given, output_tokens=output,
                        cost_usd=cost)

    async def verdicts(self, trajectory: Trajectory, body_of: BodyOf, on_progress: OnProgress | None = None
                       ) -> AsyncIterator[list[Event]]:
        """The verdicts of one window after the other: what was given before an interruption need not be asked again.

        Raises EndpointError from the model, Unavailable (judge_unreadable) when it will not answer in the form asked.
        """
        todo = self.open_windows(trajectory, body_of)
        for done, window in enumerate(todo, 1):
            opinions = await self._opinions(trajectory, window)
            yield [e for step in window.steps if step in opinions
                   for e in self._events(trajectory, window, step, opinions[step])]
            if on_progress is not None:
                on_progress(done, len(todo))

    async def _opinions(self, trajectory: Trajectory, window: TurnWindow) -> dict[int, TurnOpinion]:
        opinions = self._cached(trajectory, window)
        if opinions:
            return opinions
        opinions = await self._ask(self._messages(trajectory, window), window, _actions(trajectory, window))
        if self._cache is not None and set(opinions) == set(window.steps):
            self._cache.put(self._key(trajectory, window), opinions)
        return opinions

    async def _ask(self, messages: tuple[Message, ...], window: TurnWindow, actions: dict[int, int]
                   ) -> dict[int, TurnOpinion]:
        """Opinions on the window's turns, which have so many actions; asked again, a few times, for what is missing."""
        opinions: dict[int, TurnOpinion] = {}
        more: tuple[Message, ...] = ()
        for _ in range(self._settings.attempts):
            missing = [n for n in window.steps if n not in opinions]
            if not missing:
                break
            tools = (judge_tool(_text("judge_tool")),)
            answer = await self._complete(Request(messages=(*messages, *more), tools=tools,
                                                  temperature=self._settings.temperature,
                                                  max_tokens=self._settings.answer_tokens))
            opinions |= read_answer(answer, {n: actions[n] for n in missing})
            left = ", ".join(f"turn {n}" for n in window.steps if n not in opinions)
            again = f"These turns are not judged yet: {left}. Judge each of them, in the form that was asked."
            more = (Message(role="user", content=again),)
        if not opinions:
            span = f"steps {window.steps[0]}–{window.steps[-1]}"
            raise Unavailable("judge_unreadable",
                              f"{self._model.name} did not judge {span} in the form that was asked.")
        return opinions

    async def _complete(self, request: Request) -> Message:
        for attempt in range(1, self._settings.attempts + 1):
            try:
                return (await self._model.complete(request)).message
            except EndpointError as error:
                learns = error.code == "endpoint_refused" and attempt == 1 and "temperature" in error.sentence
                if not (learns or error.code in _PASSING) or attempt == self._settings.attempts:
                    raise
                await asyncio.sleep(min(error.retry_after or 0.5 * attempt, 60.0))
        raise AssertionError("the last attempt gives or raises")

    def _messages(self, trajectory: Trajectory, window: TurnWindow) -> tuple[Message, ...]:
        task = trajectory.created.task.description if trajectory.created else ""
        system = _text("judge_guidance" if window.guidance else "judge_system")
        system = system.replace("{{max_score}}", f"{self._settings.max_score:g}")
        system = system.replace("{{current_score}}", f"{window.score:g}")
        form = (f"Call the tool judge_results once, with turn {window.steps[0]} to turn {window.steps[-1]}. If you "
                'cannot call tools, answer with {"judge_results": {"turn i": true or false, …}, "reasons": {"turn i": '
                '"…", …}} and nothing else.')
        if any(count > 1 for count in _actions(trajectory, window).values()):
            form += "\n\n" + _text("judge_actions").strip()
        before = f"{window.before}\n\n" if window.before else ""
        shown = f"# Task\n{task}\n\n{before}# Turns\n{window.text}\n\n# Asked\n{form}"
        system = f"{system}\n{_text('judge_record')}\n# ANSWER:\n\n{_text('judge_tool')}"
        return (Message(role="system", content=system), Message(role="user", content=shown))

    def _events(self, trajectory: Trajectory, window: TurnWindow, step: int, opinion: TurnOpinion) -> list[Event]:
        """The verdict on one turn, or those on its actions; none where it stands already."""
        if _stands(trajectory, step, self._author(window)):
            return []
        return [self._event(window, step, action, one) for action, one in opinion.by_action.items()]

    def _event(self, window: TurnWindow, step: int, action: int, opinion: TurnOpinion) -> Event:
        value: VerdictValue = "keep" if opinion.keep else "mask"
        reason = opinion.reason
        if window.guidance is not None and not opinion.keep:
            guidance = " ".join(window.guidance.text.split())
            reason = f"goes against the guidance “{guidance[:200]}”: {reason}"
        return make_event(VerdictGiven(step=step, action=action, value=value, reason=reason[:800]),
                          self._author(window))

    def _author(self, window: TurnWindow) -> Author:
        """Verdicts by guidance have authors of their own, one per guidance: a step may be before several."""
        name = self._model.name
        if window.guidance is not None:
            name = f"{name}{BY_GUIDANCE}{window.guidance.id[:12]}"
        return Author(kind="judge", name=name, version=self._settings.version)

    def _open(self, trajectory: Trajectory, window: TurnWindow) -> bool:
        return not all(_stands(trajectory, n, self._author(window)) for n in window.steps)

    def _key(self, trajectory: Trajectory, window: TurnWindow) -> str:
        texts = [m.content for m in self._messages(trajectory, window)]
        return OpinionCache.key(self._model.name, self._settings.version, *texts)

    def _cached(self, trajectory: Trajectory, window: TurnWindow) -> dict[int, TurnOpinion]:
        return self._cache.get(self._key(trajectory, window)) if self._cache is not None else {}


def _prompts() -> str:
    return "\x00".join(_text(n) for n in ("judge_system", "judge_tool", "judge_guidance", "judge_record",
                                         "judge_actions"))


def _stands(trajectory: Trajectory, step: int, author: Author) -> bool:
    """Whether an author has judged a step, or each of its actions."""
    entry = trajectory.step(step)
    held = {v.action for v in entry.verdicts.values() if v.author == author}
    return 0 in held or (bool(held) and held >= set(range(1, len(entry.head.tools) + 1)))


def _actions(trajectory: Trajectory, window: TurnWindow) -> dict[int, int]:
    """How many actions the turns that a window judges have."""
    return {n: len(trajectory.step(n).head.tools) for n in window.steps}


def _text(name: str) -> str:
    return (resources() / "prompts" / f"{name}.md").read_text(encoding="utf-8")
