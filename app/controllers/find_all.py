"""Wires the Find panel: asks the index of all sessions in a process of its own, opens what was found."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from PySide6.QtCore import QCoreApplication, QObject, Qt
from PySide6.QtWidgets import QWidget

from app import quantities
from app.controllers.searcher import Searcher
from app.later import later
from app.models.entries import EntriesModel
from app.models.two_lines import TwoLines
from app.safe_text import one_line
from app.views.find_all import FindAllPanel
from app.workplace import Workplace
from core.domain.hit import Hit

PAUSE_MS = 200
LIMIT = 200
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def build(place: Workplace, parent: QWidget) -> FindAllPanel:
    """The panel, wired."""
    model = EntriesModel()
    panel = FindAllPanel(model, parent)
    model.setParent(panel)
    FindAllController(place, model, panel)
    return panel


class FindAllController(QObject):
    """Searches as the reader types."""

    def __init__(self, place: Workplace, model: EntriesModel, panel: FindAllPanel) -> None:
        super().__init__(panel)
        self._place, self._model, self._panel = place, model, panel
        self._searcher = Searcher(place, self)
        self._pause = later(self, PAUSE_MS, self._search)
        panel.words_changed.connect(self._on_words)
        panel.list.opened.connect(self._open)
        self._searcher.told.connect(self._on_told)
        self._searcher.failed.connect(self._on_failed)
        place.actions["go.find_all"].triggered.connect(panel.start, Qt.ConnectionType.QueuedConnection)

    def _on_words(self, words: str) -> None:
        self._searcher.drop()
        if words.strip():
            self._panel.show_state("searching", len(self._model.entries))
            self._pause.start()
        else:
            self._pause.stop()
            self._model.show(())
            self._panel.show_state("nothing")

    def _search(self) -> None:
        self._searcher.ask(do="search", words=self._panel.box.text().strip(), limit=LIMIT)

    def _on_told(self, told: dict[str, Any]) -> None:
        hits = [msgspec.convert(hit, Hit) for hit in told["hits"]]
        titles = {row.session: row.title for row in self._place.desk.rows()}
        self._model.show([(hit, _lines(hit, titles.get(hit.session, ""))) for hit in hits])
        self._panel.show_state("found", len(hits), more=len(hits) == LIMIT)
        self._panel.show_partly(self._partly())

    def _partly(self) -> int:
        """How many sessions of other servers are not whole here: what was not fetched is not searched."""
        place = self._place
        return sum(not place.desk.is_local(row.session) and not place.kept.is_whole(row.session, row.seq)
                   for row in place.desk.rows())

    def _on_failed(self, why: str) -> None:
        self._model.show(())
        self._panel.show_state("failed", 0, why)

    def _open(self, hit: Hit) -> None:
        texts = {hit.snippet[start:stop] for start, stop in hit.matches}
        self._place.cursor.move(hit.session, hit.step)
        self._place.cursor.seek(re.compile("|".join(map(re.escape, texts)), re.IGNORECASE) if texts else None)
        trajectory = self._place.desk.trajectory(hit.session)
        if (hit.where == "guidance" and hit.ref in trajectory.guidance) or (
                hit.where == "summary" and hit.ref in trajectory.summaries):
            self._place.cursor.look_aside(hit.where, hit.ref)


def _lines(hit: Hit, title: str) -> TwoLines:
    where = where_word(hit.where)
    if hit.step is not None:
        where = QCoreApplication.translate("Find", "step {n}").format(n=quantities.number(hit.step)) + " · " + where
    # one hidden character becomes one visible sign: the places of the matches stay
    return TwoLines(title=one_line(title or hit.session, 80), below=_HIDDEN.sub("␣", hit.snippet), right=where,
                    spans=hit.matches)


def where_word(where: str) -> str:
    """The word for the place of a hit."""
    return {
        "title": QCoreApplication.translate("Find", "title"),
        "thought": QCoreApplication.translate("Find", "thought"),
        "action": QCoreApplication.translate("Find", "action"),
        "output": QCoreApplication.translate("Find", "output"),
        "summary": QCoreApplication.translate("Find", "summary"),
        "guidance": QCoreApplication.translate("Find", "guidance"),
        "note": QCoreApplication.translate("Find", "note"),
    }.get(where, where)
