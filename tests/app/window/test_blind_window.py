"""A blind reader's whole window says nothing of what others think: every widget and every row of every list is read,
with the panels in each layout, and what is found by words."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QLabel, QLineEdit, QPlainTextEdit, QTextEdit, QWidget
from support.eventually import eventually
from support.logs import Maker
from support.panels import told_session
from support.window import settle, shown_window

from app.find.view import FindView
from app.trajectory.view import TrajectoryView
from core.domain.anchor import TextAnchor
from core.domain.events import NoteAdded, TagSet, TimeSpent, VerdictGiven
from core.domain.verdict import Author

KIM = Author(kind="person", name="kim")
SECRET = "zebra"
ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole,
         *range(Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 12))


def judged_session(words: str) -> Maker:
    """Others said something of steps 4 and 6, and of the whole; `words` are in all of it."""
    maker = told_session()
    maker.say(VerdictGiven(step=4, value="mask", reason=f"{words} reason"), KIM)
    maker.say(NoteAdded(step=4, text=f"{words} remark"), KIM)
    maker.say(NoteAdded(step=4, text=f"{words} on words", anchor=TextAnchor(part="output", exact="output")), KIM)
    maker.say(TagSet(step=4, tag=f"{words}"), KIM)
    maker.say(TagSet(step=6, tag=f"{words} 6"), KIM)
    maker.say(NoteAdded(step=6, text=f"{words} six"), KIM)
    maker.say(NoteAdded(step=0, text=f"{words} run"), KIM)
    maker.say(TimeSpent(seconds={4: 60.0}), Author(kind="person", name=f"{words}"))
    return maker


def rows_of(model: QAbstractItemModel, parent: QModelIndex) -> Iterator[str]:
    for row in range(model.rowCount(parent)):
        for column in range(1 if isinstance(model, QAbstractListModel) else model.columnCount(parent)):
            index = model.index(row, column, parent)
            yield from (repr(model.data(index, role)) for role in ROLES)
            yield from rows_of(model, index)


def texts(window: QWidget) -> Iterator[tuple[str, str]]:
    """All that a window could say, with who says it."""
    for widget in window.findChildren(QWidget):
        name = f"{type(widget).__name__} {widget.objectName()}"
        yield name, f"{widget.toolTip()} {widget.accessibleName()} {widget.accessibleDescription()}"
        if isinstance(widget, QLabel | QLineEdit):
            yield name, widget.text()
        elif isinstance(widget, QTextEdit):
            yield name, widget.toPlainText() + repr([s.format.toolTip() for s in widget.extraSelections()])
        elif isinstance(widget, QPlainTextEdit):
            yield name, widget.toPlainText()
        elif isinstance(widget, QComboBox):
            yield name, repr([widget.itemText(i) for i in range(widget.count())])
        elif isinstance(widget, QAbstractItemView) and widget.model() is not None:
            yield from ((name, text) for text in rows_of(widget.model(), QModelIndex()))


def telling(window: QWidget) -> set[str]:
    """Who says the secret; what the reader typed is not said by anybody."""
    settle()
    return {name for name, text in texts(window) if SECRET in text and "FindLine" not in name}


def look_round(window, place) -> set[str]:
    found: set[str] = set()
    for layout in ("read", "live", "queue"):
        window.lay_out(layout)
        for step in (4, 6):
            place.cursor.move("s1", step)
            settle()
            place.actions["review.tag"].trigger()
            found |= telling(window)
    return found


async def test_no_widget_and_no_row_says_what_others_think(tmp_path) -> None:
    with shown_window(tmp_path, judged_session(SECRET), layout="read") as (window, place):
        place.cursor.move("s1", 4)
        settle()
        seen = look_round(window, place)
        assert len(seen) >= 4, f"what the others said is in many places: {seen}"
        place.settings.set("review.blind", True)
        settle()
        place.sight.grew.emit()
        assert look_round(window, place) == set()
        assert place.blind_reader("s1")
        place.settings.set("review.blind", False)
        assert look_round(window, place) == seen
        await place.scope.close()


async def test_nothing_of_it_is_found(tmp_path) -> None:
    with shown_window(tmp_path, judged_session(SECRET), layout="read") as (window, place):
        place.cursor.move("s1", 4)
        panel, everywhere = window.findChild(TrajectoryView), window.findChild(FindView)
        panel.find_box.setText(SECRET)
        everywhere.box.setText(SECRET)
        await eventually(lambda: panel.hits.text().endswith("of 2") and everywhere.count.text() == "4 place(s)")
        place.settings.set("review.blind", True)
        await eventually(lambda: panel.hits.text() == "none" and everywhere.count.text() == "")
        assert everywhere.list.model().rowCount() == 0
        panel.find_box.setText("six")
        await eventually(lambda: panel.hits.text() == "none")
        await place.scope.close()
