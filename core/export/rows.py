"""A session's samples, rendered and refused: what every format, the dry run and the preview start from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import msgspec

from core.domain.errors import InvalidInput
from core.domain.trajectory import Trajectory
from core.export.cleaning import Cleaner
from core.export.options import ExportOptions
from core.export.render import Rendered, Renderer
from core.export.sample import Sample
from core.export.samples import SampleCollector
from core.export.source import LogSource
from core.export.text_form import in_text_form, uses_calls
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


class SessionRows:
    """Reads one session's rows; `refused` fills while they are read."""

    def __init__(self, source: LogSource, session: str, renderer: Renderer | None, options: ExportOptions) -> None:
        self.trajectory: Trajectory = source.trajectory(session)
        self.refused: list[ExportRefusal] = []
        self.rebuilt = False
        self.in_text = False
        self._renderer = renderer
        self._options = options
        self.cleaner = Cleaner(options)
        self._collector = SampleCollector(self.trajectory, source, options)

    @property
    def masked(self) -> int:
        """How many steps a verdict masks."""
        return sum(not self._collector.is_kept(e) for e in self.trajectory.steps)

    def __iter__(self) -> Iterator[SampleRow]:
        for sample in self._collector.samples():
            self.rebuilt = self.rebuilt or sample.rebuilt
            try:
                rows = self._rows(self._formed(self.cleaner.clean(sample)))
            except InvalidInput as error:
                self._collector.give_back(sample)
                self.refused.append(ExportRefusal(code=error.code, sentence=error.sentence, sample=sample.name,
                                                  step=sample.step))
                continue
            yield from rows
        self.refused += self._collector.refused

    def _formed(self, sample: Sample) -> Sample:
        """The sample with its calls in the form that is asked for, or that the template has."""
        asked = self._options.calls
        if not (asked == "text" or (asked == "auto" and self._lacks_calls(sample))) or not uses_calls(sample):
            return sample
        self.in_text = True
        return in_text_form(sample)

    def _lacks_calls(self, sample: Sample) -> bool:
        """Whether the template does not show calls, or not the text that this sample has beside them."""
        if self._renderer is None:
            return False
        beside = any(p.trained and p.message.tool_calls and p.message.content.strip() for p in sample.parts)
        return not self._renderer.renders_calls or (beside and not self._renderer.renders_thoughts)

    def _rows(self, sample: Sample) -> list[SampleRow]:
        trained = tuple(p.trained for p in sample.parts)
        if self._renderer is None:
            if not any(trained):
                raise InvalidInput("nothing_trained", "No action of this sample is kept.")
            return [SampleRow(sample=sample, trained=trained)]
        rows = self._renderer.render_all([p.message for p in sample.parts], trained, sample.tools, sample.day)
        most, longest = self._options.max_tokens, max(len(r.ids) for r in rows)
        if most is not None and longest > most:
            raise InvalidInput("too_long", f"The sample {sample.name} has {longest} tokens, more than {most}.")
        for rendered in rows:
            self._note(sample, rendered)
        return [SampleRow(sample=sample, trained=_exact(r, len(trained)), rendered=r, part=i)
                for i, r in enumerate(rows)]

    def _note(self, sample: Sample, rendered: Rendered) -> None:
        for refusal in rendered.refused:
            step = sample.parts[refusal.message].step if refusal.message is not None else None
            self.refused.append(msgspec.structs.replace(refusal, step=step, sample=sample.name))


def _exact(rendered: Rendered, count: int) -> tuple[bool, ...]:
    """Which messages a row trains."""
    exact = {s.message for s in rendered.spans if s.trained}
    return tuple(i in exact for i in range(count))
