"""The queue's table: head, filter with its facets, columns and rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QButtonGroup, QLineEdit, QListView, QMenu, QToolButton, QWidget

from app.kit import icons, quantities, theme, tokens
from app.kit.box_over_list import key_in, went_down
from app.kit.boxes import column, row, words_box
from app.kit.choice_menu import offer_choices
from app.kit.empty import Empty, Faces
from app.kit.nothing_found import NothingFound
from app.kit.safe_text import set_tooltip
from app.queue.delegate import QueueRowDelegate
from app.queue.head import ColumnNames, QueueHead
from app.queue.row import QueueModel

FACETS = ("all", "mine", "undecided")


class QueueTable(QWidget):
    """Intents: a filter was typed, a facet or an order chosen, a session chosen (seen in brief) or entered."""

    query_changed = Signal(str)
    facet_chosen = Signal(str)
    order_chosen = Signal(str)
    session_chosen = Signal(str)
    entered = Signal(str)
    came_up = Signal()
    """It can be seen from now on."""

    def __init__(self, model: QueueModel, acts: Sequence[QAction], take: QAction, parent: QWidget | None = None
                 ) -> None:
        super().__init__(parent)
        self._model = model
        self._quiet = False
        self.menu = QMenu(self)
        self.menu.addActions(list(acts))
        self.head = QueueHead(self.menu, self)
        self.words = self._make_filter()
        self.facets = {facet: self._chip(facet) for facet in FACETS}
        self.order = self._make_order()
        self.list = self._make_list(model)
        self.empty = Empty("", self, action=take)
        self.nothing = NothingFound("", self._show_all, self)
        hits = QWidget(self)
        self._hits = Faces(self.list, self.nothing, hits)
        self._faces = Faces(hits, self.empty)
        self.setFocusProxy(self.list)
        self._lay_out()
        self.show_facets(dict.fromkeys(FACETS, 0))

    def _lay_out(self) -> None:
        group = QButtonGroup(self)
        for chip in self.facets.values():
            group.addButton(chip)
        strip = row(self.words, *self.facets.values(), 1, self.order, spacing=theme.px(6),
                    margin=(theme.px(tokens.SIDE), theme.px(5), theme.px(tokens.SIDE), theme.px(5)))
        column(self.head, strip, ColumnNames(self.list, self), (self._faces, 1), on=self, spacing=0, margin=0)

    def _make_filter(self) -> QLineEdit:
        made = words_box(self, self.tr("Filter: words, judged<50%, is:undecided"), self.tr("Filter the queue"),
                         clears=True)
        made.addAction(icons.icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        made.setFixedWidth(theme.px(300))
        made.installEventFilter(self)
        made.textChanged.connect(self.query_changed)
        return made

    def _chip(self, facet: str) -> QToolButton:
        made = QToolButton(self)
        made.setCheckable(True)
        made.setChecked(facet == "all")
        made.setObjectName("chip")
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        made.clicked.connect(partial(self.facet_chosen.emit, facet))
        return made

    def _make_order(self) -> QToolButton:
        made = QToolButton(self, toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon, autoRaise=True)
        made.setIcon(icons.icon("arrow-up-down"))
        icons.beside_words(made)
        made.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        made.setMenu(QMenu(made))
        return made

    def _make_list(self, model: QueueModel) -> QListView:
        made = QListView(self, uniformItemSizes=True)
        made.setModel(model)
        made.setItemDelegate(QueueRowDelegate(made))
        made.setMouseTracking(True)
        made.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        made.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        made.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        made.setAccessibleName(self.tr("Sessions of the queue"))
        made.selectionModel().currentChanged.connect(self._on_current)
        made.doubleClicked.connect(self._on_entered)
        made.customContextMenuRequested.connect(self._on_menu)
        made.installEventFilter(self)
        return made

    # ---- what is shown ---------------------------------------------------------------------------

    def show_facets(self, counts: dict[str, int]) -> None:
        """How many sessions each facet has."""
        words = {"all": self.tr("All {n}"), "mine": self.tr("Mine {n}"), "undecided": self.tr("Undecided {n}")}
        for facet, chip in self.facets.items():
            chip.setText(words[facet].format(n=quantities.number(counts[facet])))

    def offer_orders(self, orders: Sequence[tuple[str, str]], chosen: str) -> None:
        """Offer orders (key, words); the button says the chosen one."""
        if words := offer_choices(self.order.menu(), orders, chosen, self.order_chosen.emit):
            self.order.setText(words)
            set_tooltip(self.order, self.tr("Order of the sessions"))

    def show_content(self, hint: str, *, has_queue: bool = True, is_filtered: bool = False) -> None:
        """The rows; or, with a hint, why there are none and what to do. Without a queue there is no next session; what
        is filtered away shows again by a button."""
        self.empty.set_hint(hint, helps=has_queue)
        self.nothing.set_hint(hint)
        self._hits.show_content(not (hint and is_filtered))
        self._faces.show_content(not hint or is_filtered)

    def show_current(self, session: str) -> None:
        """Mark the session that is shown in brief; the first one where it is not listed."""
        at = self._model.row_of(session)
        if at < 0 and self._model.rows:
            at = 0
        self._quiet = True
        is_marked = self.list.currentIndex().row() == at and self.list.selectionModel().hasSelection()
        if at >= 0 and not is_marked:  # who only gave the list the keys has made a row current, and marked none
            self.list.setCurrentIndex(self._model.index(at))
        self._quiet = False
        if at >= 0 and self._model.rows[at] != session:
            self.session_chosen.emit(self._model.rows[at])

    @property
    def selected(self) -> list[str]:
        """The selected sessions, in the order of the list."""
        rows = sorted(index.row() for index in self.list.selectedIndexes())
        return [self._model.rows[at] for at in rows if at < len(self._model.rows)]

    @property
    def sessions(self) -> list[str]:
        """All that are listed."""
        return self._model.rows

    # ---- what is done ----------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        """The layout of the queue begins with its rows."""
        super().showEvent(event)
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)
        self.came_up.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Down goes from the filter into the list, Escape lists everything; Enter goes on into a session."""
        key = key_in(self.words, watched, event)
        if key == Qt.Key.Key_Escape and (self.words.text() or self.nothing.isVisible()):
            self._show_all()
            return True
        if key == Qt.Key.Key_Escape and self.list.isVisible():  # with nothing listed the window knows another list
            self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return True
        if key is not None:
            return went_down(key, self.list)
        pressed = event.key() if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress else None
        if watched is self.list and pressed in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._on_entered(self.list.currentIndex())
            return True
        return super().eventFilter(watched, event)

    def _show_all(self) -> None:
        self.words.clear()
        self.facets["all"].click()

    def _on_current(self, current: QModelIndex, _: QModelIndex) -> None:
        if current.isValid() and not self._quiet:
            self.session_chosen.emit(self._model.rows[current.row()])

    def _on_entered(self, index: QModelIndex) -> None:
        if index.isValid():
            self.entered.emit(self._model.rows[index.row()])

    def _on_menu(self, point: object) -> None:
        self.menu.popup(self.list.viewport().mapToGlobal(point))  # type: ignore[call-overload]
