"""The Terminals panel: a tab per host and terminal, live or as of the selected step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QTabBar, QWidget

from app.desk.gist_words import say_none
from app.kit import quantities, theme
from app.kit.boxes import column, row
from app.kit.empty import Empty, Faces
from app.kit.i18n import plural
from app.kit.safe_text import PlainLabel, menu_text, plain_tooltip
from app.kit.thin_line import Gist
from app.terminals.screen import TerminalScreen

FEW_TABS = 3
"""So many tabs are changed while they are in sight."""


class TerminalsView(QWidget):
    """Tabs above one screen. `chosen` carries the terminal's key, "host/terminal"."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.gist = Gist(self)
        self._keys: tuple[str, ...] = ()
        self.tabs = QTabBar(self, expanding=False, usesScrollButtons=True, drawBase=False, documentMode=True)
        self.tabs.setAccessibleName(self.tr("Terminals"))
        self._state = PlainLabel("", self, font=theme.small_font(self.font()))
        self.terminal = TerminalScreen(self)
        self._empty = Empty("", self)
        top = row((self.tabs, 1), self._state, spacing=2 * theme.GRID, margin=(0, 0, 2 * theme.GRID, 0))
        full = QWidget(self)
        column(top, (self.terminal, 1), on=full, spacing=0, margin=0)
        self._faces = Faces(full, self._empty, self)
        self.tabs.currentChanged.connect(self._choose_tab)
        for keys, slot in (("Ctrl+PgDown", self._next), ("Ctrl+PgUp", self._previous)):
            QShortcut(QKeySequence(keys), self, slot, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.setFocusProxy(self.terminal)
        self.show_empty(None)

    def show_empty(self, step: int | None, commands: int = 0) -> None:
        """No terminal: say why. `commands` is how many the agent ran up to there, though the log keeps no terminal."""
        if commands:
            title = self.tr("This log keeps no terminal")
            hint = self.tr("%Ln command(s) ran; each stands under Step with what it printed.", None, plural(commands))
        elif step is None:
            title = self.tr("No terminal yet")
            hint = self.tr("Each shell that the agent opens gets a tab here and streams while the agent types. "
                           "Select a session that runs commands.")
        else:
            title = self.tr("No terminal as of step {step}").format(step=quantities.number(step))
            hint = self.tr("The agent had opened no shell by then. Go to a later step, or press F to follow.")
        self._empty.say(title, hint)
        self._faces.show_content(False)

    def say_gist(self, first: Sequence[int] | None, step: int | None, commands: int) -> None:
        """What the thin line says."""
        if commands:
            self.gist.say(self.tr("This log keeps no terminal · %Ln command(s) ran, each stands under Step", None,
                                   plural(commands)))
        else:
            say_none(self.gist, self.tr("No terminal up to step {step}"), self.tr("No terminal was opened"), first,
                     step)

    def show_tabs(self, keys: Sequence[str], written: set[str], current: str) -> None:
        """The terminals there are; a dot marks those that the step wrote to."""
        titles = [menu_text(key.replace("/", ":", 1)) + (" •" if key in written else "") for key in keys]
        are_others = tuple(keys) != self._keys
        changed = [i for i, title in enumerate(titles) if are_others or self.tabs.tabText(i) != title]
        self._keys = tuple(keys)
        self.tabs.blockSignals(True)
        with self._laid_out_once(len(changed)):
            while are_others and self.tabs.count():
                self.tabs.removeTab(self.tabs.count() - 1)
            for i in changed:
                self._show_tab(i, titles[i], keys[i])
        self.tabs.setCurrentIndex(self._keys.index(current) if current in self._keys else 0)
        self.tabs.blockSignals(False)
        self._faces.show_content(True)
        self.gist.say(", ".join(titles[:FEW_TABS]), is_nothing=False)

    @contextmanager
    def _laid_out_once(self, changes: int) -> Iterator[None]:
        """A tab bar in sight lays out all its tabs at each change of one; out of sight once, when it comes back."""
        has_focus = self.tabs.hasFocus()
        if changes > FEW_TABS:
            self.tabs.hide()
        yield
        self.tabs.show()
        if has_focus:
            self.tabs.setFocus()

    def _show_tab(self, index: int, title: str, key: str) -> None:
        if index < self.tabs.count():
            self.tabs.setTabText(index, title)
        else:
            self.tabs.addTab(title)
        tip = self.tr("{name}: written to in this step") if title.endswith("•") else "{name}"
        self.tabs.setTabToolTip(index, plain_tooltip(tip.format(name=key.replace("/", ":", 1))))

    def show_state(self, step: int | None, *, away: str = "", over: bool = False, busy: bool = False,
                   waiting: bool = False) -> None:
        """Say whether this is live, or as of which step; `away` is since when its server is. `over`: no more comes."""
        if waiting:
            text = self.tr("loading …")
        elif busy:
            text = self.tr("catching up …")
        elif step is None and over:
            text = self.tr("as it was at the end")
        elif step is None and away:
            text = self.tr("as of {time}: not connected").format(time=away)
        elif step is None:
            text = self.tr("● live")
        else:
            text = self.tr("as of step {step}").format(step=quantities.number(step))
        self._state.set_meaning("muted" if step is not None or over else "attention" if away else "live")
        self._state.setText(text)

    def _next(self) -> None:
        self.tabs.setCurrentIndex((self.tabs.currentIndex() + 1) % max(1, self.tabs.count()))

    def _previous(self) -> None:
        self.tabs.setCurrentIndex((self.tabs.currentIndex() - 1) % max(1, self.tabs.count()))

    def _choose_tab(self, index: int) -> None:
        if 0 <= index < len(self._keys):
            self.chosen.emit(self._keys[index])
