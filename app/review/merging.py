"""Another annotator's opinions, out of the archives that they sent: merged by the command, told in a sentence each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk import command_line as commands
from app.desk.workplace import Workplace
from app.kit.ask import files_to_open
from app.kit.i18n import plural
from core.domain.errors import ReportableError


class MergingController(QObject):
    """Merges the archives that a person chooses into the sessions of this computer's own server."""

    def __init__(self, place: Workplace, window: QWidget, connected: Callable[[], Awaitable[None]]) -> None:
        """`connected` waits for this computer's own server, which writes."""
        super().__init__(window)
        self._place, self._window, self._connected = place, window, connected
        place.actions["file.merge"].triggered.connect(self._on_asked)

    def _on_asked(self) -> None:
        self._place.scope.spawn(self._choose(), name="merge")

    async def _choose(self) -> None:
        await self.merge(await files_to_open(self._window, self.tr("Merge the opinions in archives of sessions")))

    async def merge(self, archives: Sequence[str]) -> None:
        """Merge the opinions of these archives, one after the other; one that cannot be read stops none."""
        if archives:
            await self._connected()
        for archive in archives:
            try:
                (summary,), _ = await commands.run(self._place.home, "merge", archive)
            except ReportableError as error:
                self._place.notices.report(error)
            else:
                self._place.notices.tell(self._sentence(summary), "done", str(summary["session"]))

    def _sentence(self, summary: Mapping[str, int]) -> str:
        sentence = self.tr("%Ln opinion(s) merged, {known} were here already.", None, plural(summary["merged"]))
        sentence = sentence.format(known=summary["known"])
        if summary["elsewhere"]:
            sentence += " " + self.tr("%Ln opinion(s) on steps that differ here were left out.", None,
                                      plural(summary["elsewhere"]))
        return sentence
