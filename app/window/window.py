"""The main window: frames the panels as docks that move, hide, float and come back; nothing else."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QCoreApplication, QMimeData, QSettings, QSize, Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabWidget, QWidget

from app.desk.actions import MENUS
from app.desk.notices import Notice
from app.desk.panel import Panel
from app.desk.workplace import Workplace
from app.kit import icons
from app.kit.safe_text import one_line
from app.kit.timers import single_shot
from app.window.layouts import arrange
from app.window.panel_dock import PanelDock
from app.window.panels import PANELS
from app.window.status_bar import StatusBar
from app.window.toasts import Toasts
from core.domain.deep_link import is_link

STATE_VERSION = 2


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
        self._titles = single_shot(self, 0, self._show_titles)
        self.docks: dict[str, QDockWidget] = {p.key: self._dock(p) for p in panels}
        self._fill_menus(panels)
        self.toasts = Toasts(self)
        self._connect()
        self._restore()

    def _dock(self, panel: Panel) -> QDockWidget:
        dock = PanelDock(panel.key, panel.shown_title, self)
        dock.hold(panel.build(self._place, dock))
        dock.visibilityChanged.connect(self._soon)
        dock.dockLocationChanged.connect(self._soon)
        dock.topLevelChanged.connect(self._soon)
        return dock

    def _fill_menus(self, panels: tuple[Panel, ...]) -> None:
        for key, title in MENUS:
            menu = self.menuBar().addMenu(QCoreApplication.translate("Actions", title))
            menu.addActions(self._place.actions.of_menu(key))
            if key == "view":
                menu.addSeparator()
                menu.addActions([self.docks[p.key].toggleViewAction() for p in panels])
        self.addActions([self._place.actions[e.key] for e in self._place.actions.table])

    def _connect(self) -> None:
        actions, place = self._place.actions, self._place
        actions["view.live"].triggered.connect(self.lay_out_live)
        actions["view.review"].triggered.connect(self.lay_out_review)
        actions["view.compare"].triggered.connect(self.lay_out_compare)
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

    def lay_out_live(self) -> None:
        """The layout for watching and guiding."""
        arrange(self, self._panels, self.docks, "live")

    def lay_out_review(self) -> None:
        """The layout for judging steps."""
        arrange(self, self._panels, self.docks, "review")

    def lay_out_compare(self) -> None:
        """The layout for two sessions side by side."""
        arrange(self, self._panels, self.docks, "compare")

    def show_panel(self, key: str) -> None:
        """Bring a panel to the front, also one that was closed."""
        self.docks[key].show()
        self.docks[key].raise_()

    def _show_find(self) -> None:
        self.show_panel("find")

    def _open_notice(self, notice: Notice) -> None:
        if notice.about is None:
            self._place.cursor.move(notice.session)

    def _soon(self) -> None:
        self._titles.start()

    def _show_titles(self) -> None:
        """A dock behind a tab needs no title: the tab has it, and can be dragged."""
        for dock in self.docks.values():
            bare = bool(self.tabifiedDockWidgets(dock)) and not dock.isFloating()
            held: QWidget | None = dock.titleBarWidget()
            if bare and held is None:
                dock.setTitleBarWidget(QWidget(dock))
            elif not bare and held is not None:
                dock.setTitleBarWidget(None)  # type: ignore[arg-type]
                held.deleteLater()

    def _restore(self) -> None:
        geometry, state = self._state.value("geometry"), self._state.value("state")
        if not (isinstance(geometry, QByteArray) and self.restoreGeometry(geometry)):
            room = self.screen().availableGeometry().size()
            self.resize(QSize(1600, 1000).boundedTo(room))
        self.lay_out_live()
        restored = isinstance(state, QByteArray) and self.restoreState(state, STATE_VERSION)
        self._fresh = not restored

    def save_state(self) -> None:
        """Remember where everything stands."""
        self._state.setValue("geometry", self.saveGeometry())
        self._state.setValue("state", self.saveState(STATE_VERSION))
        self._state.sync()

    def showEvent(self, event: QShowEvent) -> None:
        """Qt gives docks their sizes only in a window that is shown."""
        super().showEvent(event)
        if self._fresh:
            self._fresh = False
            QTimer.singleShot(0, self, self.lay_out_live)

    # ---- events ----------------------------------------------------------------------------------

    def _show_title(self, *_: object) -> None:
        row = self._place.sight.row
        self.setWindowTitle(f"{one_line(row.title or row.session, 80)} – Tiphys" if row is not None else "Tiphys")

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files, folders and links may be dropped."""
        if self._dropped_link(event.mimeData()) or self._dropped_files(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open what is dropped."""
        link, files = self._dropped_link(event.mimeData()), self._dropped_files(event.mimeData())
        if link:
            self.link_dropped.emit(link)
        elif files:
            self.files_dropped.emit(files)
        else:
            return
        event.acceptProposedAction()

    def _dropped_files(self, data: QMimeData) -> list[str]:
        return [url.toLocalFile() for url in data.urls() if url.isLocalFile()]

    def _dropped_link(self, data: QMimeData) -> str:
        text = data.text().strip() if data.hasText() else ""
        return text if is_link(text) else ""

    def closeEvent(self, event: QCloseEvent) -> None:
        """The window does not close itself: it asks, and is closed when everything is in order."""
        event.ignore()
        self.quit_asked.emit()
