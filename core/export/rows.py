"""A session's samples, rendered and refused: what every format, the dry run and the preview start from."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from operator import is_
from typing import NamedTuple

import msgspec

from core.domain.errors import InvalidInput
from core.domain.message import Message
from core.domain.trajectory import Trajectory
from core.domain.verdict import StepOutcome
from core.export.cleaning import Cleaner
from core.export.judged import outcomes
from core.export.options import ExportOptions
from core.export.pieces import Masked
from core.export.render import Rendered, Renderer
from core.export.sample import Sample, SamplePart
from core.export.samples import SampleCollector
from core.export.source import LogSource
from core.export.text_form import in_text_form, uses_calls
from core.export.tokens import mask_of
from core.llm.template_messages import in_turn
from core.llm.text_actions import block_places
from core.workers.export import ExportRefusal


class SampleRow(msgspec.Struct, frozen=True, kw_only=True):
    """One example, ready to be written: `trained` tells per message, `rendered` per token (None without a model).
    Two samples in one row (a chain): the first `react_tokens` tokens are those of the ReAct sample. One sample in
    several rows (its template tells the past otherwise later on): `part` counts them from 0."""

    sample: Sample
    trained: tuple[bool, ...]
    rendered: Rendered | None = None
    react_tokens: int = 0
    part: int = 0

    @property
    def tokens(self) -> int:
        """Its length in tokens; 0 where no tokenizer was at hand."""
        return len(self.rendered.ids) if self.rendered else 0

    @property
    def trained_tokens(self) -> int:
        """How many of them carry loss."""
        return sum(self.rendered.mask) if self.rendered else 0

    @property
    def fingerprint(self) -> str:
        """The same for rows that train the same on the same."""
        trained_on = ((self.rendered.ids, self.rendered.mask) if self.rendered
                      else ([p.message for p in self.sample.parts], self.trained, self.sample.tools))
        return hashlib.sha256(msgspec.json.encode(trained_on)).hexdigest()


_NOT_THE_TEMPLATE = {"too_long", "nothing_trained"}


class _Attempt(NamedTuple):
    """The rows of a sample in one form of its calls, or why there are none."""

    rows: tuple[SampleRow, ...] = ()
    error: InvalidInput | None = None

    @property
    def lost(self) -> float:
        """How many actions the template leaves out that were to be trained; all of them where it refuses the sample."""
        if self.error is not None:
            return 0 if self.error.code in _NOT_THE_TEMPLATE else float("inf")
        return sum(len(row.rendered.refused) for row in self.rows if row.rendered)


class SessionRows:
    """Reads one session's rows; `refused` fills while they are read, `thoughts` counts those of trained answers that
    are shown in their place, or (homeless) have none and are left out. `whole`: what they are written in marks whole
    messages, so a step of which one action is masked is not trained."""

    def __init__(self, source: LogSource, session: str, renderer: Renderer | None, options: ExportOptions, *,
                 whole: bool = False) -> None:
        self.trajectory: Trajectory = source.trajectory(session)
        self.refused: list[ExportRefusal] = []
        self.rebuilt = False
        self.in_text = False
        self.thoughts: Counter[str] = Counter()
        self._renderer = renderer
        self.options = options
        self.cleaner = Cleaner(options)
        self._collector = SampleCollector(self.trajectory, source, options, whole=whole)

    @property
    def outcomes(self) -> Counter[StepOutcome]:
        """How many steps were decided how."""
        return outcomes(self.trajectory, self.options)

    def __iter__(self) -> Iterator[SampleRow]:
        for sample in self._collector.samples():
            self.rebuilt = self.rebuilt or sample.rebuilt
            attempt = self._attempt(sample)
            if attempt.error is not None:
                self._collector.give_back(sample)
                self.refused.append(ExportRefusal(code=attempt.error.code, sentence=attempt.error.sentence,
                                                  sample=sample.name, step=sample.step))
                continue
            recorded = {p.step for p in sample.parts if p.trained and p.message.reasoning.strip()}
            for row in attempt.rows:
                self._note(row)
                self._count_thoughts(row, recorded)
            yield from attempt.rows
        self.refused += self._collector.refused

    def _attempt(self, sample: Sample) -> _Attempt:
        try:
            return self._best(self._without_thoughts(self.cleaner.clean(sample)))
        except InvalidInput as error:  # it holds what must not leave
            return _Attempt(error=error)

    def _best(self, sample: Sample) -> _Attempt:
        """The sample's rows in the form that is asked for. Where the template has calls of its own but does not take
        all of these (gpt-oss: one a message, and no result without a call), plain text, if more actions train so."""
        asked = self.options.calls
        if asked == "auto" and self._renderer is not None and self._renderer.stands_in and uses_calls(sample):
            return self._counted_only(sample)
        if (asked == "text" or (asked == "auto" and self._lacks_calls(sample))) and uses_calls(sample):
            self.in_text = True
            return self._tried(in_text_form(sample))
        own = self._tried(sample)
        if asked != "auto" or self._renderer is None or not own.lost or not uses_calls(sample):
            return own
        plain = self._tried(in_text_form(sample))
        if plain.error is not None or plain.lost >= own.lost:
            return own
        self.in_text = True
        return plain

    def _counted_only(self, sample: Sample) -> _Attempt:
        """The sample as it is, since the template that will show its calls is not known: its tokens are counted in
        plain text."""
        plain = self._tried(in_text_form(sample))
        return _Attempt(tuple(_of_own(sample, row) for row in plain.rows), plain.error)

    def _without_thoughts(self, sample: Sample) -> Sample:
        return _mapped(sample, lambda _: False) if self.options.thoughts == "drop" else sample

    def _tried(self, sample: Sample) -> _Attempt:
        if self._renderer is not None and self._renderer.shows_thoughts:
            sample = _mapped(sample, self._renderer.holds_thought)
        if self._renderer is not None and self._renderer.demands_turns:
            sample = with_alternating_roles(sample)
        try:
            return _Attempt(rows=tuple(self._rows(sample)))
        except InvalidInput as error:
            return _Attempt(error=error)

    def _lacks_calls(self, sample: Sample) -> bool:
        """Whether the template does not show calls, or not the text that this sample has beside them."""
        if self._renderer is None:
            return False
        beside = any(p.trained and p.message.tool_calls and p.message.content.strip() for p in sample.parts)
        return not self._renderer.renders_calls or (beside and not self._renderer.renders_thoughts)

    def _rows(self, sample: Sample) -> list[SampleRow]:
        shown = tuple(p.trained or self._awaits_word(p) for p in sample.parts)
        if self._renderer is None:
            if not any(shown):
                raise InvalidInput("nothing_trained", "No action of this sample is kept.")
            return [SampleRow(sample=sample, trained=tuple(p.trained for p in sample.parts))]
        masked = {i: _placed(p) for i, p in enumerate(sample.parts) if p.trained and p.masked is not None}
        rows = self._renderer.render_all([p.message for p in sample.parts], shown, sample.tools, sample.day, masked)
        self._refuse_too_long(sample.name, max(len(r.ids) for r in rows), self._renderer)
        without = {i for i, p in enumerate(sample.parts) if self._awaits_word(p)}
        rows = [_untrained(r, without) for r in rows] if without else rows
        return [SampleRow(sample=sample, trained=_exact(r, len(shown)), rendered=r, part=i) for i, r in enumerate(rows)]

    def _refuse_too_long(self, name: str, tokens: int, renderer: Renderer) -> None:
        if renderer.room is not None and tokens > renderer.room:
            raise InvalidInput("too_long", f"The sample {name} has {tokens} tokens; the model {renderer.model} takes "
                               f"at most {renderer.room}. Name one with a longer context: --model.")
        if self.options.max_tokens is not None and tokens > self.options.max_tokens:
            raise InvalidInput("too_long", f"The sample {name} has {tokens} tokens; a row of this export has at most "
                               f"{self.options.max_tokens}. Raise that with --max-tokens.")

    def _awaits_word(self, part: SamplePart) -> bool:
        """Whether an action is shown in its place though it does not train: nobody judged it, and nobody said what
        becomes of such ones. Nothing is written before that."""
        return part.state == "undecided" and self.options.unjudged == "refuse"

    def _count_thoughts(self, row: SampleRow, recorded: set[int | None]) -> None:
        """Of the answers that a row trains, those whose thought was `recorded`."""
        if self.options.thoughts != "drop":
            trained = [p for p, t in zip(row.sample.parts, row.trained, strict=True) if t and p.step in recorded]
            self.thoughts.update("shown" if p.message.reasoning else "homeless" for p in trained)

    def _note(self, row: SampleRow) -> None:
        for refusal in row.rendered.refused if row.rendered else ():
            step = row.sample.parts[refusal.message].step if refusal.message is not None else None
            self.refused.append(msgspec.structs.replace(refusal, step=step, sample=row.sample.name))


def _of_own(sample: Sample, row: SampleRow) -> SampleRow:
    """A row of the plain-text form as one of the sample itself, with the same answers trained, in their order."""
    answers = iter([trained for part, trained in zip(row.sample.parts, row.trained, strict=True) if part.trained])
    return msgspec.structs.replace(row, sample=sample, trained=tuple(p.trained and next(answers) for p in sample.parts))


def _mapped(sample: Sample, has_place: Callable[[Message], bool]) -> Sample:
    """The sample without the thoughts of those messages that have no place for one."""
    parts = tuple(p if not p.message.reasoning or has_place(p.message) else msgspec.structs.replace(
        p, message=msgspec.structs.replace(p.message, reasoning="")) for p in sample.parts)
    return msgspec.structs.replace(sample, parts=parts)


def _untrained(rendered: Rendered, messages: set[int]) -> Rendered:
    """The same tokens without loss on the actions of some messages."""
    spans = tuple(msgspec.structs.replace(s, trained=s.trained and s.message not in messages) for s in rendered.spans)
    mask = mask_of(rendered.offsets, [s for s in spans if s.trained])
    return msgspec.structs.replace(rendered, spans=spans, mask=mask)


def _placed(part: SamplePart) -> Masked:
    """Which calls of an answer carry no loss; those that the model itself wrote as text are looked for in it."""
    masked = part.masked or Masked(())
    if part.message.tool_calls or masked.places:
        return masked
    return msgspec.structs.replace(masked, places=tuple(block_places(part.message.content)))


def _exact(rendered: Rendered, count: int) -> tuple[bool, ...]:
    """Which messages a row trains."""
    exact = {s.message for s in rendered.spans if s.trained}
    return tuple(i in exact for i in range(count))


def with_alternating_roles(sample: Sample) -> Sample:
    """The sample with neighbouring messages of a person joined; the same one where there are none."""
    parts: list[SamplePart] = []
    for part in sample.parts:
        message, stands_for_both = in_turn(parts[-1].message if parts else None, part.message)
        part = part if message is part.message else SamplePart(message=message)
        parts[len(parts) - stands_for_both :] = [part]
    same = len(parts) == len(sample.parts) and all(map(is_, parts, sample.parts))
    return sample if same else msgspec.structs.replace(sample, parts=tuple(parts))
