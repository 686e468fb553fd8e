"""The Charts panel: score, tokens, cost, time, idle time and verdicts over steps or time, of several sessions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QFontMetrics, QImage, QPainter, QPaintEvent, QPen
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QComboBox, QMenu, QPushButton, QScrollArea, QSizePolicy, QWidget

from app.kit import quantities, theme
from app.kit.boxes import named, row
from app.kit.empty import Empty, Faces, faces
from app.kit.i18n import plural
from app.kit.quantities import reading
from app.kit.safe_text import PlainLabel, menu_text, one_line
from app.kit.thin_line import Gist
from app.kit.timers import single_shot

if TYPE_CHECKING:
    from app.charts.canvas import ChartCanvas
    from app.charts.series import Curves

SCALE = 2
"""Pictures have so many pixels for one of the screen."""


class ChartsView(QWidget):
    """Shows Curves; a click goes to a step, a drag marks a range of steps, Left and Right move."""

    picked = Signal(str, int)
    brushed = Signal(int, int)
    moved = Signal(int)
    others_asked = Signal()
    """The menu of other sessions is about to be shown: offer_others."""
    other_toggled = Signal(str, bool)
    save_asked = Signal(str)
    """png, svg or csv."""
    came_up = Signal()
    """The panel is looked at now; before, nothing needs to be drawn."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._waits = True
        self._coming_up = single_shot(self, 0, self.came_up.emit)
        self.gist = Gist(self)
        self.say_steps(0)
        self.names = {"score": self.tr("Score"), "context": self.tr("Context (tokens)"), "cost": self.tr("Cost"),
                      "duration": self.tr("Duration of the step"), "idle": self.tr("Idle before and in the step"),
                      "verdicts": self.tr("Verdicts")}
        self.verdicts = {1: self.tr("kept"), 0: self.tr("unsure"), -1: self.tr("masked")}
        self.legend = ChartLegend(self)
        self.over = named(QComboBox(self), self.tr("What the curves run over"))
        self.over.addItem(self.tr("over steps"), "steps")
        self.over.addItem(self.tr("over time"), "time")
        self.over.addItem(self.tr("over time at work"), "work")
        self.over.currentIndexChanged.connect(self._on_over)
        self.reading = PlainLabel(self.tr("Point at a curve to read its values."), self, elide=True, faint=True)
        self.reading.setContentsMargins(theme.GRID, 0, theme.GRID, 0)
        self.others = _menu_button(self, self.tr("Over it"), self.tr("Draw other sessions over this one"))
        self.shown = _menu_button(self, self.tr("Show"), self.tr("Choose what is drawn"))
        for key, name in self.names.items():
            action = self.shown.menu().addAction(name)
            action.setCheckable(True)
            action.setChecked(True)
            action.setData(key)
            action.toggled.connect(self._on_shown)
        self.save = _menu_button(self, self.tr("Save as"), self.tr("Save the curves as a picture or a table"))
        for kind, text in (("png", self.tr("Picture (PNG)")), ("svg", self.tr("Drawing (SVG)")),
                           ("csv", self.tr("Table (CSV)"))):
            self.save.menu().addAction(text).triggered.connect(partial(self._on_save, kind))
        self.others.menu().aboutToShow.connect(self.others_asked)
        self._faces = self._lay_out()

    @cached_property
    def canvas(self) -> ChartCanvas:
        """What draws. Made when it is first needed: pyqtgraph and numpy take a quarter of a second to load."""
        from app.charts.canvas import ChartCanvas

        made = ChartCanvas(self.names, self.verdicts, self)
        made.setAccessibleName(self.tr("Charts of score, tokens, cost, time and verdicts"))
        made.picked.connect(self.picked)
        made.brushed.connect(self.brushed)
        made.moved.connect(self.moved)
        made.hovered.connect(self._on_hovered)
        self._room.setWidget(made)
        self._room.setFocusProxy(made)
        return made

    @property
    def has_canvas(self) -> bool:
        """Whether anything was drawn yet."""
        return "canvas" in self.__dict__

    def _lay_out(self) -> Faces:
        foot = row(self.over, self.shown, self.others, 1, self.save, spacing=theme.GRID)
        self._room = QScrollArea(self, widgetResizable=True)
        self._room.setFrameShape(QScrollArea.Shape.NoFrame)
        self._room.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what draws in it takes the keys
        empty = Empty(self.tr("Score, context, cost and duration of each step are drawn here as the session works. "
                              "Drag over them to mark steps."), self)
        return faces(self, empty, (self._room, 1), self.legend, self.reading, foot)

    def say_steps(self, count: int) -> None:
        """Say in the panel's line of how many steps there are curves."""
        self.gist.say(self.tr("Curves of %Ln step(s)", None, plural(count)) if count else
                       self.tr("Nothing is drawn before the first step"), is_nothing=not count)

    def show_curves(self, curves: Sequence[Curves]) -> None:
        """Draw other curves, the first those of the session that is looked at."""
        has_any = any(c.series for c in curves)
        self._faces.show_content(has_any)
        if not has_any and not self.has_canvas:
            return
        self.canvas.show_curves(curves)
        self.legend.show_sessions(curves if self.canvas.keys else [], self.canvas.pens())

    def show_place(self, step: int | None, marks: tuple[int, ...]) -> None:
        """Show where the reader is and what is marked."""
        if self.has_canvas:
            self.canvas.show_place(step, marks)

    def offer_others(self, sessions: Sequence[tuple[str, str, bool]]) -> None:
        """The sessions that may be drawn over this one: id, title, whether it is."""
        menu = self.others.menu()
        menu.clear()
        for session, title, on in sessions:
            action = QAction(menu_text(title), menu)
            action.setCheckable(True)
            action.setChecked(on)
            action.toggled.connect(partial(self.other_toggled.emit, session))
            menu.addAction(action)
        if not sessions:
            menu.addAction(self.tr("There is no other session")).setEnabled(False)

    def is_in_view(self) -> bool:
        """Whether any of it can be seen: behind another tab Qt calls a panel visible. If not, `came_up` will tell."""
        self._waits = self.visibleRegion().isEmpty()
        return not self._waits

    def paintEvent(self, event: QPaintEvent) -> None:
        """Somebody looks."""
        super().paintEvent(event)
        if self._waits:
            self._waits = False
            self._coming_up.start()  # not now: nothing may be made while Qt paints

    def image(self) -> QImage:
        """The curves as a picture."""
        made = QImage(self._size() * SCALE, QImage.Format.Format_RGB32)
        made.setDevicePixelRatio(SCALE)
        painter = QPainter(made)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw(painter)
        painter.end()
        return made

    def draw_svg(self, generator: QSvgGenerator) -> None:
        """The curves as a drawing."""
        generator.setSize(self._size())
        generator.setViewBox(QRect(0, 0, self._size().width(), self._size().height()))
        generator.setTitle("Tiphys")
        painter = QPainter(generator)
        self._draw(painter)
        painter.end()

    def _size(self) -> QSize:
        below = self.legend.sizeHint().height() if len(self.canvas.curves) > 1 else 0
        return QSize(self.canvas.width(), self.canvas.height() + below)

    def _draw(self, painter: QPainter) -> None:
        size, canvas = self._size(), self.canvas.height()
        painter.fillRect(QRect(0, 0, size.width(), size.height()), theme.colour("base"))
        self.canvas.render(painter, QRectF(0, 0, size.width(), canvas))
        self.legend.draw(painter, QRectF(0, canvas, size.width(), size.height() - canvas))

    def _on_over(self, *_: object) -> None:
        self.canvas.show_over(self.over.currentData())

    def _on_shown(self, *_: object) -> None:
        hidden = frozenset(a.data() for a in self.shown.menu().actions() if not a.isChecked())
        self.canvas.hide_keys(hidden)
        self.legend.show_sessions(self.canvas.curves if self.canvas.keys else [], self.canvas.pens())

    def _on_save(self, kind: str, *_: object) -> None:
        self.save_asked.emit(kind)

    def _on_hovered(self, step: int) -> None:
        parts = [self.tr("Step {n}").format(n=quantities.number(step))]
        for key in self.canvas.keys:
            values = [self._word(key, value) for curves in self.canvas.curves
                      if (series := curves.of(key)) and (value := series.at(step)) is not None]
            if values:
                parts.append(f"{self.names[key]} {' | '.join(values)}")
        self.reading.setText(" · ".join(parts))

    def _word(self, key: str, value: float) -> str:
        return self.verdicts[round(value)] if key == "verdicts" else reading(key, value)


