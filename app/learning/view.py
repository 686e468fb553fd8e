"""The Learning panel: curves above; below the tasks of an update, and the sessions of one task side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QPlainTextEdit, QPushButton, QSplitter, QTableView, QWidget

from app.kit import theme, tokens
from app.kit.action_button import IconButton
from app.kit.boxes import column, named, row
from app.kit.empty import Empty, Faces
from app.kit.entries import EntriesModel, EntryList
from app.kit.flat_model import Index
from app.kit.safe_text import PlainLabel, displayable
from app.learning.group_ink import CELL, MemberHead, StepCells
from app.learning.group_model import GroupModel

if TYPE_CHECKING:
    from app.learning.curves import RunCurves
    from core.workers.reinforcement import RlMetric

BROAD = 620
"""From which width on the lists stand beside the table."""


class GroupTable(QTableView):
    """The sessions of one task; `opened` by Enter or a double click, `reached` where the cursor stands."""

    opened = Signal()
    reached = Signal()

    def __init__(self, model: GroupModel, parent: QWidget) -> None:
        super().__init__(parent, showGrid=False, cornerButtonEnabled=False)
        self.setModel(model)
        self.setItemDelegate(StepCells(self))
        self.setHorizontalHeader(MemberHead(self))
        self.horizontalHeader().setModel(model)
        numbers = self.verticalHeader()
        numbers.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        numbers.setDefaultSectionSize(theme.px(CELL))
        numbers.setHighlightSections(False)
        numbers.setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setTabKeyNavigation(False)
        self.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setAccessibleName(self.tr("The sessions of one task side by side"))
        self.doubleClicked.connect(self.opened)

    def currentChanged(self, current: Index, previous: Index) -> None:
        """Another cell."""
        super().currentChanged(current, previous)
        self.reached.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens the session at the step."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.opened.emit()
        else:
            super().keyPressEvent(event)


class LearningView(QWidget):
    """Everything of the panel; `open_asked` wants the session of the table's cell, `picked` an update."""

    open_asked = Signal()
    picked = Signal(int)

    def __init__(self, models: tuple[GroupModel, EntriesModel, EntriesModel], actions: dict[str, QAction],
                 parent: QWidget | None = None) -> None:
        """`models` are those of the group, the tasks, and what is worth a look; `actions` by name: open, previous,
        next, newest."""
        super().__init__(parent)
        group, tasks, notable = models
        self.name, self.about = PlainLabel("", self), PlainLabel("", self, elide=True, faint=True)
        self.name.setFont(theme.bold_font(self.font()))
        self.update_name = PlainLabel("", self)
        self.curves: RunCurves | None = None
        """Made with the first run: what draws them is the half of what the window would load."""

        self.notable = EntryList(notable, self.tr("What is worth a look"), self)
        self.tasks = EntryList(tasks, self.tr("Tasks of the update"), self)
        self.table = GroupTable(group, self)
        self.task = PlainLabel("", self, elide=True, font=theme.bold_font(self.font()))
        self.words = named(QPlainTextEdit(self, readOnly=True), self.tr("What the policy wrote"))
        self.words.setFont(theme.mono_font())
        self.words.setFixedHeight(theme.px(64))
        self.words.document().setDocumentMargin(theme.px(tokens.SIDE))
        self.facts = PlainLabel("", self, elide=True, faint=True)
        self.open = QPushButton(self.tr("Open session"), self)
        self.open.setToolTip(self.tr("Open this session at this step (Enter)"))
        self.open.clicked.connect(self.open_asked)
        self.table.opened.connect(self.open_asked)
        self.empty = Empty(self.tr("Curves and sessions of a run of “tiphys rl” appear here, also while it runs. Open "
                                   "its folder, or drop it onto the window."), self, action=actions["open"])
        self._faces = Faces(self._content(actions), self.empty, self)

    def _content(self, actions: dict[str, QAction]) -> QWidget:
        content = QWidget(self)
        turns = [IconButton(actions[key], icon, content) for key, icon in (
            ("previous", "chevron-left"), ("next", "chevron-right"), ("newest", "skip-forward"))]
        head = row(self.name, (self.about, 1), self.update_name, *turns, spacing=theme.px(tokens.BETWEEN),
                   margin=(theme.px(tokens.SIDE), theme.px(4), theme.px(4), theme.px(4)))
        self.sides = QSplitter(Qt.Orientation.Horizontal, content, childrenCollapsible=False)
        self.sides.addWidget(self._lists())
        self.sides.addWidget(self._group())
        self.sides.setStretchFactor(1, 1)
        self.sides.setSizes([theme.px(228), theme.px(520)])
        self._column = column(head, (self.sides, 5), on=content, spacing=0, margin=0)
        return content

    def _lists(self) -> QWidget:
        made = QWidget(self)
        column(self._caption(self.tr("Worth a look")), (self.notable, 2), self._caption(self.tr("Tasks")),
               (self.tasks, 3), on=made, spacing=0, margin=0)
        return made

    def _group(self) -> QWidget:
        made = QWidget(self)
        head = row((self.task, 1), on=None,
                   margin=(theme.px(tokens.SIDE), theme.px(6), theme.px(tokens.SIDE), theme.px(6)))
        foot = row((self.facts, 1), self.open, spacing=theme.px(tokens.BETWEEN),
                   margin=(theme.px(tokens.SIDE), theme.px(4), theme.px(tokens.SIDE), theme.px(6)))
        column(head, (self.table, 1), self.words, foot, on=made, spacing=0, margin=0)
        return made

    def _caption(self, words: str) -> PlainLabel:
        label = PlainLabel(words, self, faint=True, font=theme.font_of("caption", self.font()))
        label.setContentsMargins(theme.px(tokens.SIDE), theme.px(8), theme.px(tokens.SIDE), theme.px(2))
        return label

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow panel the lists stand above the table."""
        super().resizeEvent(event)
        broad = event.size().width() >= theme.px(BROAD)
        self.sides.setOrientation(Qt.Orientation.Horizontal if broad else Qt.Orientation.Vertical)

    def show_content(self, on: bool) -> None:
        """Show a run, or how to open one."""
        if on and self.curves is None:
            from app.learning.curves import RunCurves

            self.curves = RunCurves(self)
            self.curves.picked.connect(self.picked)
            self._column.insertWidget(1, self.curves, 2)
        self._faces.show_content(on)

    def show_curves(self, metrics: Sequence[RlMetric], update: int) -> None:
        """Draw these, with a line at an update, where a run is shown."""
        if self.curves is not None:
            self.curves.show_run(metrics, update)

    def show_run(self, name: str, about: str) -> None:
        """Name the run, and say what it is and how far it has come."""
        self.name.setText(name)
        self.about.setText(about)

    def show_step(self, words: str, facts: str) -> None:
        """What the policy wrote at the table's cell, and the figures of it."""
        self.words.setPlainText(displayable(words))
        self.facts.setText(facts)
        self.open.setEnabled(bool(facts))
