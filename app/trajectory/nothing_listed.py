"""The line in an empty list: what no step is, and the way back to all."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from app.kit import theme, tokens
from app.kit.boxes import row
from app.kit.safe_text import PlainLabel
from app.trajectory.filters import ALL


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
