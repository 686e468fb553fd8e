"""Every session as a Qt model: state, progress, score, cost, what is new since the reader looked, attention."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from operator import attrgetter
from typing import Any, Literal

import msgspec
from PySide6.QtCore import QObject, Qt

from app.desk.offline_copies import OfflineCopies
from app.desk.session_words import ASKS, URGENCY, attention_word, origin_name, row_words
from app.desk.watermarks import Watermarks
from app.kit import quantities
from app.kit.flat_model import SPOKEN, FlatModel, Index
from app.kit.i18n import plural
from app.kit.safe_text import one_line, plain_tooltip
from app.sessions.shared_title import Titles
from core.domain.session import FINAL_STATES, SessionRow
from core.domain.session_query import NO_REVIEW, Candidate, InReview, SessionQuery
from core.domain.task import Limits

SessionRole = int(Qt.ItemDataRole.UserRole) + 1


class SessionText(msgspec.Struct, frozen=True):
    """One session as it is painted: title with state in sign, word and colour, and a second line of numbers."""

    session: str
    title: str
    sign: str
    word: str
    meaning: str
    attention: str
    about: str
    numbers: str
    new: str
    shared: int = 0
    """So many characters of the title others begin with, too."""

    used: float | None = None
    """The share of its limits that a session that goes on has used, the most used one's; None where none is known."""

    is_usual: bool = False
    """How it ended need not be said: its sign says so, and a narrow line has better things to tell."""

    @property
    def spoken(self) -> str:
        """The line as one text."""
        return ", ".join(p for p in (self.title, self.word, self.attention, self.new, self.about, self.numbers) if p)


def _name(row: SessionRow) -> str:
    return row.title or row.task or row.session


def _title(row: SessionRow) -> str:
    """What the session is about; of a branch, on which side of its question it is."""
    title = one_line(_name(row), 120)
    return f"{title} · {one_line(row.arm, 40)}" if row.arm else title


Order = Literal["begun", "attention", "new", "heard", "name"]
"""The newest first; what needs attention first; the most new steps first; the last heard of first; by name."""


