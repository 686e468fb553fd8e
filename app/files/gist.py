"""The Files panel in one line: what the step changed, how many files so far, or where the first change is."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject

from app.desk.gist_words import say_none, say_unchosen
from app.desk.workplace import Workplace
from app.files.model import FilesModel, touched
from app.kit import quantities
from app.kit.i18n import plural
from app.kit.safe_text import one_line
from app.kit.thin_line import Gist
from core.domain.events import FileChanged
from core.domain.path_parts import name_of


class FilesGist(QObject):
    """Follows the step."""

    def __init__(self, place: Workplace, model: FilesModel, gist: Gist) -> None:
        super().__init__(gist)
        self._place, self._model, self._gist = place, model, gist
        for changed in (place.sight.stepped, place.sight.grew, model.dataChanged):
            changed.connect(self._say_gist)
        gist.step_asked.connect(place.cursor.to_step)
        self._say_gist()

    def _say_gist(self, *_: object) -> None:
        trajectory, step = self._place.sight.trajectory, self._place.sight.step
        if trajectory is None:
            say_unchosen(self._gist)
            return
        changes: Sequence[FileChanged] = trajectory.files
        here = [c for c in changes if step is None or c.step <= step]
        if not here:
            say_none(self._gist, self.tr("No file changed up to step {step}"), self.tr("No file was changed"),
                     [change.step for change in changes] if trajectory.seq else None, step)
            return
        last = here[-1]
        so_far = self.tr("%Ln changed so far", None, plural(len(touched(here, None))))
        name = one_line(name_of(last.path), 60)
        link = self.tr("at {step}").format(step=quantities.number(last.step)) if last.step else ""
        words = f"{f'{name}  {self._counts(last)}'.rstrip()} · {so_far}"
        self._gist.say(words, link, step=last.step, is_nothing=False)

    def _counts(self, change: FileChanged) -> str:
        counts = self._model.counts_of(change)
        return quantities.lines_changed(*counts) if counts else ""
