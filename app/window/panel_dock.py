"""The dock around a panel, which is built when somebody needs it. With less room than it needs the panel scrolls, so no
panel holds the window open."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QFrame, QMainWindow, QScrollArea, QWidget

from app.desk.panel import Panel
from app.desk.workplace import Workplace
from app.kit import theme, tokens
from app.kit.thin_line import Gist, ThinLine

LEAST = QSize(200, 96)
"""The room that a panel gets at least, so that the window fits a Full HD screen at 200 %: 960 × 540."""

GRIP = 6
"""Height of what a dock without a title is dragged by."""

BAR = 44
"""The height of a dock's title or tabs, in pixels; nothing rests on it exactly."""

GROWS_TO = 0.45
"""The share of the window's height up to which a dock grows by itself."""

MOST = 524_287
"""No bound: the most that Qt takes for a dock."""


class PanelDock(QDockWidget):
    """One panel in the window: whole, or as a thin line where it says something `gist`."""

    opening_asked = Signal()
    """The thin line was clicked."""
    gist_changed = Signal()
    room_asked = Signal(int)
    """The height that the panel needs now, with the tabs."""
    thinned = Signal()
    """It became a thin line, or whole again."""
    filled = Signal()
    """The panel is in it now."""

    def __init__(self, panel: Panel, place: Workplace, parent: QWidget, keys: str = "") -> None:
        """`keys`: what opens it, drawn on its thin line."""
        super().__init__(panel.shown_title, parent)
        self.setObjectName(panel.key)
        self._declared, self._place, self._keys = panel, place, keys
        self._room = PanelRoom(self)
        self.setWidget(self._room)
        self.gist: Gist | None = None
        self._is_closed = False
        self.is_thin = self.is_in_front = False
        """Whether it is a thin line now; whether no other tab is before it."""
        self.visibilityChanged.connect(self._on_front)
        if panel.grows:
            self._room.needs_more.connect(self._grow_dock)

    @property
    def panel(self) -> QWidget | None:
        """The panel; None as long as it is not built."""
        return self._room.panel

    @property
    def is_seen(self) -> bool:
        """Whether the panel is, or would be, in sight."""
        return self.isVisible() and self.is_in_front

    @property
    def leads(self) -> bool:
        """Whether the panel is there before a session is opened: it says so, or has a bar along the window."""
        return self._declared.is_leading or self._declared.bar is not None

    @property
    def is_arranged(self) -> bool:
        """Whether somebody closed it or lets it float."""
        return self._is_closed or self.isFloating()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Somebody closes it; a layout only hides it."""
        super().closeEvent(event)
        self._is_closed = True

    def load(self) -> None:
        """Load what the panel is made by: half of what a first panel costs."""
        self._declared.load()

    def fill(self) -> None:
        """Build the panel, unless it is there."""
        if self.panel is not None:
            return
        panel = self._declared.build(self._place, self._room.viewport())  # one that moves there loses its colours
        self._room.hold(panel)
        gist = getattr(panel, "gist", None)
        if isinstance(gist, Gist):
            self.gist = gist
            gist.changed.connect(self.gist_changed)
        self.filled.emit()

    def widget(self) -> QWidget:
        """The panel, not what scrolls it; it is built for who asks."""
        self.fill()
        assert self.panel is not None
        return self.panel

    def lend(self) -> QWidget:
        """Give the panel to another place of the window, until `take_back`."""
        self.fill()
        self._room.setParent(None)
        return self._room

    def take_back(self) -> None:
        """Hold the panel again."""
        self.setWidget(self._room)

    def set_thin(self, on: bool) -> None:
        """Become a thin line, or whole again."""
        if on == self.is_thin or self.gist is None:
            return
        self.is_thin = on
        self.widget().setVisible(not on)
        self._room.setMaximumHeight(0 if on else MOST)
        self.show_title(bare=False)
        self.bound(on)
        self.thinned.emit()

    def stretch(self, *, on: bool = True) -> None:
        """Let a thin line be dragged open; its panel stays hidden until the drag is over."""
        self._room.setMaximumHeight(MOST if on else 0)

    @property
    def need(self) -> int:
        """The height in which all of the panel is seen."""
        return 0 if self.panel is None else self.panel.minimumSizeHint().height()

    @property
    def is_bound(self) -> bool:
        """Whether it can be no higher than a thin line: Qt takes a pixel off what it was given for no bound."""
        return self.maximumHeight() < MOST // 2

    def bound(self, on: bool) -> None:
        """Be no higher than a thin line, or as high as it likes."""
        if self.is_bound != on:
            self.setMaximumHeight(theme.px(tokens.HEIGHTS["thin"]) if on else MOST)

    def show_title(self, *, bare: bool) -> None:
        """The title, none where a tab has it (`bare`), or the thin line."""
        held: QWidget | None = self.titleBarWidget()
        if self.is_thin:
            if isinstance(held, ThinLine):
                return
            line = ThinLine(self.windowTitle(), self.gist, self._keys, self)  # type: ignore[arg-type]
            line.asked.connect(self.opening_asked)
            self.setTitleBarWidget(line)
        elif bare and (held is None or isinstance(held, ThinLine)):
            self.setTitleBarWidget(self._grip())
        elif not bare and held is not None:
            self.setTitleBarWidget(None)  # type: ignore[arg-type]
        else:
            return
        if held is not None:
            held.deleteLater()

    def _grip(self) -> QWidget:
        """In the title's place: nothing in tabs, where the tab is dragged; else a strip by which the dock is moved."""
        grip = QWidget(self)
        tabbed = isinstance(window := self.parentWidget(), QMainWindow) and bool(window.tabifiedDockWidgets(self))
        if not tabbed:
            grip.setFixedHeight(theme.px(GRIP))
            grip.setCursor(Qt.CursorShape.SizeAllCursor)
            grip.setToolTip(self.tr("Drag to move {panel}").format(panel=self.windowTitle()))
        return grip

    def _on_front(self, on: bool) -> None:
        self.is_in_front = on
        if on:
            self.grow()

    def grow(self) -> None:
        """Be as high as the panel needs, as when it began to need that."""
        if self._declared.grows:
            self._grow_dock(self._room.need)

    def _grow_dock(self, height: int) -> None:
        if not self.is_thin and self.is_seen and not self.isFloating() and height > self._room.height():
            self.room_asked.emit(min(height + BAR, round(GROWS_TO * self.window().height())))


