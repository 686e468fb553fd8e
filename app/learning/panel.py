"""Wires the Learning panel: a run's curves, the sessions of a task side by side, what is worth a look; Enter opens."""

from __future__ import annotations

import time
from functools import partial

from PySide6.QtCore import QModelIndex, QObject
from PySide6.QtWidgets import QWidget

from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.background import BackgroundWork
from app.kit.entries import EntriesModel, TwoLines
from app.kit.i18n import QT_TRANSLATE_NOOP, plural, translate
from app.kit.quantities import short
from app.kit.safe_text import one_line
from app.kit.timers import single_shot
from app.learning.group_ink import worth
from app.learning.group_model import GroupModel
from app.learning.samples import MetricChange, NotableSession, changes, samples
from app.learning.view import LearningView
from core.workers.reinforcement import GroupSheet

SOLVED = 0.999
"""The reward from which on a session counts as solved, as in the metrics of a run."""

AGE_MS = 5_000
"""How often it is said anew when something was heard last."""


def build(place: Workplace, parent: QWidget) -> LearningView:
    """The panel, wired."""
    models = GroupModel(), EntriesModel(), EntriesModel()
    actions = {key: place.actions[f"run.{key}"] for key in ("open", "previous", "next", "newest")}
    view = LearningView(models, actions, parent)
    for model in models:
        model.setParent(view)
    LearningController(place, models, view)
    return view


class LearningController(QObject):
    """Shows what the book of runs holds."""

    def __init__(self, place: Workplace, models: tuple[GroupModel, EntriesModel, EntriesModel], view: LearningView
                 ) -> None:
        super().__init__(view)
        self._place, self._runs, self._view = place, place.runs, view
        self._group, self._tasks, self._notable = models
        self._age = single_shot(self, AGE_MS, self._show_head)
        self._looking = BackgroundWork(self)
        self._looking.done.connect(self._show_notable)
        self._connect()
        self._show_run()

    def _connect(self) -> None:
        runs, view, actions = self._runs, self._view, self._place.actions
        runs.opened.connect(self._show_run)
        runs.grew.connect(self._show_news)
        runs.sheets_changed.connect(self._show_update)
        view.picked.connect(runs.choose)
        view.tasks.opened.connect(self._show_group)
        view.notable.opened.connect(self._show_sample)
        view.table.reached.connect(self._show_step)
        view.open_asked.connect(self._open_session)
        actions["run.previous"].triggered.connect(partial(self._turn_update, -1))
        actions["run.next"].triggered.connect(partial(self._turn_update, 1))
        actions["run.newest"].triggered.connect(self._show_newest)

    # ---- the run ---------------------------------------------------------------------------------

    def _show_run(self) -> None:
        self._view.show_content(self._runs.folder is not None)
        self._show_news()
        self._show_update()

    def _show_news(self) -> None:
        self._show_head()
        self._view.show_curves(self._runs.news.metrics, self._runs.update)
        self._enable()

    def _show_head(self) -> None:
        runs = self._runs
        if runs.folder is None:
            return
        self._view.show_run(one_line(runs.folder.name, 60), " · ".join(filter(None, self._head_words())))
        if not runs.news.is_over:
            self._age.start()

    def _head_words(self) -> list[str]:
        runs, news = self._runs, self._runs.news
        words = [one_line(runs.facts.kind, 40), one_line(runs.facts.loss, 20)]
        last = news.metrics[-1] if news.metrics else None
        words.append(self.tr("update {n} of {all}").format(n=quantities.number(last.update), all=quantities.number(
            last.updates)) if last is not None else self.tr("no update yet"))
        if news.is_over:
            words.append(self.tr("done"))
        elif news.written_at:
            ago = quantities.duration(max(0, round(time.time() - news.written_at)))
            words.append(self.tr("last heard {time} ago").format(time=ago))
        if news.unread:
            words.append(self.tr("%Ln line(s) of metrics.jsonl cannot be read", None, plural(news.unread)))
        return words

    def _enable(self) -> None:
        runs, actions = self._runs, self._place.actions
        for key, on in (("previous", runs.update > 1), ("next", 0 < runs.update < runs.news.newest),
                        ("newest", 0 < runs.update < runs.news.newest)):
            actions[f"run.{key}"].setEnabled(on)

    def _turn_update(self, by: int, *_: object) -> None:
        self._runs.choose(self._runs.update + by)

    def _show_newest(self) -> None:
        self._runs.choose(self._runs.news.newest)

    # ---- an update -------------------------------------------------------------------------------

    def _show_update(self) -> None:
        runs = self._runs
        self._view.show_curves(runs.news.metrics, runs.update)
        self._view.update_name.setText(
            self.tr("Update {n}").format(n=quantities.number(runs.update)) if runs.update else "")
        self._tasks.show([(group.group, _task_lines(group)) for group in runs.groups])
        self._looking.start(samples, runs.groups, runs.before)  # goes through every word of the update
        self._enable()
        varied = next((g for g in runs.groups if not g.dropped), next(iter(runs.groups), None))
        self._show_group(varied.group if varied is not None else "")

    def _show_notable(self, found: list[NotableSession]) -> None:
        runs = self._runs
        notable: list[tuple[object, TwoLines]] = [
            (change, _change_lines(change)) for change in changes(runs.news.metrics, runs.update)]
        self._notable.show([*notable, *((sample, _sample_lines(sample)) for sample in found)])

    def _show_group(self, name: object) -> None:
        group = next((g for g in self._runs.groups if g.group == name), None)
        self._group.show(group)
        at = next((i for i, (what, _) in enumerate(self._tasks.rows) if what == name), -1)
        self._view.tasks.setCurrentIndex(self._tasks.index(at) if at >= 0 else QModelIndex())
        self._view.task.setText(one_line(group.task, 120) if group is not None else "")
        if group is not None and self._group.members:
            self._view.table.setCurrentIndex(self._group.index(0, 0))
        self._show_step()

    def _show_sample(self, found: object) -> None:
        if isinstance(found, NotableSession):
            self._show_group(found.group)
            self._view.table.setCurrentIndex(self._group.place(found.session, found.step))

    # ---- a step ----------------------------------------------------------------------------------

    def _show_step(self) -> None:
        step = self._group.step(self._view.table.currentIndex())
        if step is None:
            self._view.show_step("", "")
            return
        facts = [self.tr("step {n}").format(n=step.number), self.tr("advantage {a}").format(a=worth(step.advantage)),
                 self.tr("entropy {e}").format(e=short(step.entropy)),
                 self.tr("log-probability {p}").format(p=short(step.log_prob))]
        facts += [self.tr("the action failed")] if step.is_error else []
        facts += [self.tr("masked")] if step.masked else []
        self._view.show_step(step.text, " · ".join(facts))

    def _open_session(self) -> None:
        index = self._view.table.currentIndex()
        step = self._group.step(index)
        if step is not None:
            self._runs.open_session(self._group.members[index.column()].session, step.number)


