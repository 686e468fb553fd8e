"""The step list as a Qt model over a folded trajectory: lines, folded waiting and loops, filters, find."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, Qt

from app.desk.row_text import RowText
from app.kit.flat_model import Index
from app.trajectory.facets import Facets
from app.trajectory.filters import FILTERS, items_of, new_items, steps_with
from app.trajectory.row_texts import ChangedItems, RowTexts
from app.trajectory.rows import ListRow, ListRows, StepRun, runs_of
from core.domain.session import SessionRow
from core.domain.steps import ERROR
from core.domain.trajectory import Item, Trajectory

__all__ = ["FILTERS", "ListRow", "RowRole", "RowTextRole", "TrajectoryModel"]

RowTextRole = int(Qt.ItemDataRole.UserRole) + 1
RowRole = RowTextRole + 1
FoundRole = RowTextRole + 2

LOOK_BACK = 6
"""So many steps before a new one may become a run with it, though they were none."""


class TrajectoryModel(QAbstractListModel):
    """Rows over one trajectory. `refresh` takes what was added to it; nothing is copied from it."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.trajectory: Trajectory | None = None
        self.rows = ListRows()
        self._row_count = 0
        self._runs: list[StepRun] = []
        self._expanded: set[int] = set()
        self._turning = -1
        """The first item of a fold that opens or closes now: its line is that of the item while lines come and go."""
        self._filter = "all"
        self.reader = ""
        """Whom others' opinions are hidden from; see `set_reader`."""
        self._folds = True
        self._facets = Facets()
        self._live = ""
        self._taken = self._steps_taken = 0
        self.found: set[int] = set()
        self.texts = RowTexts()
        self._changes = ChangedItems()

    # ---- Qt --------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else self._row_count

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """The row's text (Display, for assistive technology), its parts (RowTextRole), itself (RowRole), or whether it
        is a hit (FoundRole)."""
        if not index.isValid() or self.trajectory is None or index.row() >= len(self.rows):
            return None
        row = self._line(index.row())
        if role == RowRole:
            return row
        if role == RowTextRole:
            return self._text(row)
        if role == FoundRole:
            return self._is_found(row)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._text(row).spoken
        return None

    def painted(self, row: int) -> tuple[RowText | None, bool]:
        """What a row says, and whether it is a hit; None where there is no such row. `data` says the same by way of Qt,
        which takes as long as painting the row."""
        if self.trajectory is None or not 0 <= row < self._row_count:
            return None, False
        line = self._line(row)
        return self._text(line), self._is_found(line)

    def _line(self, row: int) -> ListRow:
        line = self.rows.at(row)
        return ListRow("item", line.first, line.first) if line.kind == "fold" and line.first == self._turning else line

    def _is_found(self, line: ListRow) -> bool:
        return line.kind == "item" and line.first in self.found

    # ---- content ---------------------------------------------------------------------------------

    def show(self, trajectory: Trajectory | None) -> None:
        """Show another trajectory from scratch."""
        self.beginResetModel()
        self.trajectory = trajectory
        self._expanded, self._live, self.found = set(), "", set()
        self.texts.clear()
        self._rebuild()
        self.endResetModel()

    def set_view(self, *, filter: str | None = None, folds: bool | None = None, facets: Facets | None = None) -> None:
        """Choose which items are listed (one of FILTERS, and some facets) and whether waiting is folded."""
        view = (self._filter if filter is None else filter, self._folds if folds is None else folds,
                self._facets if facets is None else facets)
        if view == (self._filter, self._folds, self._facets):
            return
        self.beginResetModel()
        self._filter, self._folds, self._facets = view
        self._rebuild()
        self.endResetModel()

    def set_reader(self, reader: str) -> None:
        """Whom others' opinions are hidden from until they have decided (an author's key); "": from nobody."""
        if reader != self.reader:
            self.beginResetModel()
            self.reader = reader
            self.texts.clear()
            self._rebuild()
            self.endResetModel()

    @property
    def unfolded(self) -> list[int]:
        """The first items of the folds that the reader opened."""
        return sorted(self._expanded)

    def unfold(self, firsts: Iterable[int]) -> None:
        """Open these folds, as far as they are there."""
        for first in firsts:
            row = self.row_of(first)
            if row >= 0 and self.rows[row].kind == "fold" and self.rows[row].first == first:
                self.toggle(row)

    @property
    def digits(self) -> int:
        """The characters of the longest number."""
        return len(str(self.trajectory.row.steps)) if self.trajectory is not None else 1

    @property
    def is_whole(self) -> bool:
        """Whether every item is listed."""
        return self._filter == "all" and not self._facets.count

    def refresh(self, reading: int | None = None) -> None:
        """Take what the trajectory got since; `reading` is the item that must not be folded away."""
        if self.trajectory is None:
            return
        before, had_live = self._row_count, self.rows.live
        refolded = self._take(reading)
        self._emit_count()
        if refolded >= 0:
            self._emit_changed(range(refolded, self._row_count))
        if had_live or self.rows.live:  # it went, came, or is a line further down now
            self._emit_changed(range(min(before, self._row_count) - 1, self._row_count))
        for item in self._changes.take(self.trajectory):
            row = self.rows.of_item(item)
            self._emit_changed(range(row, row + 1))

    def _emit_changed(self, rows: range) -> None:
        first, last = max(0, rows.start), min(rows.stop, self._row_count) - 1
        if first <= last:
            self.dataChanged.emit(self.index(first), self.index(last))

    def set_live(self, text: str | None) -> None:
        """The last, transient row: what the model is writing now; None takes it away."""
        shown = text or ""
        had, self._live = bool(self._live), shown
        if had != bool(shown):
            self.refresh()
        elif shown and self.rows:
            last = self.index(len(self.rows) - 1)
            self.dataChanged.emit(last, last)

    def toggle(self, row: int) -> int:
        """Open the fold at a row, or fold the run of which it is a part; returns the row of its first line."""
        if not 0 <= row < len(self.rows) or self.rows[row].kind == "live":
            return row
        run = self._run_at(self.rows[row].first)
        if run is None or not (self._folds and self.is_whole):
            return row
        top, more = self.rows.of_item(run.first), run.last - run.first
        opens = self.rows[row].kind == "fold"
        self._turning = run.first
        (self.beginInsertRows if opens else self.beginRemoveRows)(QModelIndex(), top + 1, top + more)
        (self._expanded.add if opens else self._expanded.discard)(run.first)
        self._fold_from(run.first)
        self._row_count += more if opens else -more
        (self.endInsertRows if opens else self.endRemoveRows)()
        self._turning = -1
        self.dataChanged.emit(self.index(top), self.index(top))
        return top

    def reveal(self, item: int) -> int:
        """The row that shows an item, its fold opened; -1 where the filter hides it."""
        row = self.row_of(item)
        if row >= 0 and self.rows[row].kind == "fold":
            first = self.rows[row].first
            return self.toggle(row) + item - first
        return row

    def row_of(self, item: int) -> int:
        """The row that shows an item, be it in a fold; -1 where there is none."""
        return self.rows.of_item(item)

    def item_of_step(self, number: int) -> int:
        """The item of a step number; -1 where there is none."""
        if self.trajectory is None or (index := self.trajectory.index_of(number)) is None:
            return -1
        return self.trajectory.items.of_step(index)

    def step_of_row(self, row: int) -> int | None:
        """The step number of a row that is one step."""
        item = self.item_at(row)
        if item is None or item.kind != "step" or self.trajectory is None:
            return None
        return self.trajectory.steps.numbers[int(item.ref)]

    def is_tall(self, row: int) -> bool:
        """Whether a row may take more than one line: all but steps and folds."""
        line = self.rows[row]
        if self.trajectory is None or line.kind == "fold":
            return False
        return line.kind == "live" or self.trajectory.items.step_at(line.first) < 0

    def steps_of_rows(self, top: int, bottom: int) -> list[int]:
        """The numbers of all steps in some rows, folded ones too."""
        if self.trajectory is None or not 0 <= top <= bottom < len(self.rows):
            return []
        items, numbers = self.trajectory.items, self.trajectory.steps.numbers
        if self.rows.filtered is not None:
            places = [items.step_at(item) for item in self.rows.filtered[top : bottom + 1]]
            return [numbers[at] for at in places if at >= 0]
        first, last = self.rows[top].first, self.rows[bottom].last
        last = self.rows.items - 1 if last < 0 else last
        before = [at - len(items.others_in(0, at - 1)) for at in (first, last + 1)] if first >= 0 else (0, 0)
        return numbers[before[0] : before[1]].tolist()

    def item_at(self, row: int) -> Item | None:
        """The item of a row that shows exactly one."""
        if self.trajectory is None or not 0 <= row < len(self.rows) or self.rows[row].kind != "item":
            return None
        return self.trajectory.items[self.rows[row].first]

    # ---- subagents -------------------------------------------------------------------------------

    def set_called(self, called: dict[int, list[SessionRow]]) -> None:
        """Which subagents the steps (by number) called."""
        if self.texts.set_called(called):
            self._emit_changed(range(self._row_count))

    def called_at(self, row: int) -> list[SessionRow]:
        """The subagents that the step of a row called."""
        number = self.step_of_row(row) if self.texts.called else None
        return self.texts.called.get(number, []) if number is not None else []

    # ---- find ------------------------------------------------------------------------------------

    def mark_found(self, items: Iterable[int], *, more: bool = False) -> None:
        """Show these items as hits; `more`: beside those that are."""
        had = bool(self.found)
        if not more:
            self.found.clear()
        self.found.update(items)
        if self.rows and (had or self.found):
            self.dataChanged.emit(self.index(0), self.index(len(self.rows) - 1))

    def item_of(self, kind: str, ref: int | str) -> int:
        """The item of a step number, or of a summary, guidance or score; -1 where it is not in the list."""
        if kind == "step":
            return self.item_of_step(int(ref))
        return self.trajectory.items.of_other(kind, ref) if self.trajectory is not None else -1

    def errors(self) -> list[int]:
        """The items that are failed steps."""
        if self.trajectory is None:
            return []
        return list(items_of(self.trajectory, steps_with(self.trajectory, ERROR, 0)))

    def run_kind(self, item: int) -> str:
        """What the run round an item is: waiting, loop, or "" where it is in none."""
        run = self._run_at(item)
        return run.kind if run is not None else ""

    # ---- rows ------------------------------------------------------------------------------------

    def _rebuild(self) -> None:
        self.rows, self._runs = ListRows(), []
        self._taken = self._steps_taken = 0
        self._changes = ChangedItems()
        if self.trajectory is not None:
            self.rows.filtered = None if self.is_whole else array("q")
            self._take(None)
            self._changes.take(self.trajectory)
        self._row_count = len(self.rows)

    def _take(self, reading: int | None) -> int:
        """Bring the rows up to the trajectory: only what is new, and the run at the end, is looked at.

        Returns the first line that is folded otherwise than before; −1 where none is."""
        assert self.trajectory is not None
        at = self.rows.of_item(reading) if reading is not None else -1
        open_now = reading if at >= 0 and self.rows[at].kind == "item" else None
        start = self._changed_from()
        first = self.trajectory.items.of_step(start)
        cut = bisect_left(self._runs, first, key=lambda run: run.first)
        old, self._runs[cut:] = self._runs[cut:], ()
        fresh = runs_of(self.trajectory, start)
        self._expanded |= {run.first for run in fresh if open_now is not None and run.first <= open_now <= run.last}
        self._runs += fresh
        self.rows.items = len(self.trajectory.items)
        if self.rows.filtered is not None:
            self.rows.filtered.extend(
                new_items(self.trajectory, self._filter, self._facets, self._taken, self._steps_taken, self.reader))
        elif self._folds:
            self._fold_from(first)
        self.rows.live = bool(self._live) and self.is_whole
        self._taken, self._steps_taken = self.rows.items, len(self.trajectory.steps)
        others = {*old} ^ {*fresh}
        return self.rows.of_item(min(run.first for run in others)) if others else -1

    def _changed_from(self) -> int:
        """The first step that may be part of another run than before, now that there are more."""
        assert self.trajectory is not None
        last = self._runs[-1] if self._runs else None
        if last is not None and last.last == self._taken - 1:
            return self.trajectory.items.step_at(last.first)
        free = self.trajectory.items.step_at(last.last) + 1 if last is not None else 0
        return max(free, self._steps_taken - LOOK_BACK)

    def _fold_from(self, first: int) -> None:
        at = bisect_right(self._runs, first - 1, key=lambda run: run.first)
        self.rows.fold([run for run in self._runs[at:] if run.first not in self._expanded], first)

    def _emit_count(self) -> None:
        before, after = self._row_count, len(self.rows)
        if after > before:
            self.beginInsertRows(QModelIndex(), before, after - 1)
            self._row_count = after
            self.endInsertRows()
        elif after < before:
            self.beginRemoveRows(QModelIndex(), after, before - 1)
            self._row_count = after
            self.endRemoveRows()

    def _run_at(self, item: int) -> StepRun | None:
        at = bisect_right(self._runs, item, key=lambda run: run.first) - 1
        return self._runs[at] if at >= 0 and item <= self._runs[at].last else None

    def _text(self, row: ListRow) -> RowText:
        assert self.trajectory is not None
        kind = self.run_kind(row.first) if row.kind == "fold" else row.kind
        return self.texts.of(self.trajectory, row, kind, self._live, self.reader)