class SessionsModel(FlatModel[SessionRow]):
    """The sessions that pass a query, in an order; while they are looked at no row changes its place."""

    def __init__(self, watermarks: Watermarks, server_name: Callable[[str], str] = lambda _: "",
                 offline: OfflineCopies | None = None, review: Callable[[SessionRow], InReview] = lambda _: NO_REVIEW,
                 parent: QObject | None = None) -> None:
        """`server_name(session)` is what to call the session's server; "" where there is but one. `review` tells what
        filters ask of a session's queues."""
        super().__init__(parent)
        self._review, self._offline, self._watermarks, self._server_name = review, offline, watermarks, server_name
        self.query = SessionQuery()
        """What is listed."""
        self._order: Order = "begun"
        self._known: list[SessionRow] = []
        self._candidates: list[Candidate] | None = None
        """What is known, in order; None where it must be put in order again."""
        self._titles: Titles | None = None
        """Of what is known; None where it changed and nothing was painted since."""

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """The line (SessionRole), or its text for assistive technology."""
        row = self.row_at(index)
        if row is None:
            return None
        if role == SessionRole:
            return self.line(row)
        if role == Qt.ItemDataRole.ToolTipRole:  # a narrow list shortens its lines
            return plain_tooltip(self.line(row).spoken)
        return self.line(row).spoken if role in SPOKEN else None

    def show(self, rows: list[SessionRow], *, hold: bool = False) -> None:
        """Take the rows of now. `hold`: somebody reads the list, so that what is listed keeps its order."""
        self._known, self._candidates, self._titles = rows, None, None
        self._list(hold=hold)

    def set_query(self, text: str) -> None:
        """List only what a query says (`core.domain.session_query`)."""
        if text != self.query.text:
            self.query = SessionQuery(text)
            self._list()

    def set_order(self, order: Order) -> None:
        """List in another order."""
        if order != self._order:
            self._order, self._candidates = order, None
            self._list()

    @property
    def known(self) -> int:
        """How many sessions there are, listed or not."""
        return len(self._known)

    def row_of(self, session: str) -> int:
        """The place of a session; -1 where it is not listed."""
        return next((i for i, row in enumerate(self.rows) if row.session == session), -1)

    def show_new(self) -> None:
        """The watermarks changed."""
        self._candidates = None
        self.draw_anew()

    def line(self, row: SessionRow) -> SessionText:
        """A row as it is painted."""
        sign, word, meaning = row_words(row)
        attention = " · ".join(attention_word(kind) for kind in row.attention
                               if (kind, row.reason) != ("waiting", ASKS))  # which the state says
        fresh = self._new(row)
        return SessionText(
            session=row.session, title=_title(row), sign=sign, word=word,
            meaning=meaning, attention=f"! {attention}" if attention else "", about=self._about(row),
            numbers=self._numbers(row), used=used(row), shared=self._shared_of(row),
            is_usual=row.origin != "live" and row.state == "finished" and bool(self._about(row)),
            new=self.tr("%Ln new", None, plural(fresh)) if fresh > 0 else "")

    def _about(self, row: SessionRow) -> str:
        """Where it runs, for how long it has, and with what."""
        server = self._server_name(row.session)
        if row.unreadable:
            return one_line(row.unreadable, 200)
        parts = [f"@ {one_line(server, 24)}"] if server else []
        if row.origin != "live":  # runs of one name differ in when they began, model and sample; a narrow list shows it
            return " · ".join(filter(None, (*parts, *self._sample(row))))
        if row.queue_place:
            parts.append(self.tr("waits for hosts, place {n}").format(n=row.queue_place))
        if self._is_offline(row):
            parts.append("⤓ " + self.tr("stored offline"))
        if took := self._took(row):
            parts.append(took)
        if row.model:
            parts.append(one_line(row.model, 32))
        return " · ".join(filter(None, parts))

    def _took(self, row: SessionRow) -> str:
        """For how long it has run: at work until now, and in whole minutes, as nobody looks every second."""
        now = datetime.now(UTC)
        return (quantities.minutes(quantities.between(row.began_at, now)) if row.state == "running"
                else quantities.duration(row.worked_s))

    def _sample(self, row: SessionRow) -> list[str]:
        return [quantities.short_day_and_minute(row.began_at), one_line(row.model, 32),
                one_line(row.task, 24) if row.task not in (row.session, row.title) else "",
                "⤓ " + self.tr("stored offline") if self._is_offline(row) else ""]

    def _is_offline(self, row: SessionRow) -> bool:
        return self._offline is not None and self._offline.is_whole(row.session, row.seq)

    def _shared_of(self, row: SessionRow) -> int:
        if self._titles is None:
            self._titles = Titles(_name(one)[:120] for one in self._known)
        return self._titles.shared(_name(row)[:120])

    def _numbers(self, row: SessionRow) -> str:
        most = limits_of(row)
        steps = self.tr("%Ln step(s)", None, plural(row.steps))
        parts = [self._of(steps, most.steps and quantities.number(most.steps))]
        if row.score is not None:
            parts.append(self.tr("score {n}").format(n=quantities.score(row.score)))
        if row.guidance_waiting > 0:
            parts.append(self.tr("%Ln guidance waiting", None, plural(row.guidance_waiting)))
        if row.cost_usd is not None:
            parts.append(self._of(quantities.money(row.cost_usd), most.cost_usd and quantities.money(most.cost_usd)))
        if row.tokens is not None:
            parts.append(self._of(self.tr("{n} tokens").format(n=quantities.tokens(row.tokens)),
                                 most.tokens and quantities.tokens(most.tokens)))
        if row.origin != "live":
            parts += filter(None, (quantities.duration(row.worked_s), origin_name(row.origin)))
        return " · ".join(parts)

    def _of(self, amount: str, limit: object) -> str:
        """An amount, with the limit where there is one."""
        return self.tr("{amount} of {limit}").format(amount=amount, limit=limit) if limit else amount

    def _new(self, row: SessionRow) -> int:
        seen = self._watermarks.steps(row.session)
        return max(0, row.steps - seen) if seen is not None else 0

    def _list(self, *, hold: bool = False) -> None:
        if self._candidates is None:
            self._candidates = list(map(self._candidate, self._in_order()))
        passes = self.query.passes
        fresh = [one.row for one in self._candidates if passes(one)]
        if hold:
            held = {row.session: at for at, row in enumerate(self.rows)}
            fresh.sort(key=lambda r: held.get(r.session, -1))  # what is new to the list comes first
        before, after = [r.session for r in self.rows], [r.session for r in fresh]
        if before != after and len(before) == len(after) and set(before) == set(after):
            self._reorder(before, fresh)
        else:
            self.put(fresh, same=before == after)

    def _reorder(self, before: list[str], fresh: list[SessionRow]) -> None:
        """The same sessions in another order: what is selected stays selected, and the list stays where it is."""
        self.layoutAboutToBeChanged.emit()
        held = self.persistentIndexList()
        self.rows = fresh
        moved = [self.index(self.row_of(before[index.row()])) for index in held]
        self.changePersistentIndexList(held, moved)
        self.layoutChanged.emit()

    def _candidate(self, row: SessionRow) -> Candidate:
        return Candidate(row, self._server_name(row.session), self._new(row), partial(self._review, row))

    def _in_order(self) -> list[SessionRow]:
        """What is known as the order says; after it, the newest comes first."""
        found = sorted(self._known, key=_id)
        found.sort(key=_begun, reverse=True)
        leading: dict[Order, Callable[[SessionRow], Any]] = {
            "attention": _urgency, "new": lambda row: -self._new(row),
            "heard": lambda row: -(row.updated_at or _NEVER).timestamp(), "name": lambda row: _name(row).casefold()}
        if self._order in leading:
            found.sort(key=leading[self._order])
        return found


_id = attrgetter("session")
_NEVER = datetime.fromtimestamp(0, UTC)


def _begun(row: SessionRow) -> datetime:
    return row.began_at or row.created_at or _NEVER


NO_LIMITS = Limits(steps=None, evaluations=None)


def limits_of(row: SessionRow) -> Limits:
    """The limits of a session that goes on; of one that has ended they tell nothing any more."""
    return row.limits if row.limits is not None and row.state not in FINAL_STATES else NO_LIMITS


def used(row: SessionRow) -> float | None:
    """How much of its most used limit a session has used."""
    most = limits_of(row)
    pairs = ((row.steps, most.steps), (row.tokens, most.tokens), (row.cost_usd, most.cost_usd))
    return max(((amount or 0) / limit for amount, limit in pairs if limit), default=None)


def _urgency(row: SessionRow) -> int:
    """What waits for a person first, then the other kinds, then what needs nobody."""
    return min((URGENCY.index(k) if k in URGENCY else len(URGENCY) for k in row.attention), default=len(URGENCY) + 1)
