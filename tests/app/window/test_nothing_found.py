"""Where the words in a panel's box leave nothing, the panel says so, and a button or Esc brings all back."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QWidget
from support.logs import Maker
from support.panels import told_session
from support.window import shown_window

from app.desk.queue_book import Shown
from app.guidance.queue_view import QueueView
from app.kit.nothing_found import NothingFound
from app.queue.view import QueueTable
from app.remarks.view import RemarksView
from app.web_searches.view import WebSearchesView
from core.domain.events import NoteAdded, SearchMade, SearchResult
from core.domain.verdict import Author

LI = Author(kind="person", name="li")
Filtered = tuple[QWidget, QLineEdit, QAbstractItemView, NothingFound]


def full_session() -> Maker:
    """A session of which each panel has something."""
    maker = told_session()
    maker.guide("use the held-out split")
    maker.say(NoteAdded(step=2, text="why this one?"), LI)
    found = SearchResult(title="Splits", link="https://example.org", snippet="of data")
    maker.say(SearchMade(query="splits", engine="e", step=2, results=(found,)))
    return maker


def filtered(window: QWidget, kind: type[QWidget], box: str, listed: str) -> Filtered:
    """A panel's view with its box, its list, and what stands in the list's place."""
    view = window.findChild(kind)
    return view, getattr(view, box), getattr(view, listed), view.nothing


QUEUE = (QueueTable, "words", "list")
PANELS = [("read", "remarks", (RemarksView, "filter", "list")),
          ("read", "searches", (WebSearchesView, "filter", "tree")),
          ("live", "guidance", (QueueView, "words", "list")), ("queue", "queue", QUEUE)]


@pytest.mark.parametrize(("layout", "key", "parts"), PANELS, ids=[key for _, key, _ in PANELS])
def test_an_empty_list_says_why_and_leads_back(qtbot, tmp_path, layout, key, parts):
    with shown_window(tmp_path, full_session(), layout=layout) as (window, place):
        place.cursor.move("s1", 4)
        place.queues.show(Shown(query="", title="All"))
        dock = window.docks[key]
        dock.show()
        dock.raise_()
        _, box, listed, nothing = filtered(window, *parts)
        qtbot.waitUntil(lambda: listed.model().rowCount() > 0)
        rows = listed.model().rowCount()

        def look_for_what_is_nowhere() -> None:
            box.show()
            box.setFocus()
            QTest.keyClicks(box, "nowhere")
            qtbot.waitUntil(nothing.isVisible)
            assert listed.model().rowCount() == 0 and not listed.isVisible() and nothing.label.text().endswith(".")

        look_for_what_is_nowhere()
        assert nothing.button.text() == "Show all (Esc)"
        nothing.button.click()
        qtbot.waitUntil(listed.isVisible)
        assert (box.text(), listed.model().rowCount(), nothing.isVisible()) == ("", rows, False)
        look_for_what_is_nowhere()
        QTest.keyClick(box, Qt.Key.Key_Escape)
        qtbot.waitUntil(lambda: box.text() == "" and listed.model().rowCount() == rows)
        assert not nothing.isVisible()


def test_a_facet_of_the_queue_that_has_none_leads_back_to_all(qtbot, tmp_path):
    with shown_window(tmp_path, full_session(), layout="queue") as (window, place):
        place.queues.show(Shown(query="", title="All"))
        view, _, listed, nothing = filtered(window, *QUEUE)
        qtbot.waitUntil(lambda: listed.model().rowCount() == 1)
        view.facets["mine"].click()
        assert nothing.isVisible() and not view.empty.isVisible()
        QTest.keyClick(nothing.button, Qt.Key.Key_Escape)
        assert view.facets["all"].isChecked() and listed.isVisible() and listed.model().rowCount() == 1