def _menu_button(parent: QWidget, text: str, tip: str) -> QPushButton:
    made = QPushButton(text, parent)
    made.setToolTip(tip)
    made.setMenu(QMenu(made))
    return made


class ChartLegend(QWidget):
    """Empty for a single session, which needs none."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._sessions: list[tuple[QPen, str]] = []
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setVisible(False)

    def show_sessions(self, curves: Sequence[Curves], pens: Sequence[QPen]) -> None:
        """Name these."""
        self._sessions = [(pen, one_line(c.title, 120)) for c, pen in zip(curves, pens, strict=True)]
        self.setVisible(len(curves) > 1)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """A line each."""
        return QSize(80, self._line() * len(self._sessions) + theme.GRID)

    def paintEvent(self, event: QPaintEvent) -> None:
        self.draw(QPainter(self), QRectF(self.rect()))

    def draw(self, painter: QPainter, room: QRectF) -> None:
        """The lines, into a part of a picture."""
        painter.setFont(theme.small_font(self.font()))
        for number, (pen, title) in enumerate(self._sessions):
            top = room.top() + number * self._line()
            middle = top + self._line() / 2
            painter.setPen(pen)
            left = room.left() + 2 * theme.GRID
            painter.drawLine(QPointF(left, middle), QPointF(left + 6 * theme.GRID, middle))
            painter.setPen(theme.colour("ink"))
            words = QRectF(room.left() + 10 * theme.GRID, top, room.width() - 12 * theme.GRID, self._line())
            elided = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, int(words.width()))
            painter.drawText(words, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), elided)

    def _line(self) -> int:
        return QFontMetrics(theme.small_font(self.font())).height() + 2
