"""What the agent searched and the pages it visited, as of a step, newest first: a tree of queries and results."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt

from app.kit.flat_model import Index
from app.kit.safe_text import one_line
from core.domain.events import SearchMade, SearchResult

PAGE = "page"
"""The engine under which a visit to a page is told."""


class WebResult(msgspec.Struct, frozen=True):
    """One result and whether the agent visited its page (at which step; 0: it did not, as of now)."""

    result: SearchResult
    visited: int = 0


class WebLookup(msgspec.Struct, frozen=True):
    """One search or one visit."""

    made: SearchMade
    found: tuple[WebResult, ...] = ()

    @property
    def is_page(self) -> bool:
        """Whether this is a visit to a page."""
        return self.made.engine == PAGE


def web_searches(made: Sequence[SearchMade], step: int | None, words: str = "") -> list[WebLookup]:
    """Searches and visits up to a step (None: so far), newest first; `words` must all occur in one."""
    upto = [m for m in made if step is None or m.step <= step]
    visits = {m.query: m.step for m in upto if m.engine == PAGE}
    wanted = words.casefold().split()
    return [WebLookup(m, tuple(WebResult(r, visits.get(r.link, 0)) for r in m.results))
            for m in reversed(upto) if not wanted or all(w in _words(m) for w in wanted)]


def _words(made: SearchMade) -> str:
    parts = [made.query, made.engine, *(f"{r.title} {r.link} {r.snippet}" for r in made.results)]
    return " ".join(parts).casefold()


class WebSearchesModel(QAbstractItemModel):
    """Queries on the first level, their results below."""

    SearchRole = int(Qt.ItemDataRole.UserRole) + 1
    FoundRole = SearchRole + 1

    def __init__(self, parent: object = None) -> None:
        super().__init__(parent)  # type: ignore[arg-type]
        self._searches: list[WebLookup] = []

    def show(self, web_searches: list[WebLookup]) -> None:
        """Show these; new ones at the top are inserted, so that what is read stays."""
        old = self._searches
        fresh = len(web_searches) - len(old)
        if web_searches == old:
            return
        if fresh > 0 and [s.made for s in web_searches[fresh:]] == [s.made for s in old]:
            self.beginInsertRows(QModelIndex(), 0, fresh - 1)
            self._searches = web_searches
            self.endInsertRows()
            return
        self.beginResetModel()
        self._searches = web_searches
        self.endResetModel()

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:
        """A search, or a result of the search above it."""
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        # The id counts searches from the oldest, so that it holds when newer ones are put on top.
        return self.createIndex(row, column, len(self._searches) - parent.row() if parent.isValid() else 0)

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]
        """The search of a result."""
        if not index.isValid() or index.internalId() == 0:
            return QModelIndex()
        return self.createIndex(len(self._searches) - index.internalId(), 0, 0)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """How many searches, or results of one."""
        if not parent.isValid():
            return len(self._searches)
        if parent.internalId() or parent.row() >= len(self._searches):
            return 0
        return len(self._searches[parent.row()].found)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 1

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """The values that the delegate draws, and a line for those who read aloud."""
        if not index.isValid():
            return None
        top = len(self._searches) - index.internalId() if index.internalId() else index.row()
        if not 0 <= top < len(self._searches):
            return None
        search = self._searches[top]
        found = search.found[index.row()] if index.internalId() else None
        if role == self.SearchRole:
            return search
        if role == self.FoundRole:
            return found
        if role == int(Qt.ItemDataRole.DisplayRole):
            return one_line(found.result.title or found.result.link) if found else one_line(search.made.query)
        return None
