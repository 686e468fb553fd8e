"""The main window: frames the panels as docks that move, hide, float and come back; nothing else."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings, QSize, Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QMainWindow, QTabWidget, QWidget

from app.desk.notices import Notice
from app.desk.panel import Panel
from app.desk.workplace import Workplace
from app.kit import icons
from app.kit.safe_text import one_line
from app.kit.timers import single_shot
from app.window.bars import add_bar
from app.window.drops import link_in, list_folder
from app.window.focus import LostFocus
from app.window.layout_memory import STATE_VERSION, LayoutMemory
from app.window.layouts import HIDDEN, arrange, folded_at_first, is_narrow
from app.window.menus import fill_menus
from app.window.panel_dock import PanelDock
from app.window.panels import PANELS
from app.window.rail import Drawer, Rail
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
        self._rail = add_bar(self, "rail", QWidget(self), Qt.ToolBarArea.LeftToolBarArea)
        self._is_narrow = False
        self._titles = single_shot(self, 0, self._show_titles)
        self.docks: dict[str, PanelDock] = {p.key: self._dock(p) for p in panels}
        self.thin = ThinLines(self, self.docks)
        self.drawer = Drawer(self, self.docks, self._on_drawer_closed)
        self._bars = [add_bar(self, f"{p.key}_bar", p.bar(self.docks[p.key].widget()),
                              Qt.ToolBarArea.BottomToolBarArea) for p in panels if p.bar is not None]
        self._focus = LostFocus(place, self._bars, self.docks["sessions"].widget(), self)
        fill_menus(self, place.actions, [self.docks[p.key].toggleViewAction() for p in panels])
        self.toasts = Toasts(self)
        self._connect()
        self._restore()

    def _dock(self, panel: Panel) -> PanelDock:
        dock = PanelDock(panel.key, panel.shown_title, self, "F4" if panel.key == "files" else "")
        dock.hold(panel.build(self._place, dock))
        dock.visibilityChanged.connect(self._titles.start)
        dock.dockLocationChanged.connect(self._titles.start)
        dock.topLevelChanged.connect(self._titles.start)
        return dock

    def _connect(self) -> None:
        actions, place = self._place.actions, self._place
        self.layouts.left.connect(self.save_state)
        self.layouts.asked.connect(self._arrange)
        actions["view.side"].triggered.connect(self._show_side)
        actions["go.sessions"].triggered.connect(self._show_sessions)
        actions["view.files"].triggered.connect(partial(self.thin.toggle, "files"))
        actions["file.quit"].triggered.connect(self.close)
        actions["go.find_all"].triggered.connect(self._show_find)
        place.notices.posted.connect(self.toasts.show_notice)
        self.toasts.opened.connect(self._open_notice)
        self.toasts.opened.connect(place.notices.opened)
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

    def _arrange(self, name: str, state: QByteArray | None) -> None:
        if state is None or not self.restoreState(state, STATE_VERSION):
            arrange(self, self._panels, self.docks, name)
            self.thin.put_back(folded_at_first(name, self.size()))
        else:
            self.thin.put_back(self.layouts.by_hand(name))
        self._show_rail()
        for bar in self._bars:
            bar.setVisible(name != "queue")
        self._show_title()
        self._place.cursor.focus_list()
        self._focus.find_soon()

    def _left(self) -> list[PanelDock]:
        """The docks that stand at the left in this layout."""
        where = sorted((p.docks[self.layouts.current], p.key) for p in self._panels)
        return [self.docks[key] for (place, rank), key in where if place == "left" and rank < HIDDEN]

    def _show_rail(self) -> None:
        """In a narrow window icons stand for the left side."""
        self.drawer.put_back()
        self._is_narrow = is_narrow(self.size())
        rail = Rail(self._left(), [(self._place.actions["view.queue"], "list-todo"),
                                   (self._place.actions["go.find"], "search")], self._open_drawer, self)
        if held := self._rail.widgetForAction(next(iter(self._rail.actions()), QAction())):
            held.deleteLater()
        self._rail.clear()
        self._rail.addWidget(rail)
        self.rail = rail
        self._rail.setVisible(self._is_narrow and bool(self._left()))

    def _open_drawer(self, key: str) -> None:
        if self.drawer.key == key:
            self.drawer.put_back()
            self._on_drawer_closed()
            return
        self.drawer.open(key, self._rail.width())
        self.rail.mark(key)

    def _on_drawer_closed(self) -> None:
        self.rail.mark("")
        self._place.cursor.focus_list()

    def _show_side(self) -> None:
        """Show or hide what stands at the left."""
        left = self._left()
        if self._is_narrow and left:
            self._open_drawer(self.drawer.key or left[0].objectName())
            return
        shown = any(dock.isVisible() for dock in left)
        for dock in left:
            dock.setVisible(not shown)

    def show_panel(self, key: str) -> None:
        """Bring a panel to the front, also one that was closed."""
        dock = self.docks[key]
        if self._is_narrow and not dock.isVisible() and dock in self._left():
            if self.drawer.key != key:
                self._open_drawer(key)
            return
        dock.show()
        dock.raise_()
        self.thin.open(key)

    def _show_sessions(self) -> None:
        """Where the list of sessions waits it is shown first; then its filter takes the keys."""
        if not self.docks["sessions"].widget().isVisible():
            self.show_panel("sessions")
            self._place.actions["go.sessions"].trigger()

    def _show_find(self) -> None:
        self.show_panel("find")

    def _open_notice(self, notice: Notice) -> None:
        if notice.about is None:
            self._place.cursor.move(notice.session)

    def _show_titles(self) -> None:
        """A dock behind a tab needs no title: the tab has it, and can be dragged. Nor does a panel with a head."""
        headed = {self.docks[p.key] for p in self._panels if p.is_headed}
        for dock in self.docks.values():
            dock.show_title(bare=(dock in headed or bool(self.tabifiedDockWidgets(dock))) and not dock.isFloating())

    def _restore(self) -> None:
        geometry = self._state.value("geometry")
        if not (isinstance(geometry, QByteArray) and self.restoreGeometry(geometry)):
            room = self.screen().availableGeometry().size()
            self.resize(QSize(1600, 1000).boundedTo(room))
        arrange(self, self._panels, self.docks, self.layouts.current)
        state = self.layouts.of(self.layouts.current)
        self._fresh = state is None
        self._arrange(self.layouts.current, state)

    def save_state(self, *_: object) -> None:
        """Remember where everything stands."""
        self._state.setValue("geometry", self.saveGeometry())
        self.layouts.remember(self.saveState(STATE_VERSION), self.thin.by_hand)
        self._state.sync()

    def showEvent(self, event: QShowEvent) -> None:
        """Qt gives docks their sizes only in a window that is shown."""
        super().showEvent(event)
        self._place.cursor.focus_list()
        if self._fresh:
            self._fresh = False
            QTimer.singleShot(0, self, lambda: self.lay_out(self.layouts.current))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where the window becomes narrow the left side becomes a rail, and comes back where it becomes wide."""
        super().resizeEvent(event)
        if self.isVisible() and is_narrow(event.size()) != self._is_narrow:
            self._show_rail()
            for dock in self._left():
                dock.setVisible(not self._is_narrow)

    # ---- events ----------------------------------------------------------------------------------

    def _show_title(self, *_: object) -> None:
        row = self._place.sight.row
        self._top.setVisible(row is not None and self.layouts.current != "queue")
        self.setWindowTitle(f"{one_line(row.title or row.session, 80)} – Tiphys" if row is not None else "Tiphys")

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files, folders and links may be dropped."""
        if link_in(event.mimeData()) or list_folder(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open what is dropped."""
        link, files = link_in(event.mimeData()), list_folder(event.mimeData())
        if link:
            self.link_dropped.emit(link)
        elif files:
            self.files_dropped.emit(files)
        else:
            return
        event.acceptProposedAction()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc, where nobody had another use for it, leads back to the list; what was typed stays."""
        if event.key() == Qt.Key.Key_Escape:
            self._place.cursor.focus_list()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """The window does not close itself: it asks, and is closed when everything is in order."""
        event.ignore()
        self.quit_asked.emit()