class PanelRoom(QScrollArea):
    """As large as the dock; the panel in it is never smaller than it can be."""

    needs_more = Signal(int)
    """The panel needs a height that it did not need before; a person who made it smaller since is not asked again."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.panel: QWidget | None = None
        self.need = 0
        """The height that the panel needs."""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setAutoFillBackground(False)  # the window paints it; what fills itself hides its parent for Qt

    def hold(self, panel: QWidget) -> None:
        """Have a panel."""
        self.panel = panel
        self.setWidget(panel)
        panel.setAutoFillBackground(False)
        panel.installEventFilter(self)
        panel.show()  # Qt does not where the room is seen already
        self.updateGeometry()
        self._fit()
        QApplication.instance().focusChanged.connect(self._on_focus)  # type: ignore[union-attr]

    def sizeHint(self) -> QSize:
        """What the panel wants."""
        return super().sizeHint() if self.panel is None else self.panel.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """What the panel needs, at most LEAST; of a hidden one only the width, of one that is still to come nothing, so
        that docks keep the sizes that they had."""
        if self.panel is None:
            return QSize(0, 0)
        if self.panel.isHidden():
            return QSize(LEAST.width(), 0)
        return self.panel.minimumSizeHint().boundedTo(LEAST)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The panel needs more or less than before."""
        if watched is self.panel and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
            self._fit()
            before, self.need = self.need, self.panel.minimumSizeHint().height()
            if self.need > before:
                self.needs_more.emit(self.need)
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys are the panel's and the window's."""
        event.ignore()

    def _fit(self) -> None:
        if self.panel is None:
            return
        room, need = self.maximumViewportSize(), self.panel.minimumSizeHint()
        if need.height() > room.height():
            room.setWidth(room.width() - self.verticalScrollBar().sizeHint().width())
        if need.width() > room.width():
            room.setHeight(room.height() - self.horizontalScrollBar().sizeHint().height())
        self.panel.resize(room.expandedTo(need))

    def _on_focus(self, before: QWidget | None, now: QWidget | None) -> None:
        """What has the keyboard is in sight."""
        scrolls = self.verticalScrollBar().maximum() or self.horizontalScrollBar().maximum()
        if now is not None and scrolls and self.panel is not None and self.panel.isAncestorOf(now):
            self.ensureWidgetVisible(now, 0, 0)
