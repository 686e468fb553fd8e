"""The Searches panel: queries with their results, pages visited, as of the step."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QSplitter,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from app.desk.gist_words import say_none
from app.kit import quantities, theme
from app.kit.boxes import apart, column, named, words_box
from app.kit.empty import Empty, Faces
from app.kit.flat_model import Index
from app.kit.i18n import plural
from app.kit.long_text import LongText, Part
from app.kit.nothing_found import FilterKeys, NothingFound
from app.kit.row_paint import fill_ground, write
from app.kit.safe_text import one_line
from app.kit.thin_line import Gist
from app.web_searches.model import WebLookup, WebResult, WebSearchesModel


class WebSearchDelegate(QStyledItemDelegate):
    """A query in one bold line with engine, count and step; a result in a title and an address."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """One line for a query, two for a result."""
        lines = 2 if index.data(WebSearchesModel.FoundRole) is not None else 1
        return QSize(60, QFontMetrics(option.font).height() * lines + 2 * theme.GRID)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self.initStyleOption(option, index)
        fill_ground(painter, option)
        search, found = index.data(WebSearchesModel.SearchRole), index.data(WebSearchesModel.FoundRole)
        painter.save()
        room = QRectF(option.rect).adjusted(theme.GRID, theme.GRID, -2 * theme.GRID, -theme.GRID)
        if isinstance(found, WebResult):
            self._paint_result(painter, room, option, found)
        elif isinstance(search, WebLookup):
            self._paint_query(painter, room, option, search)
        painter.restore()

    def _paint_query(self, painter: QPainter, room: QRectF, option: QStyleOptionViewItem, search: WebLookup) -> None:
        made = search.made
        facts = self.tr("page") if search.is_page else one_line(made.engine, 30)
        if not search.is_page:
            facts += " · " + self.tr("%Ln result(s)", "", plural(len(made.results)))
        facts += " · " + self.tr("step {step}").format(step=made.step)
        width = write(painter, room, facts, "muted", theme.small_font(option.font), right=True)
        room.setRight(room.right() - width - 2 * theme.GRID)
        sign = "↗ " if search.is_page else "⌕ "
        write(painter, room, sign + one_line(made.query), "ink", theme.bold_font(option.font))

    def _paint_result(self, painter: QPainter, room: QRectF, option: QStyleOptionViewItem, found: WebResult) -> None:
        upper = QRectF(room.left(), room.top(), room.width(), room.height() / 2)
        lower = upper.translated(0, room.height() / 2)
        write(painter, upper, one_line(found.result.title) or one_line(found.result.link), "ink", option.font)
        small = theme.small_font(option.font)
        if found.visited:
            visit = self.tr("visited at step {step}").format(step=found.visited)
            lower.setRight(lower.right() - write(painter, lower, visit, "live", small, right=True) - 2 * theme.GRID)
        write(painter, lower, one_line(found.result.link), "muted", small)


class WebSearchesView(QWidget):
    """A filter, the tree, and the selected result as plain text. Addresses are shown, never opened."""

    filtered = Signal(str)
    step_asked = Signal(int)

    def __init__(self, model: WebSearchesModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.filter = words_box(self, self.tr("Filter queries, titles, addresses …"), self.tr("Filter"), clears=True)
        self.tree = named(QTreeView(self, headerHidden=True, indentation=4 * theme.GRID), self.tr("Searches"))
        self.tree.setModel(model)
        self.tree.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._delegate = WebSearchDelegate(self.tree)
        self.tree.setItemDelegate(self._delegate)
        self._detail = LongText(self, name=self.tr("Result"))
        self.nothing = NothingFound(self.tr("No search holds these words."), self.filter.clear, self)
        FilterKeys(self.filter, self.tree)
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.addWidget(self.tree)
        split.addWidget(self._detail)
        split.setSizes([300, 110])
        split.setStretchFactor(0, 1)
        full = QWidget(self)
        self._hits = Faces(split, self.nothing)
        column(apart(self.filter), (self._hits, 1), on=full, spacing=0, margin=0)
        self._empty = Empty("", self)
        self.gist = Gist(self)
        self._faces = Faces(full, self._empty, self)
        self.setFocusProxy(self.tree)
        self.filter.textChanged.connect(self.filtered)
        self.tree.selectionModel().currentChanged.connect(self._show_selected)
        self.tree.activated.connect(self._go_to_activated)
        self.tree.setToolTip(self.tr("Return or a double click goes to the step of the search"))
        self.show_count(0, None)

    def say_gist(self, steps: Sequence[int] | None, count: int, step: int | None) -> None:
        """What the thin line says, of searches at these steps."""
        if count or self.filter.text():
            self.gist.say(self.tr("%Ln search(es)", None, plural(count)), is_nothing=False)
        else:
            say_none(self.gist, self.tr("Nothing searched up to step {step}"), self.tr("Nothing was searched"), steps,
                     step)

    def show_count(self, count: int, step: int | None) -> None:
        """How many searches there are; without any, say why."""
        self._faces.show_content(bool(count or self.filter.text()))
        self._hits.show_content(bool(count or not self.filter.text()))
        self._detail.placeholder(self.tr("Select a query or a result to read it here. {key} copies.").format(
            key=QKeySequence(QKeySequence.StandardKey.Copy).toString()))
        if step is None:
            self._empty.say(self.tr("No search yet"), self.tr(
                "The agent's web queries, their results and the pages it visits appear here."))
        else:
            self._empty.say(self.tr("No search as of step {step}").format(step=quantities.number(step)),
                            self.tr("Go to a later step, or press F to follow."))

    def _show_selected(self, index: QModelIndex, _: QModelIndex) -> None:
        search, found = index.data(WebSearchesModel.SearchRole), index.data(WebSearchesModel.FoundRole)
        if isinstance(found, WebResult):
            result = found.result
            self._detail.show_parts([
                Part(text=result.title + "\n", style="heading"), Part(text=result.link + "\n", meaning="muted"),
                Part(text="\n" + result.snippet)])
        elif isinstance(search, WebLookup):
            rows = [Part(text=search.made.query + "\n", style="heading")]
            rows += [Part(text=f"{i}. {one_line(f.result.title)}\n    {one_line(f.result.link)}\n")
                     for i, f in enumerate(search.found, 1)]
            self._detail.show_parts(rows)

    def _go_to_activated(self, index: QModelIndex) -> None:
        search = index.data(WebSearchesModel.SearchRole)
        if isinstance(search, WebLookup):
            self.step_asked.emit(search.made.step)
