"""Which contexts become samples, and what training does with each of their messages.

"We select the ReAct trajectories just before the summarization and the last ReAct trajectory to produce this
result, since they contain all decisions made by the agent" (APOLLO §3.4); "the summarization trajectory will
only train the last action (summary)" (§4.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Literal, Protocol

import msgspec

from core.domain.context import MessageRef
from core.domain.errors import ReportableError
from core.domain.events import SummaryAdded
from core.domain.message import Message
from core.domain.step import StepBody
from core.domain.trajectory import StepEntry, Trajectory
from core.export.judged import decided_by_action
from core.export.options import ExportOptions
from core.export.pieces import Masked, call_count
from core.export.rebuild import rebuilt_context
from core.export.sample import Sample, SamplePart
from core.llm.model import ToolSpec
from core.workers.export import ExportRefusal

_APPROXIMATE = "approximate"
"""The source by which importers mark a message of a context that their file does not hold exactly."""

_NO_ACTION = ("task", "guidance", "summary", "note")


class ContextSource(Protocol):
    """Where messages, bodies and tools are found by hash; raises a ReportableError where one is not held."""

    def message(self, name: str) -> Message:
        """A message of a context."""

    def body(self, name: str) -> StepBody | None:
        """A step's body, None where it is not held."""

    def tools(self, name: str) -> tuple[ToolSpec, ...]:
        """The tools given beside a context."""


