"""Lines above the list of steps: what is new, what was said of the whole session, and why an empty list is empty."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from app.kit import theme, tokens
from app.kit.boxes import column, named, row
from app.kit.i18n import plural
from app.kit.long_text import LongText, Part
from app.kit.safe_text import PlainLabel, one_line, set_tooltip
from app.kit.tool_button import tool_button
from app.trajectory.filters import ALL


class NewsBar(QWidget):
    """Hidden while there is nothing to say."""

    def __init__(self, go: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = PlainLabel("", self, elide=True)
        self.go = QPushButton(go, self)
        self.close_button = tool_button(self, "x", self.tr("Close"))
        self.close_button.clicked.connect(self.hide)
        row((self.label, 1), self.go, self.close_button, on=self, spacing=theme.GRID, margin=(theme.GRID, 0, 0, 0))
        self.hide()

    def show_news(self, news: str) -> None:
        """Say something; "" closes the line."""
        self.label.setText(news)
        set_tooltip(self.label, news)
        self.setVisible(bool(news))


LINES = 8
"""So many lines are in sight when it is open."""


class RemarksBar(QWidget):
    """Hidden while there are no remarks."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = PlainLabel("", self, elide=True, faint=True)
        self.toggle = named(QToolButton(self, autoRaise=True), self.tr("Remarks on the session"))
        self.toggle.setCheckable(True)
        self.toggle.setToolTip(self.tr("Show all that was said of the whole session"))
        self.text = LongText(self, name=self.tr("Remarks on the session"))
        self.text.setFixedHeight(LINES * self.fontMetrics().height())
        self.text.hide()
        line = row((self.label, 1), self.toggle, spacing=theme.GRID, margin=(theme.GRID, 0, 0, 0))
        column(line, self.text, on=self, spacing=theme.GRID, margin=0)
        self.toggle.toggled.connect(self._on_toggled)
        self.hide()

    def show_remarks(self, remarks: Sequence[tuple[str, str]]) -> None:
        """Show remarks, each with who said it and when; without any there is nothing to see."""
        self.setVisible(bool(remarks))
        if not remarks:
            self.toggle.setChecked(False)
        self.label.setText("ⓘ " + one_line(remarks[0][0], 400) if remarks else "")
        self.toggle.setText(self.tr("%Ln remark(s)", None, plural(len(remarks))))
        self.text.show_parts([part for text, about in remarks for part in (
            Part(text=text.rstrip() + "\n"), Part(text=f"{about}\n\n", style="meta"))])

    def _on_toggled(self, on: bool) -> None:
        """Before it hides: the focus must not fall on what a letter would drive."""
        if not on and self.text.isAncestorOf(self.focusWidget() or self):
            self.toggle.setFocus()
        self.text.setVisible(on)
        if on:
            self.text.setFocus()


class NothingListed(QWidget):
    """Hidden while something is listed."""

    all_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = PlainLabel("", self, wrap=True, faint=True)
        show_all = QPushButton(self.tr("Show all (Esc)"), self)
        show_all.clicked.connect(self.all_asked)
        row((self.label, 1), show_all, on=self, spacing=theme.px(tokens.BETWEEN), margin=theme.px(tokens.SIDE))
        self.hide()

    def say(self, filter: str, *, more: bool) -> None:
        """Say what is missing: steps of a filter; `more`: other filters hold beside it."""
        what = {"undecided": self.tr("undecided"), "errors": self.tr("an error"), "changes": self.tr("a change"),
                "verdicts": self.tr("judged")}
        named = [what[key] for key in filter.split("+") if key in what]
        if more or (filter != ALL and not named):
            sentence = {"guidance": self.tr("Nobody wrote to the agent"), "scores": self.tr("Nothing was scored")}.get(
                filter if not more else "", self.tr("No step passes these filters"))
        elif len(named) > 1:
            sentence = self.tr("No step is both {these} and {this}").format(these=", ".join(named[:-1]), this=named[-1])
        else:
            sentence = self.tr("No step is {this}").format(this="".join(named))
        self.label.setText(sentence)
