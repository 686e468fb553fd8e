"""The main window: frames the panels as docks that move, hide, float and come back; nothing else."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings, Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QMainWindow, QTabWidget, QWidget

from app.desk.notices import Notice
from app.desk.panel import Panel
from app.desk.workplace import Workplace
from app.kit import icons
from app.kit.safe_text import one_line
from app.kit.scrolled import on_screen
from app.kit.timers import single_shot
from app.window.bars import add_bar, add_panel_bar
from app.window.drops import accept, link_in, list_folder
from app.window.filling import Filling
from app.window.focus import LostFocus
from app.window.layout_memory import STATE_VERSION, LayoutMemory
from app.window.layouts import arrange, folded_at_first, with_lists
from app.window.left_side import LeftSide
from app.window.menus import fill_menus
from app.window.panel_dock import PanelDock
from app.window.panels import PANELS
from app.window.session_head import SessionHead
from app.window.status_bar import StatusBar
from app.window.thin_lines import ThinLines
from app.window.toasts import Toasts


class Window(QMainWindow):
    """Docks, menus, status bar and notices of one workplace."""

    quit_asked = Signal()
    files_dropped = Signal(list)
    link_dropped = Signal(str)

    def __init__(self, place: Workplace, state_file: Path, panels: tuple[Panel, ...] = PANELS) -> None:
        super().__init__()
        self._place, self._panels = place, panels
        self._state = QSettings(str(state_file), QSettings.Format.IniFormat)
        self.setObjectName("window")
        self.setWindowTitle("Tiphys")
        self.setWindowIcon(icons.icon("ship-wheel", "person"))
        self.setDockNestingEnabled(True)
        self.setAcceptDrops(True)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.setDocumentMode(True)
        self.status = StatusBar(self)
        self.setStatusBar(self.status)
        self.setDockOptions(self.dockOptions() | QMainWindow.DockOption.GroupedDragging)
        self.layouts = LayoutMemory(place, self._state, self)
        self.head = SessionHead(place, self)
        self._top = add_bar(self, "head", self.head, Qt.ToolBarArea.TopToolBarArea)
        self._titles = single_shot(self, 0, self._show_titles)
        self.docks: dict[str, PanelDock] = {p.key: self._dock(p) for p in panels}
        self.thin = ThinLines(self, self.docks, place.actions["view.files"])
        self.left = LeftSide(self, place, panels, self.docks)
        self._bars = [add_panel_bar(self, p, self.docks[p.key]) for p in panels if p.bar is not None]
        self.filling = Filling(self.docks, self)
        self.focus = LostFocus(place, [*self._bars, self._top], self._by_place, self)
        fill_menus(self, place.actions, [self.docks[p.key].toggleViewAction() for p in panels])
        self.toasts = Toasts(self)
        self._connect()
        self._restore()

    def _dock(self, panel: Panel) -> PanelDock:
        dock = PanelDock(panel, self._place, self, "F4" if panel.key == "files" else "")
        for changed in (dock.visibilityChanged, dock.thinned, dock.dockLocationChanged, dock.topLevelChanged):
            changed.connect(self._titles.start)
        return dock

    def _connect(self) -> None:
        actions, place = self._place.actions, self._place
        self.layouts.left.connect(self.save_state)
        self.layouts.asked.connect(self._arrange_panels)
        actions["file.quit"].triggered.connect(self.close)
        place.notices.posted.connect(self.toasts.show_notice)
        self.toasts.opened.connect(self._open_notice)
        self.toasts.opened.connect(place.notices.opened)
        self.filling.done.connect(self._lay_out_fresh)
        place.sight.opened.connect(self.filling.lead)
        place.sight.opened.connect(self._show_title)
        place.desks.rows_changed.connect(self._show_title)

    @property
    def widget(self) -> QWidget:
        """The window, as a feature's parent."""
        return self

    @property
    def servers_asked(self) -> SignalInstance:
        """The reader clicked on the connection."""
        return self.status.servers_asked

    # ---- layouts ---------------------------------------------------------------------------------

    def lay_out(self, name: str) -> None:
        """Show a layout of `LAYOUTS` with everything where it is at first."""
        self.layouts.reset(name)

    def _arrange_panels(self, name: str, state: QByteArray | None) -> None:
        walked = self.focus.walked_list(self.docks["sessions"]) if self.layouts.is_by_session else None
        if state is None or not self.restoreState(state, STATE_VERSION):
            if self.isVisible():
                self.filling.fill()  # what each needs is a part of the sizes
            arrange(self, self._panels, self.docks, name)
            self.thin.put_back(folded_at_first(name, self.size()))
        else:
            self.thin.put_back(self.layouts.by_hand(name))
        self.left.show_layout(name, was_rail=state is not None and self.layouts.was_narrow(name))
        for bar in self._bars:
            bar.setVisible(name != "queue")
        self._show_title()
        self.focus.lead_on(walked, lambda: self.show_panel("sessions"))

    def show_panel(self, key: str) -> None:
        """Bring a panel to the front, also one that was closed."""
        dock = self.docks[key]
        if self.left.takes(key):
            return
        dock.show()
        dock.raise_()
        self.thin.open(key)

    def _by_place(self) -> list[QWidget]:
        panels = (self.docks[key].panel for key in with_lists(self._panels, self.layouts.current))
        return [panel for panel in panels if panel is not None]

    def _open_notice(self, notice: Notice) -> None:
        if notice.about is None:
            self._place.queues.enter(notice.session)

    def _show_titles(self) -> None:
        """A dock behind a tab needs no title: the tab has it, and can be dragged. Nor does a panel with a head."""
        headed = {self.docks[p.key] for p in self._panels if p.is_headed}
        for dock in self.docks.values():
            dock.show_title(bare=(dock in headed or bool(self.tabifiedDockWidgets(dock))) and not dock.isFloating())

    def _restore(self) -> None:
        geometry = self._state.value("geometry")
        if not (isinstance(geometry, QByteArray) and self.restoreGeometry(geometry)):
            self.resize(on_screen(self.screen(), 1600, 1000))
        state = self.layouts.of(self.layouts.current)
        self._fresh = state is None
        if not self._fresh:  # Qt puts back only docks that stand somewhere
            arrange(self, self._panels, self.docks, self.layouts.current)
        self._arrange_panels(self.layouts.current, state)

    def save_state(self, *_: object) -> None:
        """Remember where everything stands."""
        self._state.setValue("geometry", self.saveGeometry())
        self.layouts.remember(self.saveState(STATE_VERSION), self.thin.by_hand, narrow=self.left.is_narrow)
        self._state.sync()

    def showEvent(self, event: QShowEvent) -> None:
        """The list has the keys."""
        super().showEvent(event)
        self._place.cursor.focus_list()
        self.filling.watch()
        QTimer.singleShot(0, self, self._lay_out_fresh)

    def _lay_out_fresh(self) -> None:
        """Qt gives docks sizes only in a window that is shown. At once: the key that built them is for what stands."""
        if self._fresh and self.isVisible() and self.filling.is_done:
            self._fresh = False
            if not any(dock.is_arranged for dock in self.docks.values()):
                self.lay_out(self.layouts.current)

    def _show_title(self, *_: object) -> None:
        row = self._place.sight.row
        self._top.setVisible(row is not None and self.layouts.current != "queue")
        self.setWindowTitle(f"{one_line(row.title or row.session, 80)} – Tiphys" if row is not None else "Tiphys")

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files, folders and links may be dropped."""
        accept(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Open what is dropped."""
        if accept(event) and (link := link_in(event.mimeData())):
            self.link_dropped.emit(link)
        elif files := list_folder(event.mimeData()):
            self.files_dropped.emit(files)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc, where nobody had another use for it, leads back to the list; what was typed stays."""
        if event.key() == Qt.Key.Key_Escape:
            self.focus.lead_back()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """The window does not close itself: it asks, and is closed when everything is in order."""
        event.ignore()
        self.quit_asked.emit()
