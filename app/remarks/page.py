"""File › Export as page: the session in sight as one HTML file, for people who do not have this program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import get_args

from PySide6.QtCore import QLocale, QObject

from app.desk.bodies import Bodies
from app.desk.frame import Frame
from app.desk.session_words import reason_words, state_words
from app.desk.workplace import Workplace
from app.kit.ask import file_to_save
from app.kit.i18n import translate
from core.domain.errors import NotFound, ReportableError
from core.domain.events import SessionState
from core.domain.trajectory import Trajectory
from core.formats.page.document import cited_steps, page, write
from core.formats.page.words import REASONS, PageWords

LARGEST_NAME = 60


class PageController(QObject):
    """Writes the steps that people spoke of; where they spoke of none, the step that is looked at."""

    def __init__(self, place: Workplace, window: Frame) -> None:
        super().__init__(window.widget)
        self._place, self._window = place, window.widget
        self._bodies: Bodies | None = None
        self._action = place.actions["file.export_page"]
        self._action.triggered.connect(self._on_asked)
        place.sight.opened.connect(self._enable_page)
        self._enable_page()

    def _enable_page(self) -> None:
        self._action.setEnabled(bool(self._place.sight.session))

    def _on_asked(self, *_: object) -> None:
        self._place.scope.spawn(self._ask(), name="export as page")

    async def _ask(self) -> None:
        row, trajectory = self._place.sight.row, self._place.sight.trajectory
        if row is None or trajectory is None:
            return
        letters = "".join(c if c.isalnum() or c in " -_" else "_" for c in row.title or row.session)
        path = await file_to_save(self._window, self.tr("Export as page"), f"{letters[:LARGEST_NAME].strip()}.html")
        if path:
            self.export(trajectory, Path(path))

    def export(self, trajectory: Trajectory, path: Path) -> None:
        """Fetch what is cited, and write the page, with what the reader may see of others' opinions now."""
        reader = self._place.blind_reader(self._place.sight.session)
        numbers = cited_steps(trajectory, reader) or [
            n for n in (self._place.sight.step or trajectory.row.steps,) if n]
        names = [trajectory.step(number).body for number in numbers]
        self._bodies = Bodies(self._place.sight, names,
                              lambda found: self._write(trajectory, numbers, found, path, reader))

    def _write(self, trajectory: Trajectory, numbers: list[int], found: dict[str, bytes], path: Path,
               reader: str) -> None:
        try:
            write(path, page(trajectory, _held(found), self.words(), cited=numbers, reader=reader))
        except ReportableError as error:
            self._place.notices.report(error)
            return
        self._place.notices.tell(self.tr("The page is written: {path}").format(path=path), "done", trajectory.session)

    def words(self) -> PageWords:
        """The words of a page in the reader's language."""
        return PageWords(
            language=QLocale().bcp47Name(), task=self.tr("Task"), outline=self.tr("Outline"),
            steps=self.tr("Cited steps"), remarks=self.tr("Remarks on the session"), step=self.tr("Step {n}"),
            thought=self.tr("Thought"), answer=translate("Row", "Answer"),
            output=self.tr("Output"), failed=self.tr("failed"), model=self.tr("model"),
            state=self.tr("state"), states={s: state_words(s)[1] for s in get_args(SessionState)} | {
                reason: reason_words(reason) for reason in REASONS},
            because=self.tr("{state}: {reason}"), began=self.tr("began"), count=self.tr("steps"),
            errors=self.tr("errors"),
            score=self.tr("score"), cost=self.tr("cost"), guidance=self.tr("guidance"),
            person=translate("Aside", "Person's turn"), user=self.tr("user"),
            submission=translate("Row", "Handed in"),
            summary=self.tr("summary of steps {first} to {last}"),
            cut=self.tr("{shown} of {total} characters are shown."), nothing=self.tr("No step was cited."),
            gone=self.tr("on words that the step has no more: “{words}”"),
            whole=self.tr("{cited} of the session's {n} steps"),
            keep=self.tr("keep"), mask=self.tr("mask"), unsure=self.tr("unsure"), none=self.tr("none"))


def _held(found: dict[str, bytes]) -> Callable[[str], bytes]:
    def blob(name: str) -> bytes:
        if name not in found:
            raise NotFound("no_blob", f"The payload {name} is not here.", blob=name)
        return found[name]

    return blob
