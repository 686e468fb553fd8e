"""Says in the agent's strip how it stands, every second while it can be seen."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import Literal

from PySide6.QtCore import QObject, QTimer

from app.desk.link_status import away_since
from app.desk.session_words import ASKS, URGENCY, attention_word, reason_words
from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.safe_text import one_line, visible
from app.kit.timers import single_shot
from app.trajectory.agent_strip import AgentStrip, StripText
from core.domain.errors import InvalidInput
from core.domain.running import CHANNEL, RunningAction, decode_running
from core.domain.session import FINAL_STATES, SessionRow
from core.domain.tools import OWN
from core.domain.trajectory import Trajectory
from core.protocol.operations import Control

SILENT_S = 60.0
"""So long nothing must have come of a session at work before its strip warns; it lives as long as commands tell."""

READ_MS = 700
"""So long a question stands before it can be answered: a click that was meant for another one is none to it."""

LIKE = 40
"""So many steps back are looked through for commands such as the one that runs."""


class StripController(QObject):
    """What runs now comes as live text and is known only while somebody tells it; the rest is the log's."""

    def __init__(self, place: Workplace, strip: AgentStrip) -> None:
        super().__init__(strip)
        self._place, self._strip = place, strip
        self._running: dict[str, tuple[RunningAction, float]] = {}
        """By session what runs, and when it began by this computer's monotonic clock."""
        self._heard: dict[str, datetime] = {}
        self._like: tuple[tuple[str, int, str], tuple[float, float] | None] = (("", 0, ""), None)
        self._timer = QTimer(self, interval=1000)
        self._timer.timeout.connect(self._show_strip)
        self._asked, self._asked_at, self._answered = "", 0.0, ""
        """The question that is shown, by its name, since when, and the one that was answered last."""
        self._answers = (place.actions["session.allow"], place.actions["session.refuse"])
        for action, word in zip(self._answers, (self.tr("Allow"), self.tr("Refuse")), strict=True):
            action.setIconText(word)
        self._answers[0].triggered.connect(partial(self._answer_leave, "resume"))
        self._answers[1].triggered.connect(partial(self._answer_leave, "interrupt"))
        strip.offer(*self._answers)
        self._read = single_shot(self, READ_MS, self._show_strip)
        place.desks.live_text.connect(self._on_live)
        for changed in (place.sight.opened, place.sight.grew, place.desks.rows_changed, place.desks.link_changed):
            changed.connect(self._show_strip)
        self._timer.start()
        self._show_strip()

    def _on_live(self, session: str, channel: str, text: str) -> None:
        self._heard[session] = datetime.now(UTC)
        if channel != CHANNEL:
            return
        try:
            action = decode_running(text)
        except InvalidInput:  # of a runner that is newer than this window: that it lives is heard all the same
            action = None
        if action is None:
            self._running.pop(session, None)
        else:
            self._running[session] = action, monotonic() - action.seconds
        if session == self._place.sight.session:
            self._show_strip()

    def _answer_leave(self, control: Literal["resume", "interrupt"], *_: object) -> None:
        """A person's yes or no to what is shown, and to nothing that is asked after it."""
        row = self._place.sight.row
        if row is not None and row.reason == ASKS:
            self._answered = self._asked
            self._place.sender.send(row.session, Control(control=control, answers=self._asked.partition("/")[2]))
            self._show_strip()

    def _enable_answers(self, row: SessionRow | None, trajectory: Trajectory | None) -> None:
        """A question is answered once, and not by the second click on the one before."""
        leave = trajectory.leave if row is not None and trajectory is not None and row.reason == ASKS else None
        asked = f"{trajectory.session}/{leave[0]}" if leave is not None and trajectory is not None else ""
        if asked != self._asked:
            self._asked, self._asked_at, self._answered = asked, monotonic(), ""
            self._read.start()
        can = bool(asked) and asked != self._answered and monotonic() - self._asked_at >= READ_MS / 1000
        for action in self._answers:
            action.setEnabled(can)

    def _show_strip(self, *_: object) -> None:
        row = self._place.sight.row
        trajectory = self._place.sight.trajectory if row is not None else None
        self._enable_answers(row, trajectory)
        at_work = row is not None and row.origin == "live" and (row.state not in FINAL_STATES or row.state == "failed")
        self._strip.show_text(self._text(row, trajectory) if at_work and row is not None and trajectory is not None
                              else None)

    def _text(self, row: SessionRow, trajectory: Trajectory) -> StripText:
        scores = tuple(score.total for score in trajectory.scores if score.total is not None)
        if row.state == "paused" and trajectory.leave is not None:
            title, _, what = trajectory.leave[1].partition("\n")
            way = (self.tr("your answer is on its way") if self._answered else
                   self.tr("guidance refuses it too, and tells the agent why"))
            return StripText(self.tr("Asks for leave:"), waits_word=one_line(title, 200) if what else "",
                             facts=(self._since(row), way), meaning="attention", question=visible(what or title))
        if row.state in ("paused", "queued", "failed"):
            head = {"paused": self.tr("Paused"), "queued": self.tr("Waits for its turn"),
                    "failed": self.tr("Failed")}[row.state]
            why = reason_words(row.reason)
            return StripText(head, facts=tuple(filter(None, (why, self._since(row)))), scores=scores,
                             meaning="error" if row.state == "failed" else "muted")
        return self._at_work(row, trajectory, scores)

    def _at_work(self, row: SessionRow, trajectory: Trajectory, scores: tuple[float, ...]) -> StripText:
        opened, now = trajectory.open_step, datetime.now(UTC)
        number = opened.number if opened is not None else row.steps + 1
        head = self.tr("Working on step {n}").format(n=quantities.number(number))
        word = waits = ""
        facts: list[str] = []
        if row.state == "waiting":
            head, word = self.tr("Waits before step {n}").format(n=quantities.number(number)), ""
            facts.append(reason_words(row.reason))
        running = self._running.get(row.session)
        if running is not None and running[0].step == number:
            action, since = running
            words = (() if action.title and OWN.tool(action.tool).kind == "shell" else (action.tool,)) + (action.title,)
            word, waits = self.tr("waits for"), one_line(" ".join(words), 200)
            facts += [self.tr("{time} so far").format(time=quantities.short_duration(monotonic() - since)),
                      self._such(trajectory, action)]
        elif row.held_by:
            is_mine = row.held_by == self._place.sight.desk.name
            head = (self.tr("You write step {n}") if is_mine else self.tr("{person} writes step {n}")).format(
                person=one_line(row.held_by, 40), n=quantities.number(number))
            facts.append(self.tr("the agent waits"))
        elif not len(trajectory.steps) and row.state != "waiting":
            begun = row.began_at or row.created_at
            head = self.tr("The first step is being thought")
            facts.append(self.tr("started {time}, {long} ago").format(
                time=quantities.clock_or_day(begun), long=quantities.short_duration(quantities.between(begun, now))))
        away = away_since(self._place.sight.desk.link)
        if row.state == "running" and len(trajectory.steps) and not (waits or row.held_by or away):
            word = self.tr("thinks")
        needs = [attention_word(kind) for kind in URGENCY if kind in row.attention]
        silent = 0.0 if row.held_by else self._silent_s(row, now)
        facts = [*needs[:2], *facts, self._heard_words(row, silent)] if not away else [
            *needs[:2], self.tr("not connected since {time}: it goes on unseen").format(time=away)]
        wants = bool(needs or away) or row.state == "waiting" or silent > SILENT_S
        return StripText(head, waits, word, tuple(filter(None, facts)), "attention" if wants else "live", scores)

    def _silent_s(self, row: SessionRow, now: datetime) -> float:
        """For how long nothing came: no event and no live text."""
        times = [at for at in (row.updated_at, self._heard.get(row.session)) if at is not None]
        return max(0.0, (now - max(times)).total_seconds()) if times else 0.0

    def _heard_words(self, row: SessionRow, silent: float) -> str:
        if silent > SILENT_S:
            since = quantities.clock_or_day(max(filter(None, (row.updated_at, self._heard.get(row.session)))))
            return self.tr("nothing heard since {time}").format(time=since)
        return self.tr("heard {n} ago").format(n=quantities.short_duration(silent))

    def _since(self, row: SessionRow) -> str:
        return self.tr("since {time}").format(time=quantities.clock_or_day(row.updated_at)) if row.updated_at else ""

    def _such(self, trajectory: Trajectory, action: RunningAction) -> str:
        """How long commands that begin with the same words took in this session."""
        key = (trajectory.session, len(trajectory.steps), action.title)
        if self._like[0] != key:
            self._like = key, times_of_such(trajectory, action)
        if (took := self._like[1]) is None:
            return ""
        least, most = map(quantities.short_duration, took)
        if least == most:
            return self.tr("such commands took {time}").format(time=least)
        return self.tr("such commands took {least}–{most}").format(least=least, most=most)


def times_of_such(trajectory: Trajectory, action: RunningAction) -> tuple[float, float] | None:
    """The shortest and the longest time, in seconds, of the last steps whose first action was the same tool, its title
    beginning with the same two words; None where there was none."""
    wanted = [action.tool, *action.title.split()[:2]]
    steps, took = trajectory.steps, []
    for at in range(max(0, len(steps) - LIKE), len(steps)):
        if steps.shape(at).tools[:1] != (action.tool,):
            continue
        head = steps[at].head
        long = quantities.between(head.started_at, head.ended_at)
        if long is not None and head.title.split()[: len(wanted)] == wanted:
            took.append(long)
    return (min(took), max(took)) if took else None
