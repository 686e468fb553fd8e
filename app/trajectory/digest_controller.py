"""Says above the step list what came since the reader looked last at this session."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QObject

from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.i18n import plural
from app.trajectory.view import TrajectoryView
from core.domain.steps import ERROR, REPORT
from core.domain.trajectory import Trajectory


class DigestController(QObject):
    """Shown once per visit, as of the moment of coming; what comes while the reader looks is "N new"."""

    def __init__(self, place: Workplace, panel: TrajectoryView) -> None:
        super().__init__(panel)
        self._place, self._panel = place, panel
        self._digest: Digest | None = None
        self._until = 0
        place.sight.opened.connect(self._on_opened)
        place.sight.grew.connect(self._on_grew)
        panel.digest.go.clicked.connect(self._go_to_news)
        place.actions["go.news"].triggered.connect(self._walk_news)

    def _on_opened(self) -> None:
        row = self._place.sight.row
        self._until = row.steps if row is not None else 0
        self._show()

    def _on_grew(self) -> None:
        """A session that was not here yet is still coming: its digest grows up to what the server had at the start."""
        trajectory = self._place.sight.trajectory
        if trajectory is not None and trajectory.row.steps <= self._until:
            self._show()

    def _show(self) -> None:
        seen = self._place.watermarks.at_arrival(self._place.sight.session)
        held = self._place.sight.trajectory if seen is not None else None
        self._digest = digest_of(held, seen) if held is not None and seen is not None else None
        self._panel.digest.show_news(self._words(self._digest) if self._digest is not None else "")

    def _words(self, digest: Digest) -> str:
        counts = [self.tr("%Ln new step(s)", None, plural(digest.steps))]
        if digest.errors:
            counts.append(self.tr("%Ln error(s)", None, plural(digest.errors)))
        if digest.guidance:
            counts.append(self.tr("%Ln guidance delivered", None, plural(digest.guidance)))
        if digest.summaries:
            counts.append(self.tr("%Ln summary(ies)", None, plural(digest.summaries)))
        if digest.score is not None and digest.score != digest.score_before:
            now = quantities.score(digest.score)
            if digest.score_before is None:
                counts.append(self.tr("score {now}").format(now=now))
            else:
                counts.append(self.tr("score {before} → {now}").format(before=quantities.score(digest.score_before),
                                                                    now=now))
        return self.tr("Since you looked: {news}").format(news=" · ".join(counts))

    def _walk_news(self) -> None:
        """The first step that came since, then what failed and what was answered after it, then the last."""
        sight, digest = self._place.sight, self._digest
        trajectory, here = sight.trajectory, sight.step
        if digest is None or trajectory is None:
            self._place.notices.tell(self.tr("Nothing is new since you looked."), "info")
            return
        steps = trajectory.steps
        start = trajectory.index_of(digest.first) or 0
        stops = {start, len(steps) - 1} | {at for at in range(start, len(steps))
                                           if steps.flags[at] & (ERROR | REPORT)}
        after = sorted(at for at in stops if here is None or here < digest.first or steps.numbers[at] > here)
        if after:
            self._place.cursor.to_step(steps.numbers[after[0]])
        else:
            self._place.notices.tell(self.tr("That was all that is new."), "info")
            self._panel.digest.show_news("")

    def _go_to_news(self) -> None:
        if self._digest is not None:
            self._place.cursor.to_step(self._digest.first)
            self._panel.digest.show_news("")


_FAILED = bytes(int(bool(flags & ERROR)) for flags in range(256))


class Digest(msgspec.Struct, frozen=True):
    """Counts of what is new; `first` is the first new step. Scores are None where there was none."""

    first: int
    steps: int
    errors: int = 0
    guidance: int = 0
    summaries: int = 0
    score_before: float | None = None
    score: float | None = None


def digest_of(trajectory: Trajectory, seen: int) -> Digest | None:
    """What came after step `seen`; None when there is nothing new."""
    steps = trajectory.steps
    at = steps.index_of(seen)
    start = next((i for i in range(0 if at is None else at + 1, len(steps)) if steps.numbers[i] > seen), len(steps))
    if start == len(steps):
        return None
    first = steps.numbers[start]
    scores = [s for s in trajectory.scores if s.total is not None]
    before = [s.total for s in scores if s.step <= seen]
    return Digest(
        first=first, steps=len(steps) - start, errors=bytes(steps.flags[start:]).translate(_FAILED).count(1),
        guidance=sum(1 for g in trajectory.advice if (g.delivered_step or 0) >= first),
        summaries=sum(1 for s in trajectory.summaries.values() if s.last > seen),
        score_before=before[-1] if before else None, score=scores[-1].total if scores else None)
