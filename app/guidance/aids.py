"""What helps to write guidance: templates with what is known filled in, search, and the steps before and after."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.desk.step_words import error_word
from app.desk.workplace import Workplace
from app.guidance.effect import EffectModel, sides_of
from app.guidance.model import GuidanceModel
from app.guidance.templates import filled, line_of_template, lines_of_setting
from app.guidance.view import TEMPLATES, GuidanceView
from app.kit import quantities
from app.kit.safe_text import one_line
from core.domain.step import StepHead
from core.domain.trajectory import Trajectory

SETTING = "guidance.templates"


class WritingAidsController(QObject):
    """Beside the controller that sends."""

    def __init__(self, place: Workplace, model: GuidanceModel, effect: EffectModel, view: GuidanceView) -> None:
        super().__init__(view)
        self._place, self._model, self._effect, self._view = place, model, effect, view
        view.queue.words_changed.connect(model.look_for)
        view.queue.current_changed.connect(self._show_effect)
        view.writing.template_chosen.connect(self._take_template)
        view.writing.template_saved.connect(self._save_template)
        place.actions["guide.effect"].toggled.connect(self._show_effect)
        place.sight.stepped.connect(self._on_stepped)
        place.sight.grew.connect(self._show_effect)
        place.settings.changed.connect(self._on_setting)
        self._on_setting(SETTING)

    def _on_stepped(self) -> None:
        trajectory = self._place.sight.trajectory
        if trajectory is None or not trajectory.guidance:
            self._place.actions["guide.effect"].setChecked(False)

    def _show_effect(self, *_: object) -> None:
        line, trajectory = self._view.queue.line, self._place.sight.trajectory
        if self._place.actions["guide.effect"].isChecked() and line is not None and trajectory is not None:
            guidance = trajectory.guidance.get(line.id.partition("/")[0])
            delivered = guidance.delivered_step if guidance is not None else None
            self._effect.show(*(sides_of(trajectory, delivered) if delivered is not None else ([], [])))

    # ---- templates -------------------------------------------------------------------------------

    def _on_setting(self, key: str) -> None:
        if key == SETTING:
            self._view.writing.offer_templates(self._templates(), self._place.actions["file.settings"])

    def _templates(self) -> list[str]:
        return lines_of_setting(self._place.settings.text(SETTING)) or [self._view.tr(text) for text in TEMPLATES]

    def _take_template(self, template: str) -> None:
        self._view.writing.take(filled(template, self._known()))

    def _save_template(self, text: str) -> None:
        if self._place.settings.is_fixed(SETTING):
            sentence = self.tr("The administrator of this computer has fixed the templates.")
            self._place.notices.tell(sentence, "attention")
            return
        templates = [*self._templates(), text]
        self._place.settings.set(SETTING, "\n".join(map(line_of_template, dict.fromkeys(templates))))
        self._place.notices.tell(self.tr("Saved as a template."), "done")

    def _known(self) -> dict[str, str]:
        """What the placeholders stand for, as of the step that is looked at."""
        trajectory = self._place.sight.trajectory
        if trajectory is None:
            return {}
        head = self._head(trajectory)
        scores = [s.total for s in trajectory.scores if head is None or s.step <= head.number]
        files = [f.path for f in trajectory.files if head is None or f.step <= head.number]
        return {
            "task": one_line(trajectory.row.title), "name": one_line(trajectory.row.title),
            "step": quantities.number(head.number) if head is not None else "",
            "title": one_line(head.title) if head is not None else "",
            "error": error_word(head.error_kind) if head is not None and head.is_error else "",
            "file": one_line(files[-1]) if files else "",
            "score": quantities.score(scores[-1]) if scores else "",
        }

    def _head(self, trajectory: Trajectory) -> StepHead | None:
        step = self._place.sight.step
        index = trajectory.index_of(step) if step is not None else len(trajectory.steps) - 1
        return trajectory.steps[index].head if index is not None and index >= 0 else None
