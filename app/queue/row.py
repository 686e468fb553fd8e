"""The rows of a queue's list: what each says of its session, and all of them as a Qt model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from PySide6.QtCore import Qt

from app.desk.session_words import attention_word, origin_name, short_id
from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.flat_model import SPOKEN, FlatModel, Index
from app.kit.i18n import translate
from app.kit.safe_text import one_line, plain_tooltip
from core.domain.progress import ANYBODY, Judged, Progress
from core.domain.queue import QueueItem, ReviewQueue
from core.domain.session import SessionRow
from core.supervision.overlap import overlap


class QueueRow(msgspec.Struct, frozen=True):
    """One session: columns from left to right. `word` stands in the last one, in the colour of `meaning` (`is_chip`: on
    its tint), `agreement` behind it."""

    session: str
    icon: str
    ink: str
    title: str
    about: str
    started: str
    steps: str
    judged: Judged
    asked: int
    score: str
    who: str
    word: str = ""
    meaning: str = "muted"
    is_chip: bool = False
    agreement: str = ""

    @property
    def spoken(self) -> str:
        """The row as one text."""
        words = translate("QueueTable", "{judged} of {asked} judged, {masked} masked, {unsure} unsure")
        one = self.judged
        numbers = words.format(judged=quantities.number(one.total), asked=quantities.number(self.asked),
                               masked=quantities.number(one.mask), unsure=quantities.number(one.unsure))
        parts = (self.title, self.about, self.started, numbers, self.who, self.word, self.agreement)
        return ", ".join(part for part in parts if part)


def queue_row(place: Workplace, row: SessionRow, queue: ReviewQueue | None, item: QueueItem | None) -> QueueRow:
    """A session in a queue, or (without one) in a filter's list. To a blind reader only the own progress shows."""
    me = place.queues.me(row.session)
    blind = place.queues.is_blind(row.session) or (queue is not None and queue.work.blind)
    judged, asked = progress_of(row, queue, item, me, blind=blind)
    done = _is_done(item, me, blind=blind)
    icon, ink = _sign(place, row, item, me, done=done)
    word, meaning, is_chip = _word(place, row, item, done=done)
    return QueueRow(
        session=row.session, icon=icon, ink=ink, title=one_line(row.title or row.task or row.session, 160),
        about=_about(row), started=quantities.short_day_and_minute(row.started_at) or "–",
        steps=quantities.number(row.steps), judged=judged, asked=asked, score=quantities.score(row.score),
        who=_who(item, me), word=word, meaning=meaning, is_chip=is_chip,
        agreement=_agreement(item) if done and not blind else "")


def progress_of(row: SessionRow, queue: ReviewQueue | None, item: QueueItem | None, me: str, *, blind: bool
              ) -> tuple[Judged, int]:
    """Whose progress shows: the reader's own where they have the session, else that of who is furthest."""
    if queue is None:
        return row.judged.get(f"person:{me}" if blind else ANYBODY, Progress()).steps, row.steps
    people = [h.person for h in item.holders] if item is not None else []
    shown = [me] if blind or me in people else people
    each = [queue.judged(row, f"person:{person}") for person in shown]
    return max(each, key=lambda j: j.total, default=Judged()), queue.asked(row)


def _is_done(item: QueueItem | None, me: str, *, blind: bool) -> bool:
    if item is None:
        return False
    holder = item.holder(me)
    return bool(holder is not None and holder.done) if blind else item.is_done


def _sign(place: Workplace, row: SessionRow, item: QueueItem | None, me: str, *, done: bool) -> tuple[str, str]:
    if done:
        return "check-check", "keep"
    if row.unreadable:
        return "triangle-alert", "attention"
    if place.queues.readers(row.session):
        return "lock", "muted"
    mine = row.judged.get(f"person:{me}", Progress()).steps.total
    if mine and (item is None or item.holder(me) is not None):
        return "circle-dot", "person"
    return "circle", "edge"


def _word(place: Workplace, row: SessionRow, item: QueueItem | None, *, done: bool) -> tuple[str, str, bool]:
    if done:
        return translate("QueueTable", "done"), "keep", False
    if row.unreadable:
        return translate("QueueTable", "not whole"), "attention", True
    if readers := place.queues.readers(row.session):
        return translate("QueueTable", "{person} is reading").format(person=one_line(readers[0], 24)), "muted", False
    if row.attention:
        return attention_word(row.attention[0]), "attention", True
    if item is not None and not item.holders:
        return translate("QueueTable", "unassigned"), "muted", False
    return "", "muted", False


def _about(row: SessionRow) -> str:
    origin = translate("QueueTable", "live") if row.origin == "live" else origin_name(row.origin)
    sample = row.task if row.task not in ("", row.session, row.title) else short_id(row.session)
    why = one_line(row.unreadable, 80)
    return " · ".join(part for part in (origin, one_line(row.model, 32), why or one_line(sample, 24)) if part)


def _who(item: QueueItem | None, me: str) -> str:
    names = [translate("QueueTable", "you") if h.person == me else one_line(h.person, 24)
             for h in item.holders] if item is not None else []
    return ", ".join(names) or "–"


def _agreement(item: QueueItem | None) -> str:
    agreed = overlap([item]) if item is not None else None
    return f"{agreed.name} {agreed.value:.2f}" if agreed is not None and agreed.value is not None else ""


QueueRowRole = int(Qt.ItemDataRole.UserRole) + 1


class QueueModel(FlatModel[str]):
    """Sessions by their keys; `say` puts one into words. What was made is remembered until something changes."""

    def __init__(self, say: Callable[[str], QueueRow | None]) -> None:
        super().__init__()
        self._say = say
        self._words: dict[str, QueueRow | None] = {}

    def show(self, sessions: Sequence[str]) -> None:
        """List these, or the same ones with what changed of them."""
        self._words.clear()
        self.put(sessions, same=list(sessions) == self.rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """The row (QueueRowRole), or its text for assistive technology."""
        session = self.row_at(index)
        if session is None or role not in (QueueRowRole, Qt.ItemDataRole.ToolTipRole, *SPOKEN):
            return None
        line = self.words_of(session)
        if role == QueueRowRole or line is None:
            return line
        return plain_tooltip(line.spoken) if role == Qt.ItemDataRole.ToolTipRole else line.spoken

    def row_of(self, session: str) -> int:
        """The place of a session; -1 where it is not listed."""
        return self.rows.index(session) if session in self.rows else -1

    def words_of(self, session: str) -> QueueRow | None:
        """A session in words; None for one that is not known."""
        if session not in self._words:
            self._words[session] = self._say(session)
        return self._words[session]
