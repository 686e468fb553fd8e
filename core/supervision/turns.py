"""A session as a judge is shown it: turns as text, in windows that fit the judge's context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from core.domain.events import SummaryAdded
from core.domain.foreign import neutral, without_marks
from core.domain.guidance import Guidance
from core.domain.message import Message
from core.domain.step import Observation, StepBody
from core.domain.trajectory import Trajectory
from core.llm.model import estimate_tokens
from core.supervision.gather import BodyOf

_TEXT = 3000


class TurnWindow(msgspec.Struct, frozen=True, kw_only=True):
    """Turns that a judge is shown at once. It judges `steps`; the ones before them are shown for context only.

    `before` is what holds when the first of them is made and is older than it (`in_force`); `score` is the highest
    score before the summary that came before these turns.
    """

    steps: tuple[int, ...]
    text: str
    before: str = ""
    score: float = 0.0
    guidance: Guidance | None = None

    @property
    def tokens(self) -> int:
        """How long the texts are, estimated."""
        return _tokens(self.before + self.text)


def windows(trajectory: Trajectory, body_of: BodyOf, most: int, overlap: int = 4) -> Iterator[TurnWindow]:
    """The steps between two summaries, cut further where they have more than `most` tokens; each window then begins
    with the last `overlap` turns of the one before. Bodies that are not at hand are left out.
    """
    for segment in segments(trajectory, body_of):
        score = score_before(trajectory, segment[0].number)
        texts = [turn_text(trajectory, body, most - most // 4) for body in segment]
        sizes = [_tokens(text) for text in texts]
        at = 0
        while at < len(segment):
            begin = _begin(sizes, at, most // 2, overlap)
            before = in_force(trajectory, segment[begin].number, most // 4)
            end, total = at + 1, _tokens(before) * bool(before) + sum(sizes[begin : at + 1])
            while end < len(segment) and total + sizes[end] <= most:
                total += sizes[end]
                end += 1
            judged = tuple(b.number for b in segment[at:end])
            yield TurnWindow(steps=judged, text="\n\n".join(texts[begin:end]), before=before, score=score)
            at = end


def _begin(sizes: Sequence[int], at: int, room: int, overlap: int) -> int:
    """Where a window begins that judges from `at` on: up to `overlap` turns earlier, as far as half the room goes."""
    begin = at
    while begin and at - begin < overlap and sum(sizes[begin - 1 : at]) <= room:
        begin -= 1
    return begin


def segments(trajectory: Trajectory, body_of: BodyOf) -> Iterator[list[StepBody]]:
    """The steps between two summaries, those whose bodies are at hand."""
    segment: list[StepBody] = []
    for item in trajectory.items:
        if item.kind == "summary" and segment:
            yield segment
            segment = []
        body = body_of(trajectory.steps[int(item.ref)].body) if item.kind == "step" else None
        if body is not None:
            segment.append(body)
    if segment:
        yield segment


def guided_windows(trajectory: Trajectory, body_of: BodyOf, most: int, before: int = 20) -> Iterator[TurnWindow]:
    """For each guidance that was delivered: up to `before` steps before it came, and it."""
    for guidance in trajectory.advice:
        step = guidance.delivered_step
        entries = [e for e in trajectory.steps if step is not None and e.head.number < step][-before:]
        bodies = [b for e in entries if (b := body_of(e.body)) is not None]
        texts = [turn_text(trajectory, body, most - most // 4) for body in bodies]
        while texts[1:] and sum(len(t) for t in texts) > most * 3:
            texts, bodies = texts[1:], bodies[1:]
        if bodies:
            text = "\n\n".join([*texts, remark(guidance.text)])
            yield TurnWindow(steps=tuple(b.number for b in bodies), text=text, guidance=guidance,
                             before=in_force(trajectory, bodies[0].number, most // 4))


def in_force(trajectory: Trajectory, step: int, most: int) -> str:
    """What holds when a step is made and came before it: the summary that stands for older steps, and all advice that
    people gave by then, the newest last. Advice is whole; a summary is cut where both have more than `most` tokens.
    """
    given = [g for g in trajectory.advice if g.delivered_step is not None and g.delivered_step < step]
    advice = "\n".join(f"Before turn {g.delivered_step}:\n{remark(g.text)}" for g in given)
    parts = [f"# Advice that people gave before these turns and that still holds\n{advice}"] if given else []
    summary = _summary_before(trajectory, step)
    if summary is not None:
        room = max(_TEXT, 2 * (most - _tokens(advice)))
        title = f"# Summary that stood for turns {summary.first} to {summary.last}"
        parts.insert(0, f"{title}\n{_short(disarmed(summary.text), room)}")
    return "\n\n".join(parts)


def _summary_before(trajectory: Trajectory, step: int) -> SummaryAdded | None:
    at = trajectory.index_of(step)
    found = [s for s in trajectory.summaries.values() if at is not None and trajectory.steps_before(s) <= at]
    return max(found, key=trajectory.steps_before, default=None)


def turn_text(trajectory: Trajectory, body: StepBody, most: int | None = None) -> str:
    """One turn with the advice that reached it. Marks inside a text cannot pass for ours: neither those of turns nor
    a person's. Its calls are whole; those of a turn of more than `most` tokens are cut in their middle, the longest
    first, but never below 3,000 characters."""
    text = _turn_text(trajectory, body, None)
    limit = max((len(call) for call in _calls(body)), default=0)
    while most is not None and limit > _TEXT and _tokens(text) > most:
        limit = max(_TEXT, limit * 3 // 4)
        text = _turn_text(trajectory, body, limit)
    return text


def _turn_text(trajectory: Trajectory, body: StepBody, limit: int | None) -> str:
    """A turn with calls of at most so many characters."""
    advice = [remark(g.text) if g.by_person else disarmed(f"User: {_short(g.text)}")
              for g in trajectory.guidance.values() if g.delivered_step == body.number]
    calls = [call if limit is None else _short(call, limit) for call in _calls(body)]
    words = [f"Action {n}" if len(calls) > 1 else "Action" for n in range(1, len(calls) + 1)]
    parts = [f"Thought: {_short(body.thought)}", *(f"{w}: {call}" for w, call in zip(words, calls, strict=True)),
             *(f"Observation: {_short(_seen(o))}" for o in body.observations)]
    turn = "\n".join([*advice, *map(disarmed, parts)])
    return f"[Start of Turn {body.number}]\n{turn}\n[End of Turn {body.number}]"


def _calls(body: StepBody) -> list[str]:
    return [f"{a.tool} {msgspec.json.encode(a.arguments).decode()}"
            + (f" (malformed: {a.malformed})" if a.malformed else "") for a in body.actions]


def remark(text: str) -> str:
    """A person's words as a judge is shown them."""
    return f"<real_user>{disarmed(text)}</real_user>"


def disarmed(text: str) -> str:
    """A text in which nothing looks like a mark of ours."""
    return without_marks(neutral(text))


def score_before(trajectory: Trajectory, step: int) -> float:
    """The highest score given before a step; 0 for none."""
    return max((s.total for s in trajectory.scores if s.total is not None and s.step < step), default=0.0)


def _seen(observation: Observation) -> str:
    error = f" {observation.error.kind}: {observation.error.message}" if observation.error else ""
    code = "" if observation.exit_code is None else f", exit code {observation.exit_code}"
    return f"[{observation.status}{code}]{error}\n{observation.output.text}"


def _tokens(text: str) -> int:
    """About how many tokens a text has."""
    return estimate_tokens(Message(role="user", content=text))[0]


def _short(text: str, most: int = _TEXT) -> str:
    """The beginning and the end of a text of more than so many characters."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}\n[… {len(text) - most:,} characters left out …]\n{text[-(most // 2) :]}"
