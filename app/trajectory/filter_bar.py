"""The filters over the step list: one box per facet, filled with what the trajectory has."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from app.desk.step_words import author_kind, error_word, status_word
from app.kit import quantities, theme
from app.kit.boxes import column, named
from app.kit.elided_box import ElidedBox
from app.kit.safe_text import PlainLabel, menu_text
from app.trajectory.facets import ANY_ERROR, DAY, OUTCOMES, Choices, Facets, span_of

NAMES = ("family", "tool", "host", "ended", "author", "outcome", "time")


class FilterBar(QWidget):
    """Emits the chosen facets; hidden until it is asked for."""

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.boxes: dict[str, ElidedBox] = {}
        grid = QGridLayout()
        grid.setSpacing(theme.GRID)
        for number, name in enumerate(NAMES):
            box = self.boxes[name] = named(ElidedBox(self), self._label(name), is_tip=True)
            box.activated.connect(self._on_chosen)
            grid.addWidget(box, number // 4, number % 4)
        self.count = PlainLabel("", self, elide=True, faint=True)
        self.clear = QPushButton(self.tr("Clear filters"), self)
        self.clear.clicked.connect(self.reset)
        grid.addWidget(self.clear, len(NAMES) // 4, len(NAMES) % 4)
        column(grid, self.count, on=self, spacing=theme.GRID, margin=0)
        self.show_choices(Choices())

    @property
    def facets(self) -> Facets:
        """What is chosen."""
        return Facets(**{name: str(box.currentData() or "") for name, box in self.boxes.items()})

    def show_choices(self, choices: Choices) -> None:
        """Offer what a trajectory has; what is chosen stays chosen."""
        kinds = list(dict.fromkeys(a.partition(":")[0] for a in choices.authors))
        ended = [(s, status_word(s)) for s in choices.statuses]
        if choices.errors:
            ended.append((ANY_ERROR, self.tr("any error")))
            ended += [(f"{ANY_ERROR}:{e}", "✗ " + menu_text(error_word(e))) for e in choices.errors if e]
        authors = [(kind, menu_text(author_kind(kind))) for kind in kinds]
        for author in choices.authors:
            kind, _, name = author.partition(":")
            authors.append((author, f"{menu_text(author_kind(kind))} {menu_text(name)}"))
        for name, options in (
            ("family", [(f, self._family(f)) for f in choices.families]),
            ("tool", [(t, menu_text(t)) for t in choices.tools]), ("host", [(h, menu_text(h)) for h in choices.hosts]),
            ("ended", ended), ("author", authors), ("outcome", [(o, self._outcome(o)) for o in OUTCOMES]),
            ("time", [(t, _span(t)) for t in choices.times]),
        ):
            self._fill(self.boxes[name], self._label(name), options)

    def show_count(self, shown: int, total: int) -> None:
        """Say how much of the trajectory is listed."""
        on = bool(self.facets.count)
        self.count.setText(self.tr("{shown} of {total} steps").format(shown=shown, total=total) if on else "")
        self.count.setVisible(on)
        self.clear.setEnabled(on)

    def reset(self) -> None:
        """List everything again."""
        for box in self.boxes.values():
            box.setCurrentIndex(0)
        self._on_chosen()

    def _fill(self, box: ElidedBox, label: str, options: list[tuple[str, str]]) -> None:
        held = box.currentData()
        box.clear()
        box.addItem(label, "")
        for key, text in options:
            box.addItem(text, key)
        box.setCurrentIndex(max(0, box.findData(held)))
        box.setEnabled(bool(options))

    def _on_chosen(self) -> None:
        self.chosen.emit(self.facets)

    def _label(self, name: str) -> str:
        return {"family": self.tr("Any family"), "tool": self.tr("Any tool"), "host": self.tr("Any host"),
                "ended": self.tr("However it ended"), "author": self.tr("Judged by anybody"),
                "outcome": self.tr("Any outcome"), "time": self.tr("At any time")}[name]

    def _family(self, family: str) -> str:
        return {"command": self.tr("commands"), "file": self.tr("files"), "parse": self.tr("parsing"),
                "search": self.tr("search"), "browse": self.tr("browsing"), "control": self.tr("control"),
                "other": self.tr("other")}.get(family, family)

    def _outcome(self, outcome: str) -> str:
        return {"keep": self.tr("kept"), "mask": self.tr("masked"), "unsure": self.tr("unsure"),
                "undecided": self.tr("undecided"),
                "unjudged": self.tr("no keep or mask by anybody"), "disagree": self.tr("opinions differ")}[outcome]


def _span(time: str) -> str:
    """An hour or a day of some choice of times as people say it, in local time."""
    first, last = span_of(time)
    start, end = quantities.moment(first), quantities.moment(last)
    if last - first >= DAY:
        return f"{start:%Y-%m-%d %H:%M} +24 h"
    return f"{start:%m-%d %H:%M}–{end:%H:%M}"
