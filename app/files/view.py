"""The Files panel: files touched as of the step, the history of one, and the difference of any two versions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QSplitter, QToolButton, QWidget

from app.files.diff import Diff
from app.files.diff_lines import Whitespace
from app.files.diff_view import DiffView
from app.files.life_line import LifeLine
from app.files.model import FilesModel, State, TouchedFile
from app.files.touched import TouchedFiles
from app.files.version_box import VersionBox
from app.kit import quantities, theme, tokens
from app.kit.action_button import IconButton, tip_of
from app.kit.boxes import Margin, column, row
from app.kit.empty import Empty, Faces
from app.kit.flow import FlowLayout
from app.kit.i18n import QT_TRANSLATE_NOOP
from app.kit.safe_text import PlainLabel, menu_text, set_tooltip
from app.kit.thin_line import Gist
from app.kit.tool_button import tool_button

_WIDE = 900
_MAX_STATES = 500
MOST_STEPS = 40
"""Steps that read a file and are named."""

SPACES = (
    ("exact", QT_TRANSLATE_NOOP("FilesView", "All white space counts")),
    ("trailing", QT_TRANSLATE_NOOP("FilesView", "White space at line ends does not count")),
    ("all", QT_TRANSLATE_NOOP("FilesView", "No white space counts")),
)


class FilesView(QWidget):
    """List above (or beside) the difference. Intents: `chosen` file, `compared` states, `step_asked`."""

    chosen = Signal(object)
    compared = Signal(int, int)
    step_asked = Signal(int)
    whitespace_asked = Signal(object)
    """A Whitespace that the reader chose."""

    def __init__(self, model: FilesModel, actions: Mapping[str, QAction], parent: QWidget | None = None) -> None:
        """`actions`: those whose keys begin with "files.", by the rest of the key."""
        super().__init__(parent)
        self.gist = Gist(self)
        self._model = model
        self._states: list[State] = []
        self._actions = actions
        self.files = TouchedFiles(model, self)
        self.list, self.tree = self.files.list, self.files.tree
        self.diff = DiffView(self)
        self._note = PlainLabel("", self, font=theme.small_font(self.font()))
        self.old = VersionBox(self.tr("Older version"), self)
        self.new = VersionBox(self.tr("Newer version"), self)
        self._split = QSplitter(Qt.Orientation.Vertical, self, childrenCollapsible=False)
        self._split.addWidget(self.files)
        self._split.addWidget(self._detail())
        self._split.setStretchFactor(0, 0)
        self._split.setStretchFactor(1, 1)
        self._split.splitterMoved.connect(self._on_moved_by_hand)
        self._by_hand = False
        self._empty = Empty("", self)
        self._faces = Faces(self._split, self._empty, self)
        self.setFocusProxy(self.files)
        self.files.chosen.connect(self.chosen)
        self.old.activated.connect(self._ask_versions)
        self.new.activated.connect(self._ask_versions)
        for key, slot in (("older", partial(self._shift_versions, -1)), ("newer", partial(self._shift_versions, 1)),
                          ("next_place", partial(self.diff.next_change, 1)),
                          ("previous_place", partial(self.diff.next_change, -1)), ("step", self._ask_step)):
            actions[key].triggered.connect(slot)
        self.show_files(0, False, None)

    def _icon(self, key: str, icon: str) -> IconButton:
        return IconButton(self._actions[key], icon, self)

    def _detail(self) -> QWidget:
        versions = QWidget(self)
        row = _row(versions, self._icon("older", "chevron-left"), self.old, PlainLabel("→", self), self.new,
                   self._icon("newer", "chevron-right"), self._icon("step", "corner-down-right"))
        for combo in (self.old, self.new):
            row.setStretchFactor(combo, 1)
        self.life = LifeLine(self)
        self.life.picked.connect(self.step_asked)
        versions.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        ways = QWidget(self)
        _row(ways, self._note, self._icon("previous_place", "chevron-up"), self._icon("next_place", "chevron-down"),
             self._spaces_button(), self._icon("sides", "columns-2"), self._icon("most", "arrow-up-down"),
             self._icon("tree", "folder-tree"), margin=(0, 0, theme.px(tokens.BETWEEN), 0))
        tools = FlowLayout()
        tools.addWidget(versions)
        tools.addWidget(ways)
        box = QWidget(self)
        column(tools, self.life, (self.diff, 1), on=box, spacing=theme.GRID, margin=(0, theme.GRID, 0, 0))
        return box

    def _spaces_button(self) -> QToolButton:
        self.spaces = tool_button(self, "space", self.tr("Which white space counts"), checkable=True)
        self.spaces.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.spaces)
        group = QActionGroup(menu)
        for key, text in SPACES:
            choice = menu.addAction(self.tr(text))
            choice.setCheckable(True)
            choice.setData(key)
            choice.triggered.connect(partial(self._ask_spaces, key))
            group.addAction(choice)
        menu.addSeparator()
        menu.addAction(self._actions["blank_lines"])
        self.spaces.setMenu(menu)
        return self.spaces

    def _ask_spaces(self, key: str, *_: object) -> None:
        self.whitespace_asked.emit(key)

    def show_whitespace(self, space: Whitespace) -> None:
        """Say which white space counts."""
        self.spaces.setChecked(space.spaces != "exact" or space.blank_lines)
        words = [self.tr(dict(SPACES)[space.spaces])]
        if space.blank_lines:
            words.append(self.tr("empty lines are ignored"))
        self.spaces.setToolTip(tip_of(self._actions["spaces"], " · ".join(words)))
        for choice in self.spaces.menu().actions():
            if choice.data():
                choice.setChecked(choice.data() == space.spaces)

    def show_files(self, count: int, several_hosts: bool, step: int | None) -> None:
        """How many files the list holds; without any, say why."""
        self.files.show_hosts(several_hosts)
        self._faces.show_content(bool(count))
        self._fit()
        if step is None:
            self._empty.say(self.tr("No file touched yet"), self.tr(
                "Every file that the agent writes or edits appears here with its versions and their differences."))
        else:
            self._empty.say(self.tr("No file touched as of step {step}").format(step=quantities.number(step)), self.tr(
                "Go to a later step, or press F to follow."))

    def show_states(self, file: TouchedFile, states: list[State], old: int, new: int) -> None:
        """The versions of a file and the two that are compared."""
        set_tooltip(self.diff, f"{file.host}:{file.path}")
        self._states = states
        if not states:
            self._show_no_state(file)
            return
        names = [self._state_name(i, s) for i, s in enumerate(states)]
        first = max(0, len(states) - _MAX_STATES)
        for combo, at in ((self.old, old), (self.new, new)):
            if [combo.itemText(i) for i in range(combo.count())] != names[first:]:
                combo.clear()
                for i, name in enumerate(names[first:], first):
                    combo.put(name, self._version(i, states[i]), i)
            combo.setCurrentIndex(combo.findData(at))
            combo.setToolTip(f"{combo.accessibleName()}: {names[at]}")
        self._actions["step"].setEnabled(states[new].step > 0)

    def _show_no_state(self, file: TouchedFile) -> None:
        """What was only read has no versions."""
        for combo in (self.old, self.new):
            combo.clear()
        self._actions["step"].setEnabled(False)
        steps = ", ".join(map(quantities.number, file.reads[:MOST_STEPS])) + (
            " …" if len(file.reads) > MOST_STEPS else "")
        self.show_message(self.tr("Only read, at step {steps}. What the step saw stands in Step.").format(steps=steps))

    def show_diff(self, diff: Diff, note: str = "") -> None:
        """The difference of the two versions."""
        self.diff.show_diff(diff)
        counts = "" if diff.binary else quantities.lines_changed(diff.added, diff.removed)
        self._note.setText("  ".join(t for t in (note, counts) if t))

    def show_message(self, text: str) -> None:
        """A sentence of ours in the difference's place."""
        self.diff.show_message(text)
        self._note.setText("")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Beside each other where there is room."""
        super().resizeEvent(event)
        wide = event.size().width() > _WIDE
        wanted = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self._split.orientation() != wanted:
            self._split.setOrientation(wanted)
        if event.oldSize().isValid() and wide != (event.oldSize().width() > _WIDE):
            self._by_hand = False
        self._fit()

    def _on_moved_by_hand(self, *_: object) -> None:
        self._by_hand = True

    def _fit(self) -> None:
        """Give the list what its rows need, at most a third, until the reader decides otherwise."""
        if self._by_hand:
            return
        wide = self._split.orientation() == Qt.Orientation.Horizontal
        total = self.width() if wide else self.height()
        rows = max(1, self._model.rowCount()) * (self.fontMetrics().height() + 2 * theme.GRID) + 2 * theme.GRID
        first = total // 3 if wide else min(total // 3, rows)
        self._split.setSizes([first, total - first])

    def _state_name(self, place: int, state: State) -> str:
        step = quantities.number(state.step)
        if state.is_part:
            return menu_text(self.tr("v{version} · step {step}, in part").format(version=place, step=step)
                             if state.step else self.tr("v0 · before, in part"))
        name = self._version(place, state)
        if state.step == 0:
            return name
        if state.outside:
            return self.tr("{name}, changed by other means").format(name=name)
        return name if state.hash or state.too_large else self.tr("{name}, deleted").format(name=name)

    def _version(self, place: int, state: State) -> str:
        if state.step == 0:
            return menu_text(self.tr("v0 · before")) if state.hash or state.is_part else self.tr("v0 · absent")
        return self.tr("v{version} · step {step}").format(version=place, step=quantities.number(state.step))

    def _ask_versions(self) -> None:
        self.compared.emit(int(self.old.currentData() or 0), int(self.new.currentData() or 0))

    def _shift_versions(self, by: int, *_: object) -> None:
        new = int(self.new.currentData() or 0) + by
        if 1 <= new < len(self._states):
            self.compared.emit(new - 1, new)

    def _ask_step(self) -> None:
        self.step_asked.emit(self._states[int(self.new.currentData() or 0)].step)


def _row(box: QWidget, *widgets: QWidget, margin: Margin = 0) -> QHBoxLayout:
    return row(*widgets, on=box, spacing=theme.GRID, margin=margin)
