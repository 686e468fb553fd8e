"""The step list over a session and the subagents that are open in it: each has a model of its own, their rows are one
list, a subagent's below the step that called it. Whoever asks for items or steps is answered for the session in sight.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from string import ascii_lowercase

import msgspec
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, Qt

from app.desk.frame import ListPlace
from app.desk.row_text import RowText
from app.kit.flat_model import Index
from app.trajectory.facets import Facets
from app.trajectory.model import FoundRole, ListRow, RowRole, RowTextRole
from app.trajectory.row_layout import Node, RowLayout
from core.domain.session import SessionRow
from core.domain.trajectory import Item, Trajectory


class NestedRows:
    """The rows as ListRows; items are those of the session in sight, of another one's rows only the kind is said."""

    def __init__(self, model: NestedModel) -> None:
        self._model = model

    def __len__(self) -> int:
        return self._model.rowCount()

    def __getitem__(self, row: int) -> ListRow:
        node, own = self._model.at(row)
        line = node.model.rows[own]
        return line if node is self._model.active else ListRow(line.kind)


class NestedModel(QAbstractListModel):
    """Rows of the first session and of what is open below its steps; `active` is the session in sight."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._called: dict[str, dict[int, list[SessionRow]]] = {}
        self.worth: Callable[[str, int], float | None] = lambda *_: None
        """What a session's step was worth to what learns from it; set it before the first session."""
        self._folds, self._filter, self._facets = True, "all", Facets()
        self.root = self.active = self._node("", None, 0, "")
        self._layout = RowLayout(self.root)
        self.rows = NestedRows(self)
        self._changes = False
        """Whether what a session's own model inserts or removes now is in the list."""

    # ---- what is in the list ---------------------------------------------------------------------

    def show(self, trajectory: Trajectory | None, session: str = "") -> None:
        """Show another session from scratch."""
        old, made = self.root, self._node(session, None, 0, "")
        made.model.set_reader(self.active.model.reader)
        made.model.set_view(filter=self._filter, folds=self._folds, facets=self._facets)
        made.model.show(trajectory)
        self.beginResetModel()
        self.root = self.active = made
        old.deleteLater()
        self._lay_out()
        self.endResetModel()

    def node(self, session: str) -> Node | None:
        """The session in the list; None where it is not, or not open."""
        return next((node for node in self.root.walk() if node.session == session), None)

    def activate(self, session: str) -> None:
        """Answer for this session from now on; it is in the list. What is filtered is the session in sight alone."""
        node = self.node(session)
        if node is not None and node is not self.active:
            reader = self.active.model.reader
            self.active.model.set_view(filter="all", facets=Facets())
            self.active.model.mark_found(())
            self.active = node
            node.model.set_reader(reader)
            node.model.set_view(filter=self._filter, facets=self._facets)

    def open(self, above: Node, row: SessionRow, trajectory: Trajectory) -> Node:
        """Show a subagent's steps below the step that called it."""
        held = self.node(row.session)
        if held is not None:
            return held
        node = self._node(row.session, above, row.caller_step, self._prefix(above, row))
        node.model.set_view(folds=self._folds)
        node.model.show(trajectory)
        place = self._layout.place_below(above, node)
        if node.model.rowCount() and place >= 0:
            self.beginInsertRows(QModelIndex(), place, place + node.model.rowCount() - 1)
            above.below.append(node)
            self._lay_out()
            self.endInsertRows()
        else:
            above.below.append(node)
            self._lay_out()
        return node

    def close(self, node: Node) -> None:
        """Fold a subagent away, with all that is open in it; whoever reads in it goes to its caller before."""
        if node.above is None:
            return
        rows = [row for one in node.walk() for row in self._layout.rows_of(one)]
        if rows:
            self.beginRemoveRows(QModelIndex(), min(rows), max(rows))
        node.above.below.remove(node)
        self._lay_out()
        if rows:
            self.endRemoveRows()
        node.deleteLater()

    def open_at(self, row: int) -> list[Node]:
        """The subagents that are open below a row."""
        node, own = self.at(row)
        return [one for one in node.below if one.anchor == own]

    def at(self, row: int) -> tuple[Node, int]:
        """The session of a row, and the row in its own model."""
        return self._layout.at(row)

    def row_in(self, node: Node, own: int) -> int:
        """The row of the list for a row of a session's own model; −1 where there is none."""
        return self._layout.row_in(node, own)

    def _node(self, session: str, above: Node | None, step: int, prefix: str) -> Node:
        node = Node(session, above, step, prefix, above if above is not None else self)
        model = node.model
        model.texts.worth = partial(self.worth, session)
        model.set_called(self._called.get(session, {}))
        model.rowsAboutToBeInserted.connect(partial(self._before_insert, node))
        model.rowsAboutToBeRemoved.connect(partial(self._before_remove, node))
        model.rowsInserted.connect(self._after_insert)
        model.rowsRemoved.connect(self._after_remove)
        model.dataChanged.connect(partial(self._on_data, node))
        model.modelAboutToBeReset.connect(partial(self._before_reset, node))
        model.modelReset.connect(self._after_reset)
        return node

    def _prefix(self, above: Node, row: SessionRow) -> str:
        """`9.`, or `9b.` of the second that one step called."""
        beside = [one.session for one in self._called.get(above.session, {}).get(row.caller_step, ())]
        letter = ascii_lowercase[beside.index(row.session) % 26] if len(beside) > 1 and row.session in beside else ""
        return f"{above.prefix}{row.caller_step or '?'}{letter}."

    # ---- the reader's place ----------------------------------------------------------------------

    def place_of(self, row: int) -> ListPlace:
        """What is open, and which item a row begins with."""
        node, own = self.at(row)
        item = node.model.rows[own].first if 0 <= row < self.rowCount() else -1
        nodes = list(self.root.walk())
        unfolded = {one.session: one.model.unfolded for one in nodes if one.model.unfolded}
        return ListPlace(node.session, item, 0, unfolded, [one.session for one in nodes if one.depth])

    def take_place(self, place: ListPlace) -> int:
        """Open the folds of a place; the row that it begins with, −1 where that is not here."""
        for node in self.root.walk():
            node.model.unfold(place.unfolded.get(node.session, ()))
        first = self.node(place.session)
        return self.row_in(first, first.model.row_of(place.item)) if first is not None else -1

    # ---- one list of many ------------------------------------------------------------------------

    def _lay_out(self) -> None:
        is_whole = self.active.model.is_whole
        self._layout.lay_out(self.root if is_whole else self.active, is_whole)

    def _before_insert(self, node: Node, parent: QModelIndex, first: int, last: int) -> None:
        self._changes = self._layout.holds(node)
        if self._changes:
            row = self._layout.insertion(node, first)
            self.beginInsertRows(QModelIndex(), row, row + last - first)

    def _after_insert(self, *_: object) -> None:
        self._lay_out()
        if self._changes:
            self.endInsertRows()

    def _before_remove(self, node: Node, parent: QModelIndex, first: int, last: int) -> None:
        rows = [self.row_in(node, own) for own in (first, last)]
        self._changes = self._layout.holds(node) and min(rows) >= 0
        if self._changes:
            self.beginRemoveRows(QModelIndex(), *rows)

    def _after_remove(self, *_: object) -> None:
        self._lay_out()
        if self._changes:
            self.endRemoveRows()

    def _before_reset(self, node: Node) -> None:
        self._changes = self._layout.holds(node)
        if self._changes:
            self.beginResetModel()

    def _after_reset(self) -> None:
        if self._changes:
            self._lay_out()
            self.endResetModel()

    def _on_data(self, node: Node, top: QModelIndex, bottom: QModelIndex, roles: object = None) -> None:
        for first, last in self._layout.list_rows(node, top.row(), bottom.row()):
            self.dataChanged.emit(self.index(first), self.index(last))

    # ---- Qt --------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else self._layout.count

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """What the session's own model says; a step of a subagent has the caller's number before its own."""
        if not index.isValid() or index.row() >= self.rowCount():
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            text = self.painted(index.row())[0]
            return text.spoken if text is not None else None
        if role == RowTextRole:
            return self.painted(index.row())[0]
        if role == FoundRole:
            return self.painted(index.row())[1]
        return self.rows[index.row()] if role == RowRole else None

    def painted(self, row: int) -> tuple[RowText | None, bool]:
        """What a row says, and whether it is a hit; None where there is no such row."""
        node, own = self.at(row)
        text, is_found = node.model.painted(own)
        if text is not None and node.depth:
            number = "–".join(node.prefix + part for part in text.number.split("–")) if text.number else ""
            text = msgspec.structs.replace(text, number=number, depth=node.depth)
        return text, is_found and node is self.active

    # ---- of the session in sight -----------------------------------------------------------------

    @property
    def trajectory(self) -> Trajectory | None:
        """The trajectory in sight."""
        return self.active.model.trajectory

    @property
    def reader(self) -> str:
        """Whom others' opinions are hidden from."""
        return self.active.model.reader

    @property
    def is_whole(self) -> bool:
        """Whether every item is listed."""
        return self.active.model.is_whole

    @property
    def digits(self) -> int:
        """The characters of the longest number."""
        return max(node.model.digits + len(node.prefix) for node in self.root.walk())

    def set_view(self, *, filter: str | None = None, folds: bool | None = None, facets: Facets | None = None) -> None:
        """As the session's own model; what waits is folded in all."""
        if folds is not None:
            self._folds = folds
            for node in self.root.walk():
                node.model.set_view(folds=folds)
        self._filter = self._filter if filter is None else filter
        self._facets = self._facets if facets is None else facets
        self.active.model.set_view(filter=filter, facets=facets)

    def set_reader(self, reader: str) -> None:
        """Whom others' opinions are hidden from until they have decided (an author's key); "": from nobody."""
        for node in self.root.walk():
            node.model.set_reader(reader)

    def refresh(self, reading: int | None = None) -> None:
        """Take what the trajectory in sight got since; `reading` is the item that must not be folded away."""
        self.active.model.refresh(reading)

    def refresh_beside(self, session: str) -> None:
        """Take what another session of the list got since."""
        node = self.node(session)
        if node is not None and node is not self.active:
            node.model.refresh()

    def toggle(self, row: int) -> int:
        """Open the fold at a row, or fold the run of which it is a part; returns the row of its first line."""
        node, own = self.at(row)
        return self.row_in(node, node.model.toggle(own))

    def reveal(self, item: int) -> int:
        """The row that shows an item, its fold opened; −1 where the filter hides it."""
        return self.row_in(self.active, self.active.model.reveal(item))

    def row_of(self, item: int) -> int:
        """The row that shows an item, be it in a fold; −1 where there is none."""
        return self.row_in(self.active, self.active.model.row_of(item))

    def item_of_step(self, number: int) -> int:
        """The item of a step number; −1 where there is none."""
        return self.active.model.item_of_step(number)

    def step_of_row(self, row: int) -> int | None:
        """The step number of a row of the session in sight that is one step."""
        node, own = self.at(row)
        return node.model.step_of_row(own) if node is self.active else None

    def item_at(self, row: int) -> Item | None:
        """The item of a row of the session in sight that shows exactly one."""
        node, own = self.at(row)
        return node.model.item_at(own) if node is self.active else None

    def is_tall(self, row: int) -> bool:
        """Whether a row may take more than one line."""
        node, own = self.at(row)
        return node.model.is_tall(own)

    def steps_of_rows(self, top: int, bottom: int) -> list[int]:
        """The numbers of all steps of the session in sight in some rows, folded ones too."""
        found: list[int] = []
        for first, last in self._layout.own_rows(self.active, top, bottom):
            found += self.active.model.steps_of_rows(first, last)
        return found

    def set_called(self, session: str, called: dict[int, list[SessionRow]]) -> None:
        """Which subagents the steps of a session called."""
        self._called[session] = called
        if (node := self.node(session)) is not None:
            node.model.set_called(called)

    def called_at(self, row: int) -> list[SessionRow]:
        """The subagents that the step of a row called."""
        if not 0 <= row < self.rowCount():
            return []
        node, own = self.at(row)
        return node.model.called_at(own)
