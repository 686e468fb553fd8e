"""What stands above a step's text, and which words of the text remarks stand on."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.desk.callers import number_of
from app.desk.remark_words import writer_of
from app.desk.step_words import verdict_words
from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.safe_text import one_line
from core.domain.anchor import TextAnchor, find
from core.domain.blindness import seen, seen_opinions
from core.domain.step import StepHead, decode_body
from core.domain.trajectory import StepEntry


class StepHeading(QObject):
    """The number of a step in sight, and in one line what is known of it; blind readers learn no opinion from it."""

    def __init__(self, place: Workplace, parent: QObject) -> None:
        super().__init__(parent)
        self._place = place
        self.reward = ""
        """What a reward said of the step whose text is shown."""

    def of(self, entry: StepEntry) -> tuple[str, str]:
        """The title, and what stands beside it."""
        number = number_of(self._place.sight.desk, self._place.sight.session, entry.head.number)
        head = entry.head
        about = (self._writer(head), self._judged(), self._verdict(entry), self.reward, self._worth(head.number),
                 self._about(head))
        return self.tr("Step {n}").format(n=number), " · ".join(t for t in about if t)

    def remarks(self, entry: StepEntry, data: bytes) -> list[tuple[TextAnchor, str]]:
        """Remarks on words that the step (its body as it is stored) has still; those of others not to a blind reader
        who has not judged it."""
        shown = seen_opinions(entry, self._place.blind_reader(self._place.sight.session))
        on_words = [(note.anchor, f"{writer_of(note)}: {note.text}") for note in shown.notes
                    if note.anchor is not None]
        if not on_words or not data:
            return []
        body = decode_body(data)
        return [(anchor, remark) for anchor, remark in on_words if find(anchor, body) is not None]

    def _writer(self, head: StepHead) -> str:
        return self.tr("by {person}").format(person=one_line(head.author, 40)) if head.author else ""

    def _judged(self) -> str:
        action = self._place.cursor.action
        return self.tr("action {n} alone is judged").format(n=quantities.number(action)) if action else ""

    def _verdict(self, entry: StepEntry) -> str:
        """What was decided of the step, or of its actions; nothing to a blind reader who has not judged it."""
        reader = self._place.blind_reader(self._place.sight.session)
        return verdict_words(seen(entry.verdicts, reader), len(entry.head.tools))[0]

    def _worth(self, step: int) -> str:
        worth = self._place.runs.advantage(self._place.sight.session, step)
        return self.tr("advantage {a}").format(a=quantities.signed(worth, ".2f")) if worth is not None else ""

    def _about(self, head: StepHead) -> str:
        usage = head.usage
        row = self._place.sight.row
        parts = [quantities.clock_or_day_and_clock(head.started_at or head.ended_at, row.started_at if row else None),
                quantities.duration(quantities.between(head.started_at, head.ended_at))]
        if usage.input_tokens is not None or usage.output_tokens is not None:
            parts.append(self.tr("{given} tokens in, {made} out").format(
                given=quantities.tokens(usage.input_tokens), made=quantities.tokens(usage.output_tokens)))
        if usage.cost_usd is not None:
            parts.append(quantities.money(usage.cost_usd))
        return " · ".join(t for t in parts if t)
