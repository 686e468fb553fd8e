"""A session in brief: captions with short texts, the errors over the run, and the one button that goes on."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QLayout, QPushButton, QScrollArea, QSizePolicy, QWidget

from app.brief.model import Bin, RemarkInBrief
from app.kit import quantities, theme
from app.kit.boxes import column, row
from app.kit.i18n import plural
from app.kit.safe_text import PlainLabel

INKS = {"keep": "keep", "mask": "mask", "partly": "mask", "unsure": "attention"}


class BriefView(QWidget):
    """`entered`: the reader goes on."""

    entered = Signal()
    came_up = Signal()
    """It can be seen from now on."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = PlainLabel("", self, elide=True, font=theme.bold_font(self.font()))
        self.title.setContentsMargins(theme.px(14), theme.px(9), theme.px(14), theme.px(9))
        self._texts = column(spacing=theme.px(2))
        self.strip = ErrorStrip(self)
        self.first, self.last = PlainLabel("", self, faint=True), PlainLabel("", self, faint=True)
        self.go = QPushButton(self.tr("Go on"), self)
        self.go.setObjectName("primary")
        self.go.setFixedHeight(theme.px(32))
        self.go.clicked.connect(self.entered)
        self.next = PlainLabel("", self, elide=True, faint=True)
        self._lay_out()

    def _lay_out(self) -> None:
        caps = theme.font_of("caption")
        middle = PlainLabel(self.tr("above: errors, below: judged"), self, faint=True)
        for label in (self.first, middle, self.last):
            label.setFont(caps)
        ends = row(self.first, 1, middle, 1, self.last, spacing=0)
        self._strip_box = QWidget(self)
        column(self.strip, ends, on=self._strip_box, spacing=theme.px(2), margin=0)
        body = QWidget(self)
        column(self._texts, 1, on=body, spacing=0, margin=(theme.px(14), theme.px(10), theme.px(14), theme.px(10)))
        scroll = QScrollArea(self, widgetResizable=True)
        scroll.setWidget(body)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        foot = column(self.go, self.next, spacing=theme.px(8),
                      margin=(theme.px(14), theme.px(12), theme.px(14), theme.px(12)))
        column(self.title, (scroll, 1), foot, on=self, spacing=0, margin=0)

    def showEvent(self, event: QShowEvent) -> None:
        """What is hidden shows nothing new."""
        super().showEvent(event)
        self.came_up.emit()

    def show_title(self, title: str, go: str, ahead: str) -> None:
        """Which session, and what the button says; without a title nothing is chosen."""
        self.title.setText(title)
        if go:
            self.go.setText(go)
        self.go.setVisible(bool(go))
        self.next.setText(ahead)
        self._clear()

    def add_text(self, caption: str, text: str, rest: str = "") -> None:
        """A caption with a text below, of which the rest is fainter."""
        self.add_caption(caption)
        for words, faint in ((text, False), (rest, True)):
            if words:
                label = PlainLabel(words, self, wrap=True, faint=faint)
                label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                self._texts.addWidget(label)
        self._texts.addSpacing(theme.px(8))

    def add_changes(self, words: str, added: str, removed: str) -> None:
        """Files that were changed, with their lines."""
        self._texts.addLayout(row(
            PlainLabel(words, self, faint=True), PlainLabel(added, self, meaning="keep"),
            PlainLabel(removed, self, meaning="error"), 1, spacing=theme.px(6)))
        self._texts.addSpacing(theme.px(8))

    def add_strip(self, caption: str, bins: tuple[Bin, ...], last: int) -> None:
        """The errors over the run."""
        self.add_caption(caption)
        self.strip.show_bins(bins)
        self.first.setText("1")
        self.last.setText(quantities.number(last))
        self._texts.addWidget(self._strip_box)
        self._strip_box.show()
        self._texts.addSpacing(theme.px(8))

    def add_remark(self, who: str, remark: RemarkInBrief) -> None:
        """A remark, with the bar of people at its left."""
        box = _Remark(self)
        head = PlainLabel(f"{who}  {quantities.number(remark.step)}", box, font=theme.bold_font(theme.font_of("fact")))
        text = PlainLabel(remark.text, box, wrap=True, font=theme.font_of("fact"))
        column(head, text, on=box, spacing=0, margin=(theme.px(10), 0, 0, 0))
        self._texts.addWidget(box)
        self._texts.addSpacing(theme.px(4))

    def add_caption(self, caption: str) -> None:
        """A caption over what is added next."""
        self._texts.addWidget(PlainLabel(caption, self, faint=True, font=theme.font_of("caption")))

    def _clear(self) -> None:
        self._strip_box.hide()
        self._empty(self._texts)

    def _empty(self, layout: QLayout) -> None:
        while (item := layout.takeAt(0)) is not None:
            if (inner := item.layout()) is not None:
                self._empty(inner)
                inner.deleteLater()
            elif (widget := item.widget()) is not None and widget is not self._strip_box:
                widget.setParent(None)  # what is deleted later can be read until then
                widget.deleteLater()


class _Remark(QWidget):
    def paintEvent(self, event: QPaintEvent) -> None:
        """The bar at the left."""
        QPainter(self).fillRect(QRectF(0, 0, theme.px(2), self.height()), theme.colour("person"))


class ErrorStrip(QWidget):
    """Bars of errors, and below the line what was judged there."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._bins: tuple[Bin, ...] = ()
        self.setFixedHeight(theme.px(44))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_bins(self, bins: tuple[Bin, ...]) -> None:
        """Show these, from the first step to the last."""
        self._bins = bins
        failed = sum(one.errors for one in bins)
        self.setAccessibleName(self.tr("%Ln error(s) over the run", None, plural(failed)))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(theme.px(280), theme.px(44))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Above the line errors, below it what was decided."""
        painter = QPainter(self)
        if not self._bins:
            return
        ground, low = self.height() - theme.px(6), theme.px(3)
        wide = self.width() / len(self._bins)
        most = max(1, *(one.errors for one in self._bins))
        painter.fillRect(QRectF(0, ground, self.width(), 1), theme.colour("line"))
        for at, one in enumerate(self._bins):
            if one.errors:
                high = max(theme.px(3), (ground - theme.px(4)) * one.errors / most)
                painter.fillRect(QRectF(at * wide, ground - high, max(2.0, min(theme.px(8), wide - theme.px(2))), high),
                                 theme.colour("error"))
            if one.word is not None:
                painter.fillRect(QRectF(at * wide, ground + 2, wide + 0.5, low), theme.colour(INKS[one.word]))
