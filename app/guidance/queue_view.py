"""The messages of a session with their fate, what is looked for among them, and what the agent did after one."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from app.guidance.effect import EffectModel
from app.guidance.model import GuidanceLine, GuidanceModel, GuidanceRole
from app.guidance.row import GuidanceRowDelegate
from app.kit import theme, tokens
from app.kit.box_over_list import key_in, went_down
from app.kit.boxes import column, named, row, words_box
from app.kit.empty import Faces
from app.kit.i18n import plural
from app.kit.nothing_found import NothingFound
from app.kit.plain_table import PlainTable
from app.kit.safe_text import PlainLabel


class QueueView(QWidget):
    """Search box, list, and in the list's place the steps before and after a message."""

    words_changed = Signal(str)
    step_asked = Signal(int)
    session_asked = Signal(str, object)
    """Another session (its key), and a step of it or None."""
    current_changed = Signal()
    withdraw_asked = Signal()
    again_asked = Signal()
    """The current message's text is wanted in the box again."""
    all_shown = Signal(bool)
    """Whether what was said before is looked through now."""

    def __init__(self, model: GuidanceModel, effect: EffectModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.words = words_box(self, self.tr("Find in guidance"), self.tr("Find in guidance"), clears=True)
        self.everywhere = QToolButton(self, autoRaise=True)
        self.everywhere.setText(self.tr("All sessions"))
        self.everywhere.setCheckable(True)
        self.everywhere.setToolTip(self.tr("Look through what was said to every session on this computer (Ctrl+Alt+H)"))
        self.list = named(_List(self), self.tr("Guidance and its fate"))
        self.list.setModel(model)
        self.list.setItemDelegate(GuidanceRowDelegate(self.list))
        self.effect = named(_Effect(self), self.tr("Steps before and after the message"))
        self.effect.setModel(effect)
        self.pages = QStackedWidget(self)
        self.pages.addWidget(self.list)
        self.pages.addWidget(self.effect)
        self._nothing = self.tr("What you tell the agent appears here with its fate: on this computer, on the "
                                "server, delivered at a step, answered.")
        self.nothing = NothingFound(self._nothing, self._show_all, self)
        self._search = QWidget(self)
        row((self.words, 1), self.everywhere, on=self._search, spacing=theme.GRID, margin=0)
        self._body = QWidget(self)  # hidden as a whole: a stack asks for room for pages that nobody sees
        self._faces = Faces(self.pages, self.nothing, self._body)
        self.title = PlainLabel("", self, font=theme.font_of("caption"), faint=True)
        self.earlier = QPushButton("", self, flat=True)
        self.earlier.setObjectName("link")
        self.earlier.setCheckable(True)
        self.earlier.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.earlier.toggled.connect(self._on_rows)
        self.head = row(self.title, 1, self.earlier, spacing=theme.GRID, margin=0)
        column(self.head, self._search, (self._body, 1), on=self, spacing=theme.GRID, margin=0)
        self._at_end = True
        self._connect()
        self._on_rows()

    def _connect(self) -> None:
        self.words.textChanged.connect(self.words_changed)
        self.words.installEventFilter(self)
        self.list.selectionModel().currentChanged.connect(self.current_changed)
        self.list.activated.connect(self._on_activated)
        self.list.withdraw_asked.connect(self.withdraw_asked)
        self.list.again_asked.connect(self.again_asked)
        self.effect.activated.connect(self._on_effect)
        for signal in (self._model.rowsInserted, self._model.rowsRemoved, self._model.dataChanged):
            signal.connect(self._on_rows)
        bar = self.list.verticalScrollBar()
        bar.valueChanged.connect(self._on_scrolled)
        bar.rangeChanged.connect(self._on_range)

    @property
    def line_count(self) -> int:
        """How many messages there are, also of those that do not match what is looked for."""
        return len(self._model.all)

    @property
    def line(self) -> GuidanceLine | None:
        """The message that is chosen."""
        line = self.list.currentIndex().data(GuidanceRole)
        return line if isinstance(line, GuidanceLine) else None

    @property
    def to_change(self) -> GuidanceLine | None:
        """The message that is chosen, else the newest that waits, if it can still be changed."""
        line = self.line or next((one for one in reversed(self._model.rows) if one.changeable), None)
        return line if line is not None and line.changeable else None

    def start_find(self) -> None:
        """Put the cursor into the search box."""
        self.earlier.setChecked(True)
        self._search.show()
        self.words.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.words.selectAll()

    def end_find(self) -> None:
        """List only what is under way again."""
        self.words.clear()
        self.everywhere.setChecked(False)
        self.earlier.setChecked(False)
        self._on_rows()

    def _show_all(self) -> None:
        self.earlier.setChecked(True)
        self.words.clear()

    def show_effect(self, on: bool) -> None:
        """Show the steps before and after the chosen message in the list's place."""
        self.pages.setCurrentIndex(int(on))
        self.earlier.setChecked(on or self.earlier.isChecked())
        self._on_rows()
        if on:
            self.effect.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Down or Enter goes from the search box into the list, Escape ends the search."""
        key = key_in(self.words, watched, event)
        if key == Qt.Key.Key_Escape:
            self.list.setFocus(Qt.FocusReason.TabFocusReason)
            self.end_find()
            return True
        return went_down(key, self.list) or super().eventFilter(watched, event)

    @property
    def shows_all(self) -> bool:
        """Whether also what the list of steps tells by now is listed, not only what is under way."""
        return (self.earlier.isChecked() or self.everywhere.isChecked() or bool(self.words.text())
                or self.pages.currentIndex() == 1)

    def _on_rows(self, *_: object) -> None:
        """Only what is under way is in sight until somebody wants to see or look through the rest."""
        rows, total, lines = self._model.rowCount(), len(self._model.all), self._model.rows
        for at, line in enumerate(lines):
            self.list.setRowHidden(at, line.is_over and not self.shows_all)
        refused = sum(line.meaning == "error" and not line.is_over for line in lines)
        waits, shows = (n := sum(not line.is_over for line in lines)) - refused, n > 0
        self.title.setText(" · ".join(filter(None, (
            self.tr("Under way: %Ln", None, plural(waits)) if waits else self.tr("Nothing is under way"),
            self.tr("not taken: %Ln", None, plural(refused)) if refused else ""))))
        over = sum(line.is_over for line in self._model.all)
        self.earlier.setText(self.tr("%Ln earlier", None, plural(over)))
        self.earlier.setVisible(bool(over))
        self._search.setVisible(self.shows_all)
        self._faces.show_content(rows > 0)
        shown = shows or self.shows_all
        self._body.setVisible(shown)
        self.all_shown.emit(self.shows_all)
        policy = QSizePolicy.Policy
        self.setSizePolicy(policy.Preferred, policy.Expanding if shown else policy.Maximum)
        self.setVisible(bool(total) or self.shows_all)  # until something was said the room is the box's
        is_filtered = bool(total and not rows)
        self.nothing.set_hint(self.tr("No message holds these words.") if is_filtered else self._nothing,
                              helps=is_filtered)
        self.current_changed.emit()

    def _on_scrolled(self, value: int) -> None:
        self._at_end = value >= self.list.verticalScrollBar().maximum()

    def _on_range(self, *_: int) -> None:
        """Show the newest message, also in a list that changed its size, unless the reader scrolled up or chose one."""
        if self._at_end and not self.list.selectionModel().hasSelection():
            self.list.scrollToBottom()

    def _on_activated(self) -> None:
        line = self.line
        if line is not None and line.session:
            self.session_asked.emit(line.session, line.step)
        elif line is not None and line.step is not None:
            self.step_asked.emit(line.step)

    def _on_effect(self, index: QModelIndex) -> None:
        model = index.model()
        head = model.head(index.row(), index.column()) if isinstance(model, EffectModel) else None
        if head is not None:
            self.step_asked.emit(head.number)


class _List(QListView):
    """Delete withdraws, Insert takes the text into the box again."""

    withdraw_asked = Signal()
    again_asked = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setMinimumHeight(theme.px(2 * tokens.HEIGHTS["step"]))
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The two keys of the list."""
        if event.key() == Qt.Key.Key_Delete:
            self.withdraw_asked.emit()
        elif event.key() == Qt.Key.Key_Insert:
            self.again_asked.emit()
        else:
            super().keyPressEvent(event)


class _Effect(PlainTable):
    """Two columns of steps; Enter goes to one."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.horizontalHeader().setHighlightSections(False)