class SampleCollector:
    """Makes the samples of one session; `refused` and `warnings` fill while they are read."""

    def __init__(self, trajectory: Trajectory, payloads: ContextSource, options: ExportOptions, *,
                 whole: bool = False) -> None:
        """`whole`: a message is trained whole or not at all."""
        self._whole = whole
        self._trajectory = trajectory
        self._payloads = payloads
        self._options = options
        self._trained: Counter[int] = Counter()
        self._left_out: set[int] = set()
        self._refused: set[int] = set()
        self._done = self._summarised = -1
        began = trajectory.row.created_at
        self._day = began.date().isoformat() if began is not None else ""
        self.refused: list[ExportRefusal] = []

    def samples(self) -> Iterator[Sample]:
        """All samples in the order of the session: a context before a summary, that summary, …, the last context."""
        for kind, value in self._cuts():
            if kind == "react" and isinstance(value, int) and value > self._done:
                yield from self._guarded(partial(self._react, value), f"react-{self._number(value)}")
                self._done = value
            elif isinstance(value, SummaryAdded):
                if self._done == self._summarised and self._options.overlap == "each":
                    yield from self._guarded(partial(self._carried, value), f"react-{self._number(self._done)}")
                self._summarised = self._done
                yield from self._guarded(partial(self._summary, value), f"summary-{value.last}")
        self._report_left_out()

    def is_kept(self, entry: StepEntry) -> bool:
        """Whether a step, or one of its actions, is to be trained."""
        return self._state(entry) == "kept"

    def give_back(self, sample: Sample) -> None:
        """The sample was refused: its actions are not trained there, so a later sample may train them."""
        steps = [p.step for p in sample.parts if p.state == "kept" and p.step is not None]
        self._trained -= Counter(steps)  # with overlap=each another sample may hold them as well
        self._refused.update(steps)

    def _cuts(self) -> Iterator[tuple[str, int | SummaryAdded]]:
        steps = 0
        for item in self._trajectory.items:
            if item.kind == "step":
                steps += 1
            elif item.kind == "summary":
                if steps:
                    yield "react", steps - 1
                yield "summary", self._trajectory.summaries[str(item.ref)]
        if steps:
            yield "react", steps - 1

    def _guarded(self, make: Callable[[], Sample | None], name: str) -> Iterator[Sample]:
        try:
            sample = make()
        except ReportableError as error:
            named = f"{self._trajectory.session}/{name}"
            self.refused.append(ExportRefusal(code=error.code, sentence=error.sentence, sample=named))
            return
        if sample is not None:
            self._trained.update(p.step for p in sample.parts if p.state == "kept" and p.step is not None)
            yield sample

    def _react(self, at: int) -> Sample:
        at, refs = self._recorded(at)
        entry = self._trajectory.steps[at]
        parts = self._parts(refs, at) if refs else rebuilt_context(self._trajectory, at, self._payloads.body)
        rebuilt = not refs or any(r.source == _APPROXIMATE for r in refs)
        return Sample(session=self._trajectory.session, kind="react", step=entry.head.number, rebuilt=rebuilt,
                      day=self._day, parts=tuple(self._judged(parts)), tools=self._payloads.tools(entry.tools))

    def _carried(self, summary: SummaryAdded) -> Sample | None:
        """The context before a summary that follows another with no step between them; only carried actions are in it.
        None where it holds none, as where nothing came before."""
        refs = self._trajectory.summary_context(summary)[:-1]  # without the request to summarise
        parts = self._judged(self._parts(refs, self._done)) if refs and self._done >= 0 else []
        if not any(p.step is not None for p in parts):
            return None
        return Sample(session=self._trajectory.session, kind="react", step=self._number(self._done), day=self._day,
                      parts=tuple(parts), tools=self._payloads.tools(self._trajectory.steps[self._done].tools))

    def _recorded(self, at: int) -> tuple[int, list[MessageRef]]:
        """The last step up to `at`, since the cut before, whose context and answer the log holds: its index and
        both; without any, `at` and nothing."""
        for index in range(at, self._done, -1):
            completion = self._trajectory.steps[index].completion
            refs = self._trajectory.contexts.at(index)
            if refs and completion is not None:
                return index, [*refs, completion]
        return at, []

    def _summary(self, summary: SummaryAdded) -> Sample | None:
        refs = self._trajectory.summary_context(summary)
        before = self._trajectory.steps_before(summary) - 1
        step = self._number(before)
        if summary.completion is None or not refs:
            why = f"The log does not say in which context steps {summary.first}–{summary.last} were summarised."
            self.refused.append(ExportRefusal(code="no_context", sentence=why, step=step))
            return None
        context = [SamplePart(message=self._payloads.message(r.hash)) for r in refs]
        last = SamplePart(message=self._payloads.message(summary.completion.hash), state="summary")
        return Sample(session=self._trajectory.session, kind="summary", step=step, day=self._day,
                      parts=(*context, last),
                      tools=self._payloads.tools(self._trajectory.steps[before].tools if before >= 0 else ""))

    def _parts(self, refs: Sequence[MessageRef], at: int) -> list[SamplePart]:
        """The messages of a context, the agent's own ones marked with their steps."""
        owners = _Owners(self._trajectory.steps[: at + 1])
        parts, latest = [], -1
        for ref in refs:
            index = owners.find(ref, latest)
            latest = latest if index is None else index
            step = None if index is None else self._number(index)
            message = self._payloads.message(ref.hash)
            # an importer of records that hold no answers (visited pages) leaves them empty: a model would learn to stop
            says = bool(message.content.strip() or message.tool_calls)
            exact = index is None or (says and owners.is_exact(ref, index))
            parts.append(SamplePart(message=message, step=step,
                                    state="context" if step is None else "kept" if exact else "changed"))
        return parts

    def _judged(self, parts: list[SamplePart]) -> list[SamplePart]:
        """Kept parts that a verdict masks, that nobody judged, or that an earlier sample trains, get that state."""
        judged = []
        for part in parts:
            if part.state == "kept" and part.step is not None:
                entry = self._trajectory.step(part.step)
                part = msgspec.structs.replace(part, author=entry.head.author)
                state, masked = self._state(entry), self._masked_actions(entry)
                if state != "kept":
                    part = msgspec.structs.replace(part, state=state)
                elif self._options.overlap == "once" and part.step in self._trained:
                    part = msgspec.structs.replace(part, state="carried")
                elif masked:
                    part = self._in_part(part, entry, masked)
            judged.append(part)
        return judged

    def _state(self, entry: StepEntry) -> Literal["kept", "masked", "undecided"]:
        """What training does with a step as far as verdicts say: kept where one of its actions is."""
        states = set(self._states(entry).values())
        return "kept" if "kept" in states else "undecided" if "undecided" in states else "masked"

    def _masked_actions(self, entry: StepEntry) -> tuple[int, ...]:
        """The actions that carry no loss of a step of which another does."""
        return tuple(action for action, state in self._states(entry).items() if action and state != "kept")

    def _states(self, entry: StepEntry) -> dict[int, Literal["kept", "masked", "undecided"]]:
        unjudged: Literal["kept", "undecided"] = "kept" if self._options.unjudged == "keep" else "undecided"
        return {action: "kept" if one == "keep" else "masked" if one == "mask" else unjudged
                for action, one in decided_by_action(entry, self._options).items()}

    def _in_part(self, part: SamplePart, entry: StepEntry, masked: tuple[int, ...]) -> SamplePart:
        """A step of which some actions are masked; where its calls cannot be told apart none is trained."""
        number, why = entry.head.number, ""
        if self._whole:
            why = "is masked in part, and this format marks whole messages: none of it is trained"
        elif call_count(part.message) != len(entry.head.tools):
            why = "is masked in part, and its message holds other calls than its actions: none of it is trained"
        if not why:
            return msgspec.structs.replace(part, masked=Masked(masked))
        if number not in self._left_out:
            self._left_out.add(number)
            self.refused.append(ExportRefusal(code="masked_in_part", sentence=f"Step {number} {why}.", step=number))
        return msgspec.structs.replace(part, state="masked")

    def _number(self, index: int) -> int:
        return self._trajectory.steps[index].head.number if index >= 0 else 0

    def _report_left_out(self) -> None:
        """Kept actions that no sample trains: theirs was refused, or their context was not the last before a
        summary."""
        for entry in self._trajectory.steps:
            if self.is_kept(entry) and entry.head.number not in self._trained.keys() | self._left_out:
                self.refused.append(self._not_trained(entry.head.number))

    def _not_trained(self, step: int) -> ExportRefusal:
        if step in self._refused:
            return ExportRefusal(code="in_a_refused_sample", sentence=f"The action of step {step} is not trained: the "
                                 "sample that holds it is refused.", step=step)
        return ExportRefusal(code="not_in_a_sample", sentence=f"The action of step {step} is kept, but no sample holds "
                             "it as the model wrote it.", step=step)


class _Owners:
    """Whose action a message is: by the source that the log names, else by the completion's content address."""

    def __init__(self, steps: Sequence[StepEntry]) -> None:
        self._completions = [s.completion.hash if s.completion else "" for s in steps]
        self._by_number = {s.head.number: i for i, s in enumerate(steps)}
        self._by_hash: dict[str, list[int]] = {}
        for index, name in enumerate(self._completions):
            if name:
                self._by_hash.setdefault(name, []).append(index)

    def find(self, ref: MessageRef, after: int) -> int | None:
        """The index of the step; of several with equal messages the first after the one found before."""
        if ref.role != "assistant":
            return None
        if ref.source.startswith("step:"):
            number = ref.source[5:]
            return self._by_number.get(int(number)) if number.isdecimal() else None
        if ref.source.startswith(_NO_ACTION):
            return None
        return next((i for i in self._by_hash.get(ref.hash, ()) if i > after), None)

    def is_exact(self, ref: MessageRef, index: int) -> bool:
        """Whether the message is what the model wrote, as far as the log says."""
        return self._completions[index] in ("", ref.hash)
