"""The Sessions panel: every session of every server, filtered and in order; opens one at its live tail."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QItemSelection, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QListView, QMenu, QToolButton, QWidget

from app.desk.saved_filters import not_understood
from app.kit import quantities, theme
from app.kit.box_over_list import key_in, went_down
from app.kit.boxes import row, words_box
from app.kit.choice_menu import offer_choices
from app.kit.empty import Empty, Faces, faces
from app.kit.nothing_found import NothingFound
from app.kit.safe_text import PlainLabel, set_tooltip
from app.kit.timers import single_shot
from app.kit.tool_button import tool_button
from app.sessions.filter_chips import FilterChips
from app.sessions.model import SessionsModel
from app.sessions.row import SessionRowDelegate


class SessionsView(QWidget):
    """A list of sessions with a filter, and the acts on one as buttons and menu."""

    opened = Signal(str)
    entered = Signal()
    """Enter on a session: its reader goes on in it."""

    query_changed = Signal(str)
    order_chosen = Signal(str)

    def __init__(self, model: SessionsModel, new: QAction, acts: list[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._quiet = False
        self._soon = single_shot(self, 0, self._scroll)
        self.list = self._make_list(model)
        self.words = self._make_filter()
        self.chips = FilterChips(self)
        self.count = PlainLabel("", self, elide=True, faint=True)
        self.count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.order = self._make_order()
        self.menu = QMenu(self)
        self.menu.addActions(acts)
        self.menu.insertSeparator(acts[-2])  # archive and delete
        self.empty = Empty(self.tr("Sessions appear here, live ones and imported ones. Start one on a task, "
                                   "or import saved trajectories."), self, action=new)
        self.nothing = NothingFound("", self.words.clear, self)
        self._hits = Faces(self.list, self.nothing)
        self.faces = self._lay_out([new, *acts[:4]])
        self.list.selectionModel().selectionChanged.connect(self._on_selected)
        self.list.activated.connect(self._on_activated)
        self.list.customContextMenuRequested.connect(self._on_menu)
        self.words.textChanged.connect(self.query_changed)
        self.chips.chosen.connect(self.words.setText)

    def _make_list(self, model: SessionsModel) -> QListView:
        made = QListView(self, uniformItemSizes=True)
        made.setModel(model)
        made.setItemDelegate(SessionRowDelegate(made))
        made.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        made.setAccessibleName(self.tr("Sessions"))
        made.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        made.viewport().installEventFilter(self)
        return made

    def _make_filter(self) -> QLineEdit:
        made = words_box(self, self.tr("Filter: words, is:new …"), self.tr("Filter sessions"), clears=True)
        set_tooltip(made, self.tr(
            "Words of title, task, model or server; state: server: model: task: format: attention:\n"
            "is:new is:attention is:live is:imported is:guided; steps> errors> score> score:failed cost> tokens>\n"
            "is:undecided is:done judged<50% judged>20; queue:NAME assigned:me assigned:nobody\n-… : not so"))
        made.installEventFilter(self)
        return made

    def _make_order(self) -> QToolButton:
        made = tool_button(self, "arrow-up-down", self.tr("Order of the sessions"))
        made.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        made.setMenu(QMenu(made))
        return made

    def _lay_out(self, buttons: Sequence[QAction]) -> Faces:
        acts = [QToolButton(self) for _ in buttons]
        for button, action in zip(acts, buttons, strict=True):
            button.setDefaultAction(action)
            button.setAutoRaise(True)
        top = row(*acts, (self.count, 1), self.order, spacing=theme.GRID)
        return faces(self, self.empty, top, self.words, self.chips, (self._hits, 1))

    def offer_orders(self, orders: Sequence[tuple[str, str]], chosen: str) -> None:
        """Offer orders (key, words) and mark the chosen one."""
        if words := offer_choices(self.order.menu(), orders, chosen, self.order_chosen.emit):
            set_tooltip(self.order, self.tr("Order of the sessions: {order}").format(order=words))

    def show_count(self, shown: int, total: int) -> None:
        """Say how many sessions are listed, where a filter hides some."""
        words = self.tr("{shown} of {total}").format(shown=quantities.number(shown), total=quantities.number(total))
        self.count.setText(words if shown != total else "")
        self._hits.show_content(shown > 0)
        self.nothing.set_hint(not_understood(self._model.query) or self.tr("No session passes the filter."))

    @property
    def is_read(self) -> bool:
        """Whether somebody reads the list just now: its order then stays."""
        return self.list.hasFocus() or self.list.underMouse()

    def start_filter(self) -> None:
        """Put the cursor into the filter box."""
        self.words.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.words.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Down or Enter goes from the filter into the list, Escape lists everything."""
        key = key_in(self.words, watched, event)
        if key == Qt.Key.Key_Escape and self.words.text():
            self.words.clear()
            return True
        if watched is self.list.viewport() and isinstance(event, QResizeEvent):
            self._hold_in_sight(event.oldSize().height())
        return went_down(key, self.list) or super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape shows all, as the button says, wherever in the panel the keys are."""
        if event.key() == Qt.Key.Key_Escape and self.nothing.isVisible():
            self.words.clear()
        else:
            super().keyPressEvent(event)

    def _hold_in_sight(self, before: int) -> None:
        """Another height: the row that was in sight at the height before is so again, whole."""
        current = self.list.currentIndex()
        if current.isValid() and 0 <= self.list.visualRect(current).top() < before:
            self._soon.start()  # the list knows its new height only after this

    def _scroll(self) -> None:
        self.list.scrollTo(self.list.currentIndex())

    def show_current(self, session: str) -> None:
        """Mark the session that is looked at."""
        row = self._model.row_of(session)
        self._quiet = True
        if row >= 0:
            self.list.setCurrentIndex(self._model.index(row))
        else:
            self.list.selectionModel().clear()
        self._quiet = False

    def _on_selected(self, selected: QItemSelection) -> None:
        """A reader's choice; what Qt makes current when the list gets the focus is not selected."""
        rows = [index.row() for index in selected.indexes()]
        if rows and not self._quiet:
            self.opened.emit(self._model.rows[rows[0]].session)

    def _on_activated(self, index: QModelIndex) -> None:
        self.opened.emit(self._model.rows[index.row()].session)
        self.entered.emit()

    def _on_menu(self, point: object) -> None:
        self.menu.popup(self.list.viewport().mapToGlobal(point))  # type: ignore[call-overload]
