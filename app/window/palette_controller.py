"""Wires the command palette, and what goes from panel to panel without the mouse."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QDockWidget, QWidget

from app.desk.actions import MENUS
from app.desk.workplace import Workplace
from app.kit.i18n import translate
from app.kit.safe_text import plain_action
from app.window.panels import PANELS
from app.window.window import Window

if TYPE_CHECKING:
    from app.window.palette_dialog import Palette


class PaletteCommand(msgspec.Struct, frozen=True):
    """A command: where it stands, its words (also in English), and the action itself."""

    place: str
    action: QAction
    english: str = ""

    @property
    def text(self) -> str:
        """As it is shown: place › words."""
        return f"{self.place} › {plain_action(self.action.text()).rstrip('…')}"

    @property
    def key(self) -> str:
        """Its keys, as this platform writes them."""
        return "  ".join(k.toString(QKeySequence.SequenceFormat.NativeText) for k in self.action.shortcuts())


class PaletteController(QObject):
    """Every action of the table, and every panel."""

    def __init__(self, place: Workplace, window: Window) -> None:
        super().__init__(window)
        self._place, self._window = place, window
        self._panels = {key: self._panel_action(key) for key in window.docks}
        self._open: Palette | None = None
        place.actions["view.palette"].triggered.connect(self._show_palette)
        place.actions["view.next_panel"].triggered.connect(partial(self._step_panel, 1))
        place.actions["view.previous_panel"].triggered.connect(partial(self._step_panel, -1))

    def commands(self) -> list[PaletteCommand]:
        """All that can be asked for."""
        actions, menus = self._place.actions, dict(MENUS)
        commands = [PaletteCommand(plain_action(translate("Actions", menus.get(entry.menu, ""))),
                        actions[entry.key], entry.text) for entry in actions.table]
        english = {panel.key: panel.title for panel in PANELS}
        return commands + [PaletteCommand(self.tr("Panel"), action, english.get(key, ""))
                           for key, action in self._panels.items()]

    def _show_palette(self) -> None:
        from app.window.palette_dialog import Palette  # not before the first paint

        palette = Palette(self.commands(), self._window)
        palette.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        palette.chosen.connect(self._run_action)
        palette.open()
        palette.box.setFocus()

    def _run_action(self, action: QAction) -> None:
        """When the palette is gone: what the command opens must find the focus in the window."""
        QTimer.singleShot(0, action, action.trigger)

    def _panel_action(self, key: str) -> QAction:
        action = QAction(self._window.docks[key].windowTitle(), self)
        action.triggered.connect(partial(self._go_to_panel, key))
        return action

    def _go_to_panel(self, key: str, *_: object) -> None:
        self._window.show_panel(key)
        focus_into(self._window.docks[key])

    def _step_panel(self, by: int, *_: object) -> None:
        """To the next panel that is in sight, round the end."""
        shown = [key for key, dock in self._window.docks.items()
                 if dock.isVisible() and not dock.visibleRegion().isEmpty()]
        if not shown:
            return
        here = QApplication.focusWidget()
        at = next((i for i, key in enumerate(shown)
                   if here is not None and self._window.docks[key].isAncestorOf(here)), -1 if by > 0 else 0)
        order = [shown[(at + by * i) % len(shown)] for i in range(1, len(shown) + 1)]
        next((key for key in order if focus_into(self._window.docks[key])), None)


def focus_into(dock: QDockWidget) -> bool:
    """Give a panel the keyboard: to what it prefers, else to its first widget that takes keys; False without any."""
    panel: QWidget | None = dock.widget()
    if panel is None:
        return False
    proxy: QWidget | None = panel.focusProxy()
    if proxy is not None and proxy.isVisible():
        panel.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return True
    takers = [w for w in panel.findChildren(QWidget)
              if w.isVisible() and w.isEnabled() and w.focusPolicy() & Qt.FocusPolicy.TabFocus]
    lists = [w for w in takers if w.inherits("QAbstractScrollArea")]
    for widget in (lists or takers)[:1]:
        widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
    return bool(takers)
