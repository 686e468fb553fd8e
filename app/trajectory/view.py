"""The Trajectory panel: find and filter above the step list, minimap beside it, "N new" at its foot."""

from __future__ import annotations

from functools import partial

import msgspec
from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QProgressBar, QPushButton, QWidget

from app.desk.frame import ListPlace
from app.kit import icons, theme
from app.kit.boxes import column, named, row, words_box
from app.kit.empty import Empty, Faces
from app.kit.i18n import plural
from app.kit.safe_text import PlainLabel, menu_text, set_tooltip
from app.kit.tool_button import tool_button
from app.trajectory.agent_strip import AgentStrip
from app.trajectory.bars import NewsBar, NothingListed, RemarksBar
from app.trajectory.facet_chips import FacetChips
from app.trajectory.filter_bar import FilterBar
from app.trajectory.filters import ALL
from app.trajectory.minimap import Minimap
from app.trajectory.model import TrajectoryModel
from app.trajectory.nested import NestedModel
from app.trajectory.pinned import PinnedRows
from app.trajectory.step_list import StepList


class TrajectoryView(QWidget):
    """Shows a TrajectoryModel; every choice of the reader is an intent."""

    find_changed = Signal(str, bool)
    """What to find, and whether it is a regular expression."""
    find_next = Signal(bool)
    """Go to the next hit; True: to the one before."""
    find_left = Signal()
    filter_chosen = Signal(str)
    filters_asked = Signal(bool)
    follow_asked = Signal()
    opening_asked = Signal(object)
    """These subagents are to be open below their callers: names of sessions, callers first."""

    def __init__(self, model: TrajectoryModel | NestedModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.list = named(StepList(self), self.tr("Steps of the trajectory"))
        self.list.setModel(model)
        self.pinned = PinnedRows(self.list.delegate, self)
        self.pinned.hide()
        self.minimap = Minimap(self)
        self.find_box = words_box(self, self.tr("Find, or 9.46"), self.tr(
            "Find in the trajectory, or go to a step by its number"), clears=True)
        self.find_box.addAction(icons.icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        self.find_box.setMinimumWidth(theme.px(126))
        self.find_box.installEventFilter(self)
        self.hits = PlainLabel("", self, elide=False, faint=True)
        self.regex = tool_button(self, "regex", self.tr("Regular expression"), checkable=True)
        self.filters_button = tool_button(
            self, "list-filter", self.tr("More filters: family, tool, host, end, verdicts, time"), checkable=True)
        self.filters = FilterBar(self)
        self.filters.hide()
        self.strip = AgentStrip(self)
        self.progress = named(QProgressBar(self, textVisible=False), self.tr("Reading the session"))
        self.progress.setMaximumHeight(theme.GRID)
        self.progress.hide()
        self.digest = NewsBar(self.tr("Show the first"), self)
        self.remarks = RemarksBar(self)
        self.before = tool_button(self, "chevron-up", self.tr("Previous hit (Shift+F3)"))
        self.after = tool_button(self, "chevron-down", self.tr("Next hit (F3)"))
        self.facets = FacetChips(self)
        self.nothing = NothingListed(self)
        self._problem = ""
        self.chip = QPushButton(self)
        self.chip.hide()
        self.empty = Empty(self.tr("The steps of a session appear here. Choose one under Sessions."), self)
        self.faces = self._lay_out()
        self._show_finding()
        self._connect()

    def _lay_out(self) -> Faces:
        top = row(self.facets, (self.find_box, 1), self.regex, self.hits, self.before, self.after, self.filters_button,
                  spacing=theme.GRID, margin=theme.GRID)
        rows = column(self.pinned, self.nothing, (self.list, 1), spacing=0)
        rows.addWidget(self.chip, 0, Qt.AlignmentFlag.AlignHCenter)  # below the rows: it never covers one
        content = QWidget(self)
        column(self.strip, top, self.filters, self.digest, self.remarks, self.progress,
               (row((rows, 1), self.minimap, spacing=0), 1), on=content, spacing=0, margin=0)
        faces = Faces(content, self.empty)
        column(faces, on=self, margin=0)
        self.setTabOrder(self.list, self.find_box)
        return faces

    def _connect(self) -> None:
        self.find_box.textChanged.connect(self._on_words)
        self.regex.toggled.connect(self._on_words)
        self.filters_button.toggled.connect(self._on_filters)
        self.before.clicked.connect(partial(self.find_next.emit, True))
        self.after.clicked.connect(partial(self.find_next.emit, False))
        self.facets.chosen.connect(self.filter_chosen)
        self.nothing.all_asked.connect(self.show_all)
        self.chip.clicked.connect(self.follow_asked)

    # ---- what the controller says ----------------------------------------------------------------

    def show_new(self, steps: int) -> None:
        """So many steps came at the end since it was followed last; 0 while it is."""
        self.chip.setVisible(steps > 0)
        self.chip.setText("↓ " + self.tr("%Ln new", None, plural(steps)))

    def show_row_count(self, count: int, total: int) -> None:
        """How many rows the list has, of a session with so many steps: an empty list says why."""
        if not count:
            self.nothing.say(self.facets.filter, more=bool(self.filters.facets.count))
        self.nothing.setVisible(not count and total > 0)

    def show_all(self) -> None:
        """Take all filters off."""
        self.filters.reset()
        self.facets.show_filter(ALL)
        self.filter_chosen.emit(ALL)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The task has its second line where there is room for it."""
        super().resizeEvent(event)
        self.pinned.fit(self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc leads out of a list that filters have emptied."""
        if event.key() == Qt.Key.Key_Escape and self.nothing.isVisible():
            self.show_all()
            self.list.setFocus()
        else:
            super().keyPressEvent(event)

    def show_progress(self, share: float) -> None:
        """Say how much of the session is read: 0 to 1; at 1 there is nothing to say."""
        self.progress.setVisible(share < 1)
        self.progress.setUpdatesEnabled(False)  # else `setValue` paints at once all that is due of the window
        self.progress.setValue(round(100 * share))
        self.progress.setUpdatesEnabled(True)

    def show_hits(self, at: int, count: int | None, *, searching: bool = False) -> None:
        """Say which hit of how many is shown; at -1 none is current, and without a count nothing is looked for.
        `searching`: more may come."""
        more = " …" if searching else ""
        if self._problem or count is None or not self.find_box.text().strip():
            self.hits.setText("✗ " + self._problem if self._problem else "")
        elif not count:
            self.hits.setText("…" if searching else self.tr("none"))
        else:
            place = self.tr("{at} of {count}").format(at=at + 1 if at >= 0 else "–", count=count)
            self.hits.setText(place + more)

    def show_problem(self, why: str) -> None:
        """Say why nothing can be found; "" when it can."""
        self._problem = why
        if why:
            self.show_hits(-1, 0)
        set_tooltip(self.hits, why)

    def offer(self, actions: list[QAction]) -> None:
        """The acts of the list's own menu."""
        self.list.addActions(actions)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def start_find(self) -> None:
        """Put the cursor into the find box."""
        self.find_box.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.find_box.selectAll()

    def shown_filters(self) -> dict[str, str]:
        """Filters and words looked for, as names and values for a link: only what differs from the whole list."""
        shown = {name: str(box.currentData() or "") for name, box in self.filters.boxes.items()}
        shown["show"] = self.facets.filter if self.facets.filter != ALL else ""
        shown["find"] = self.find_box.text().strip()
        shown["regex"] = "1" if shown["find"] and self.regex.isChecked() else ""
        return {name: value for name, value in shown.items() if value}

    def show_filters(self, view: dict[str, str]) -> None:
        """Show exactly this; names that are not known are passed over."""
        facets = {name: view.get(name, "") for name in self.filters.boxes}
        self.filters_button.setChecked(self.filters_button.isChecked() or any(facets.values()))
        for name, value in facets.items():
            box = self.filters.boxes[name]
            if value and box.findData(value) < 0:  # nothing here has it: the list says so by being empty
                box.addItem(menu_text(value), value)
            box.setCurrentIndex(max(0, box.findData(value or "")))
        self.filters.chosen.emit(self.filters.facets)
        before = self.facets.filter
        self.facets.show_filter(view.get("show", ALL))
        if self.facets.filter != before:
            self.filter_chosen.emit(self.facets.filter)
        self.regex.setChecked(view.get("regex") == "1")
        self.find_box.setText(view.get("find", ""))

    def shown_place(self) -> ListPlace:
        """What the list shows now; see `Filtered`."""
        model, row = self.list.model(), self.list.rows_in_sight().start
        if not isinstance(model, NestedModel) or not model.rowCount():
            return ListPlace()
        return msgspec.structs.replace(model.place_of(row), offset=self.list.rowViewportPosition(row))

    def show_place(self, place: ListPlace) -> None:
        """Open what was open, and bring the row that was the first in sight to where it stood."""
        model = self.list.model()
        if isinstance(model, NestedModel):
            self.opening_asked.emit(place.opened)
            row = model.take_place(place)
            if row >= 0 and not self.list.is_following:
                self.list.scroll_to(row, place.offset)

    # ---- own behaviour ---------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter finds the next hit, Shift+Enter the one before, Escape goes back to the list."""
        if watched is self.find_box and event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            QTimer.singleShot(0, self, self._show_finding)
        if watched is self.find_box and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.find_next.emit(bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.find_box.clear()
                self.list.setFocus()
                self.find_left.emit()
                return True
        return super().eventFilter(watched, event)

    def _show_finding(self) -> None:
        """What is for finding is there while somebody finds."""
        on = self.find_box.hasFocus() or bool(self.find_box.text()) or self.regex.hasFocus()
        for widget in (self.regex, self.hits, self.before, self.after):
            widget.setVisible(on)

    def _on_words(self) -> None:
        self._show_finding()
        self.find_changed.emit(self.find_box.text(), self.regex.isChecked())

    def _on_filters(self, on: bool) -> None:
        self.filters.setVisible(on)
        self.filters_asked.emit(on)
        if on:
            self.filters.boxes["family"].setFocus(Qt.FocusReason.ShortcutFocusReason)
