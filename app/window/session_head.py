"""The head over the panels: which session is looked at, its facts, the queue that asks for it, and what can be done."""

from __future__ import annotations

from PySide6.QtCore import QSize, QTimer
from PySide6.QtWidgets import QWidget

from app.desk.session_words import origin_name, reason_words, row_words
from app.desk.workplace import Workplace
from app.kit import quantities, theme, tokens
from app.kit.action_button import ActionButton, IconButton
from app.kit.boxes import row
from app.kit.i18n import plural
from app.kit.safe_text import PlainLabel, one_line
from app.sessions.model import limits_of
from app.window.layout_memory import kind_of
from core.domain.blindness import judged_count, seen
from core.domain.session import SessionRow


class QueuePlace(QWidget):
    """Hidden where no queue asks for the session that is looked at."""

    def __init__(self, place: Workplace, parent: QWidget) -> None:
        super().__init__(parent)
        self._place = place
        fact = theme.font_of("fact")
        self.name = PlainLabel("", self, font=theme.bold_font(fact))
        self.count = PlainLabel("", self, font=fact, faint=True)
        row(PlainLabel(self.tr("Queue"), self, font=fact, faint=True), self.name, self.count,
            *(IconButton(place.actions[key], icon, self) for key, icon in (
                ("queue.previous", "chevron-left"), ("queue.next", "chevron-right"))),
            on=self, spacing=theme.px(tokens.WITHIN), margin=0)
        place.sight.opened.connect(self._show_place)
        place.queues.changed.connect(self._show_place)
        self._show_place()

    def _show_place(self) -> None:
        session = self._place.sight.session
        key = self._place.queues.asks_of(session) if session else ""
        queue = self._place.queues.queue(key)
        if queue is not None:
            wanted = [one for one, item in self._place.queues.items(key) if item.wanted]
            self.name.setText(one_line(queue.name, 32))
            n = quantities.number(wanted.index(session) + 1) if session in wanted else "–"
            self.count.setText(self.tr("session {n} of {count}").format(n=n, count=quantities.number(len(wanted))))
        self.setVisible(queue is not None)


ACTS = ("pause", "resume", "continue", "interrupt")
"""Of a live session at work the first two and the last; of one that ended the third."""


class SessionHead(QWidget):
    """Side toggle, title, facts; at the right what belongs to the session: its place in a queue, and for a live one
    pause and interrupt."""

    def __init__(self, place: Workplace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._place = place
        self._judged = ("", 0, ""), 0
        """Of a session, up to an event, as its reader may know: how many of its steps people judged."""
        self.side = IconButton(place.actions["view.side"], "panel-left", self)
        self.title = PlainLabel("", self, font=theme.font_of("title"))
        self.facts = PlainLabel("", self, elide=True, font=theme.font_of("fact"), faint=True)
        self.acts = [ActionButton(place.actions[f"session.{key}"], "ink", self, capped=False) for key in ACTS]
        for key, word in (("pause", self.tr("Pause")), ("resume", self.tr("Resume")),
                          ("continue", self.tr("Continue…")), ("interrupt", self.tr("Interrupt"))):
            place.actions[f"session.{key}"].setIconText(word)
        self.queue = QueuePlace(place, self)
        self._lay_out()
        for key in ("pause", "resume", "interrupt"):
            place.actions[f"session.{key}"].changed.connect(self._show_head)
        place.sight.opened.connect(self._show_head)
        place.desks.rows_changed.connect(self._show_head)
        place.settings.changed.connect(self._show_head)
        place.queues.changed.connect(self._show_head)
        self._timer = QTimer(self, interval=5000)
        self._timer.timeout.connect(self._show_head)
        self._timer.start()
        self._show_head()

    def _lay_out(self) -> None:
        side = theme.px(tokens.SIDE)
        row(self.side, self.title, (self.facts, 1), self.queue, *self.acts, on=self, spacing=side,
            margin=(side, 0, side, 0))
        self.setFixedHeight(theme.px(tokens.HEIGHTS["head"]))

    def minimumSizeHint(self) -> QSize:
        """The head holds no window open."""
        return QSize(theme.px(400), theme.px(tokens.HEIGHTS["head"]))

    def _show_head(self, *_: object) -> None:
        row = self._place.sight.row
        if row is None:
            return
        self.title.setText(one_line(row.title or row.task or row.session, 64))
        self.facts.setText("  ·  ".join(part for part in self._facts(row) if part))
        live = kind_of(row) == "live"
        for button, key in zip(self.acts, ACTS, strict=True):
            can = self._place.actions[f"session.{key}"].isEnabled()
            button.setVisible(can if key == "continue" else live and (can or key == "interrupt"))

    def _facts(self, row: SessionRow) -> list[str]:
        most = limits_of(row)
        live = kind_of(row) == "live"
        steps = self.tr("step {n} of {total}").format(
            n=quantities.number(row.steps), total=quantities.number(most.steps)) if live and most.steps else self.tr(
            "%Ln step(s)", None, plural(row.steps))
        money = ""
        if row.cost_usd is not None:
            money = quantities.money(row.cost_usd)
            if most.cost_usd:
                money = self.tr("{amount} of {limit}").format(amount=money, limit=quantities.money(most.cost_usd))
        score = self.tr("score {n}").format(n=quantities.score(row.score)) if row.score is not None else ""
        begun = quantities.day_and_clock(row.started_at)
        took = "" if live else quantities.duration(row.worked_s)
        why = reason_words(row.reason) if row.state == "failed" or row.reason.startswith("limit_") else ""
        return [origin_name(row.origin), one_line(row.model, 32), begun, took, steps, money, score,
                one_line(why, 48), self._state(row, live=live)]

    def _state(self, row: SessionRow, *, live: bool) -> str:
        """How the run stands, and of one that is over how far people reviewed it: finished is not reviewed."""
        word, trajectory = row_words(row)[1], self._place.sight.trajectory
        if live or trajectory is None or not len(trajectory.steps):
            return word
        reader = self._place.blind_reader(row.session)
        opinions = trajectory.steps.opinions.values()
        if self._judged[0] != (row.session, trajectory.seq, reader):
            self._judged = (row.session, trajectory.seq, reader), judged_count(trajectory.steps, reader)
        judged = self._judged[1]
        if not judged:
            return self.tr("{state}, not reviewed").format(state=word)
        if judged < len(trajectory.steps):
            return self.tr("{state}, not fully reviewed").format(state=word)
        if not any(v.author.kind == "person" for o in opinions for v in seen(o.verdicts, reader).values()):
            return self.tr("{state}, judged in its file").format(state=word)
        return self.tr("{state}, reviewed").format(state=word)
