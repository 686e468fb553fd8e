"""Wires the Find panel: asks the indexes of this computer in a process of its own and the other servers over the
wire, shows what was found as it comes, opens it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QWidget

from app.desk.searcher import Searcher
from app.desk.session_key import OWN, server_of
from app.desk.workplace import Workplace
from app.find.hits import Merged, lines, servers_in_words
from app.find.remote_search import RemoteSearch
from app.find.view import FindView
from app.kit.docks import show_dock_of
from app.kit.entries import EntriesModel, TwoLines
from app.kit.timers import single_shot
from core.domain.hit import Hit
from core.workers.search import LogHits, SearchCopies

PAUSE_MS = 200
LIMIT = 200


def build(place: Workplace, parent: QWidget) -> FindView:
    """The panel, wired."""
    model = EntriesModel(parent)
    view = FindView(model, parent)
    FindController(place, model, view)
    return view


class FindController(QObject):
    """Searches as the reader types. What comes later stands below what is read."""

    def __init__(self, place: Workplace, model: EntriesModel, view: FindView) -> None:
        super().__init__(view)
        self._place, self._model, self._view = place, model, view
        self._searcher, self._remote = Searcher(place, self), RemoteSearch(place, self)
        self._merged = Merged()
        self._titles: dict[str, str] = {}
        self._more = False
        self._why = ""
        self._aside: Hit | None = None
        self._pause = single_shot(self, PAUSE_MS, self._search)
        view.words_changed.connect(self._on_words)
        view.list.opened.connect(self._open_hit)
        self._remote.answered.connect(self._on_remote)
        place.queues.blindness_changed.connect(self._search_anew)
        place.sight.grew.connect(self._open_aside)
        place.sight.stepped.connect(self._on_stepped)
        place.actions["go.find_all"].triggered.connect(self._show_dock)
        place.actions["go.find_all"].triggered.connect(view.start, Qt.ConnectionType.QueuedConnection)

    def _show_dock(self) -> None:
        show_dock_of(self._view)

    def _on_words(self, words: str) -> None:
        self._searcher.drop()
        self._remote.drop()
        self._view.show_partly("", 0)
        if words.strip():
            self._view.show_state("searching", len(self._model.rows))
            self._pause.start()
        else:
            self._pause.stop()
            self._model.show(())
            self._view.show_state("nothing")

    def _search_anew(self) -> None:
        self._on_words(self._view.box.text())

    def _search(self) -> None:
        words = self._view.box.text().strip()
        self._merged, self._titles, self._more, self._why = Merged(), {}, False, ""
        self._searcher.ask(SearchCopies(words=words, limit=LIMIT), self._on_local, self._on_failed)
        self._remote.ask(words, LIMIT)
        self._show_state()

    # ---- what comes ------------------------------------------------------------------------------

    def _on_local(self, found: LogHits) -> None:
        self._more = len(found.hits) == LIMIT
        self._show(found.hits)

    def _on_failed(self, why: str) -> None:
        self._why = why
        self._show(())

    def _on_remote(self) -> None:
        self._show(())

    def _show(self, local: Sequence[Hit]) -> None:
        """Merge what is here, this computer's first where both came; say how it stands."""
        begun = bool(self._merged.hits)
        for hits in (local, *(reply.hits for reply in self._remote.replies.values())):
            self._merged.add([hit for hit in hits if self._may_show(hit)])
        known = self._model.rows if begun else []
        entries = [known[row] if row < len(known) and known[row][0] is hit else (hit, self._lines(hit))
                   for row, hit in enumerate(self._merged.hits)]
        if begun:
            self._model.grow(entries)
        elif entries or not self._is_busy:
            self._model.show(entries)
        self._show_state()

    def _may_show(self, hit: Hit) -> bool:
        """A blind reader finds no remark of others; a remark's `ref` is the key of its author."""
        return hit.where != "note" or self._place.blind_reader(hit.session) in ("", hit.ref)

    def _show_state(self) -> None:
        count, replies = len(self._model.rows), self._remote.replies
        more = self._more or any(reply.more for reply in replies.values())
        state = "searching" if self._is_busy else "failed" if self._why and not count else "found"
        self._view.show_state(state, count, self._why, more=more)
        names = [(self._place.servers.name_of(server), reply) for server, reply in replies.items()]
        self._view.show_partly(servers_in_words(names), self._partly())

    @property
    def _is_busy(self) -> bool:
        return self._searcher.is_busy or self._remote.is_busy

    def _lines(self, hit: Hit) -> TwoLines:
        if hit.session not in self._titles:
            row = self._place.desks.of(hit.session).row(hit.session)
            self._titles[hit.session] = row.title if row is not None else ""
        server = server_of(hit.session)
        name = self._place.servers.name_of(server) if server != OWN else ""
        return lines(hit, self._titles[hit.session], name)

    def _partly(self) -> int:
        """How many sessions of servers that did not answer are not whole here: the rest of them is not searched."""
        place = self._place
        silent = {server for server, reply in self._remote.replies.items() if reply.state not in ("asking", "answered")}
        return sum(not place.offline_copies.is_whole(row.session, row.seq)
                   for desk in place.desks.all if desk.server in silent for row in desk.rows())

    # ---- what the reader opens -------------------------------------------------------------------

    def _open_hit(self, hit: Hit) -> None:
        texts = {hit.snippet[start:stop] for start, stop in hit.matches}
        self._place.cursor.move(hit.session, hit.step)
        self._place.cursor.seek(re.compile("|".join(map(re.escape, texts)), re.IGNORECASE) if texts else None)
        self._aside = hit if hit.where in ("guidance", "summary") else None
        self._open_aside()

    def _open_aside(self) -> None:
        """Show the guidance or summary that was opened, as soon as it is here."""
        hit, trajectory = self._aside, self._place.sight.trajectory
        if hit is None or trajectory is None:
            return
        if hit.ref in (trajectory.guidance if hit.where == "guidance" else trajectory.summaries):
            self._aside = None
            self._place.cursor.open_aside(hit.where, hit.ref)

    def _on_stepped(self) -> None:
        """The reader went on before it came."""
        self._aside = None
