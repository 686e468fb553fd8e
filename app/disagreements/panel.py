"""Wires the Disagreements panel: lists them, goes to the next one, says how far the authors agree."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.workplace import Workplace
from app.disagreements.model import Disagreement, Pair, disagreements, next_disagreement, pairs
from app.disagreements.view import DisagreementsView
from app.kit import quantities
from app.kit.entries import EntriesModel, TwoLines
from app.kit.i18n import plural, translate
from app.kit.safe_text import one_line
from app.kit.timers import single_shot

QUIET_MS = 300
MOST_PAIRS = 4


def build(place: Workplace, parent: QWidget) -> DisagreementsView:
    """The panel, wired."""
    model = EntriesModel(parent)
    view = DisagreementsView(model, place.actions["review.next_disagreement"], parent)
    DisagreementsController(place, model, view)
    return view


class DisagreementsController(QObject):
    """Blind mode holds here too: what others think of a step shows once the reader has decided on it."""

    def __init__(self, place: Workplace, model: EntriesModel, view: DisagreementsView) -> None:
        super().__init__(view)
        self._place, self._model, self._view = place, model, view
        self._found: list[Disagreement] = []
        self._timer = single_shot(self, QUIET_MS, self._show_cases)
        place.sight.opened.connect(self._show_cases)
        place.sight.grew.connect(self._timer.start_once)
        place.queues.blindness_changed.connect(self._show_cases)
        place.actions["review.next_disagreement"].triggered.connect(self._go_to_next)
        view.list.opened.connect(self._go_to_case)
        self._show_cases()

    def _show_cases(self) -> None:
        trajectory, reader = self._place.sight.trajectory, self._place.blind_reader(self._place.sight.session)
        self._found = disagreements(trajectory, reader) if trajectory is not None else []
        self._model.show([((d.step, d.action), _lines(d)) for d in self._found])
        self._view.show_state(len(self._found), blind=bool(reader))
        agreement = pairs(trajectory) if trajectory is not None and not reader else []
        spent = {one: seconds for one, seconds in (trajectory.spent.items() if trajectory is not None else ())
                 if reader in ("", one)}
        lines = [_words(pair) for pair in agreement[:MOST_PAIRS]]
        lines += [self._time_words(key, seconds) for key, seconds in sorted(spent.items())[:MOST_PAIRS]]
        self._view.numbers.setText("\n".join(lines))

    def _time_words(self, key: str, seconds: dict[int, float]) -> str:
        sentence = self.tr("{person}: active time {time} on %Ln step(s)", None, plural(len(seconds)))
        return sentence.format(person=author_words(key), time=quantities.duration(round(sum(seconds.values()))))

    def _go_to_next(self) -> None:
        case = next_disagreement(self._found, self._place.sight.step or 0, self._place.cursor.action)
        if case is None:
            self._place.notices.tell(self.tr("Opinions differ on no step."), "info", self._place.sight.session)
        else:
            self._go_to_case((case.step, case.action))

    def _go_to_case(self, place: tuple[int, int]) -> None:
        step, action = place
        self._place.cursor.to_step(step)
        self._place.cursor.choose_action(action)


def _lines(case: Disagreement) -> TwoLines:
    title = translate("Disagreements", "Step {n}").format(n=quantities.number(case.step))
    if case.action:
        title += translate("Disagreements", ", action {n}").format(n=quantities.number(case.action))
    below = translate("Disagreements", "keep: {keep} · mask: {mask}").format(
        keep=_names(case.keep), mask=_names(case.mask))
    return TwoLines(title=f"{title} · {one_line(case.title, 100)}", below=below, sign="≠" if case.people else "~",
                    meaning="error" if case.people else "attention",
                    right=translate("Disagreements", "between people") if case.people else "")


def _names(keys: tuple[str, ...]) -> str:
    return ", ".join(author_words(key) for key in keys)


def author_words(key: str) -> str:
    """An author's key in words."""
    kind, _, name = key.partition(":")
    word = {"person": "", "import": "", "rule": translate("Disagreements", "rule"),
            "judge": translate("Disagreements", "judge")}.get(kind, kind)
    return f"{word} {one_line(name, 40)}".strip()


def _words(pair: Pair) -> str:
    kappa = f"{pair.kappa:.2f}" if pair.kappa is not None else "–"
    raw = f"{pair.raw:.0%}" if pair.raw is not None else "–"
    sentence = translate("Disagreements", "{first} – {second}: κ {kappa}, same on {raw} of {n} steps")
    return sentence.format(first=author_words(pair.first), second=author_words(pair.second), kappa=kappa, raw=raw,
                           n=quantities.number(pair.steps))