def _task_lines(group: GroupSheet) -> TwoLines:
    rewards = [member.reward for member in group.sessions]
    solved = sum(reward >= SOLVED for reward in rewards)
    words = translate("Learning", "reward {low}–{high}").format(
        low=short(min(rewards, default=0.0)), high=short(max(rewards, default=0.0)))
    if group.dropped:
        words = translate("Learning", "nothing learnt: reward {reward} for all").format(
            reward=short(rewards[0] if rewards else 0.0)) if len(set(rewards)) == 1 else (
            translate("Learning", "nothing learnt from it"))
    return TwoLines(title=one_line(group.task or group.group, 80), below=words, sign="=" if group.dropped else "",
                    right=f"{quantities.number(solved)}/{quantities.number(len(rewards))}")


REASONS = {
    "quick": QT_TRANSLATE_NOOP("Learning", "Highest reward, fewest steps"),
    "failing": QT_TRANSLATE_NOOP("Learning", "Rewarded though actions failed"),
    "longer": QT_TRANSLATE_NOOP("Learning", "Much longer than usual"),
    "shorter": QT_TRANSLATE_NOOP("Learning", "Much shorter than usual"),
    "repeats": QT_TRANSLATE_NOOP("Learning", "Says the same again"),
}
VALUES = {
    "quick": QT_TRANSLATE_NOOP("Learning", "{value} steps, usually {usual}"),
    "failing": QT_TRANSLATE_NOOP("Learning", "{value} of {usual} actions failed"),
    "longer": QT_TRANSLATE_NOOP("Learning", "{value} tokens, usually {usual}"),
    "shorter": QT_TRANSLATE_NOOP("Learning", "{value} tokens, usually {usual}"),
    "repeats": QT_TRANSLATE_NOOP("Learning", "{value} of its words, usually {usual}"),
}
CHANGES = {
    "length": QT_TRANSLATE_NOOP("Learning", "Length changed suddenly"),
    "entropy": QT_TRANSLATE_NOOP("Learning", "Entropy changed suddenly"),
    "errors": QT_TRANSLATE_NOOP("Learning", "Failed actions changed suddenly"),
    "steps": QT_TRANSLATE_NOOP("Learning", "Steps changed suddenly"),
}


def _sample_lines(sample: NotableSession) -> TwoLines:
    value, usual = (f"{v:.0%}" if sample.reason == "repeats" else short(round(v, 1))
                    for v in (sample.value, sample.usual))
    words = translate("Learning", VALUES[sample.reason])
    return TwoLines(title=translate("Learning", REASONS[sample.reason]), below=words.format(value=value, usual=usual))


def _change_lines(change: MetricChange) -> TwoLines:
    words = translate("Learning", "{now}, before {before}")
    return TwoLines(title=translate("Learning", CHANGES[change.key]), sign="!", meaning="attention",
                    below=words.format(now=short(change.now), before=short(change.before)))
