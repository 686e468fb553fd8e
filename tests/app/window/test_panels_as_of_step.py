"""Terminals, Files and Searches show the state as of the selected step, and the newest at the tail."""

import asyncio

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QWidget
from support.logs import Maker
from support.panels import told_session, workplace

from app.files import panel as files
from app.files.model import FilesModel, touched
from app.kit.empty import Empty
from app.terminals import panel as terminals
from app.terminals import tape
from app.terminals.emulator import Emulator
from app.terminals.view import TerminalsView
from app.web_searches import panel as searches
from app.web_searches.model import WebSearchesModel, web_searches
from core.domain.events import SearchMade, SearchResult, TerminalOutput
from core.store import log


@pytest.fixture
def place(qapp, tmp_path):
    with workplace(tmp_path, told_session()) as (made, _):
        yield made


@pytest.fixture
def host(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    return made


def show(qtbot, view, host):
    view.resize(600, 400)
    host.resize(600, 400)
    host.show()
    qtbot.waitExposed(host)


def test_a_terminal_shows_what_stood_there_at_the_step_and_follows_at_the_tail(place, host, qtbot) -> None:
    view = terminals.build(place, host)
    show(qtbot, view, host)
    place.cursor.move("s1", 4)
    qtbot.waitUntil(lambda: view.terminal.text().splitlines()[-1:] == ["output of step 4"])
    assert view.tabs.tabText(0).startswith("main:sh")
    place.cursor.to_step(2)
    qtbot.waitUntil(lambda: view.terminal.text().splitlines() == ["output of step 1", "output of step 2"])
    place.cursor.follow()
    qtbot.waitUntil(lambda: view.terminal.text().splitlines()[-1:] == ["output of step 10"])


def test_only_what_goes_on_is_called_live(qapp, tmp_path, host, qtbot) -> None:
    over = told_session()
    over.finish()
    with workplace(tmp_path, told_session(), over) as (place, _):
        view = terminals.build(place, host)
        show(qtbot, view, host)
        place.cursor.move("s1", None)
        qtbot.waitUntil(lambda: view._state.text().endswith("not connected"))
        place.cursor.move("s2", None)
        qtbot.waitUntil(lambda: view._state.text() == "as it was at the end")


def test_new_output_appears_while_following_and_not_at_an_older_step(qapp, tmp_path, host, qtbot) -> None:
    maker = told_session()
    with workplace(tmp_path, maker) as (place, replica):
        view = terminals.build(place, host)
        show(qtbot, view, host)
        place.cursor.move("s1", None)
        count, end = len(maker.bodies), place.desks.local.trajectory("s1").terminals["main/sh"][-1]
        offset = end.offset + end.size
        maker.say(TerminalOutput(host="main", terminal="sh", offset=offset, size=5, data=b"fresh"))
        replica._writer.do_blocking(lambda conn: log.append(conn, "s1", maker.bodies[count:]))
        for tell in replica.events_added:
            tell("s1", count + 1, count + 1)
        qtbot.waitUntil(lambda: view.terminal.text().splitlines()[-1:] == ["fresh"])
        place.cursor.to_step(10)
        qtbot.waitUntil(lambda: view.terminal.text().splitlines()[-1:] == ["output of step 10"])


def test_fifty_tabs_are_laid_out_together(qtbot) -> None:
    view = TerminalsView()
    qtbot.addWidget(view)
    view.show()
    layouts: list[int] = []
    view.tabs.tabLayoutChange = lambda: layouts.append(view.tabs.count())
    keys = [f"main/t{n}" for n in range(50)]
    view.show_tabs(keys, set(), "main/t3")
    assert view.tabs.isVisible() and view.tabs.currentIndex() == 3
    view.tabs.setFocus()
    view.show_tabs(keys, set(keys), "main/t4")
    assert [view.tabs.tabText(i) for i in (0, 49)] == ["main:t0 •", "main:t49 •"]
    view.show_tabs(keys[::-1], {"main/t7"}, "main/t7")
    assert [view.tabs.tabText(i) for i in (0, 42, 49)] == ["main:t49", "main:t7 •", "main:t0"]
    assert view.tabs.isVisible() and view.tabs.currentIndex() == 42
    assert 0 < len(layouts) < 20, "not one layout for each tab"


def test_a_flood_of_a_million_lines_is_drawn_in_short_slices(qapp, tmp_path, host, qtbot, monkeypatch) -> None:
    maker = Maker(2)
    offset = 0
    for part in range(40):
        data = b"".join(b"\x1b[32mstep\x1b[m %d loss 0.83\r\n" % i for i in range(part * 25_000, (part + 1) * 25_000))
        maker.say(TerminalOutput(host="h", terminal="t", offset=offset, size=len(data), blob=maker.keep(data)))
        offset += len(data)
    with workplace(tmp_path, maker) as (place, _):
        view = terminals.build(place, host)
        show(qtbot, view, host)
        controller = view.findChild(terminals.TerminalsController)
        now = iter(range(10**9))
        monkeypatch.setattr(tape, "perf_counter", lambda: next(now) / 1000)  # a millisecond a piece
        slices: list[int] = [0]
        feed, work = Emulator.feed, controller._work

        def fed(emulator: Emulator, data: bytes) -> None:
            slices[-1] += len(data)
            feed(emulator, data)

        monkeypatch.setattr(Emulator, "feed", fed)
        controller._frame.timeout.disconnect()
        controller._frame.timeout.connect(lambda: (slices.append(0), work()))
        place.cursor.move("s1", None)
        qtbot.waitUntil(lambda: "step 999999 loss 0.83" in view.terminal.text()[-60:], timeout=60_000)
        assert max(slices) <= tape.SLICE * (terminals.BUDGET_S * 1000 + 1)
        assert 0 < sum(slices) < 2 * tape.FLOOD < offset / 10

def test_files_are_listed_as_of_the_step_with_the_difference_of_the_newest_change(place, host, qtbot) -> None:
    view = files.build(place, host)
    show(qtbot, view, host)
    place.cursor.move("s1", 4)
    assert [f.path for f in touched(place.desks.local.trajectory("s1").files, 4)] == ["src/a.py"]
    qtbot.waitUntil(lambda: (view.diff._diff.added, view.diff._diff.removed) == (2, 0))
    place.cursor.follow()
    qtbot.waitUntil(lambda: view.list.model().rowCount() == 2)
    assert [view.list.model().file(i).path for i in (0, 1)] == ["src/a.py", "b.txt"]
    view.compared.emit(0, 3)
    qtbot.waitUntil(lambda: view.diff._diff.added == 6)
    view.list.setCurrentIndex(view.list.model().index(1))
    qtbot.waitUntil(lambda: (view.diff._diff.added, view.diff._diff.removed) == (0, 1))


def test_the_list_of_files_counts_lines_and_keeps_the_rules_of_models(place, host, qtbot) -> None:
    view = files.build(place, host)
    model = view.list.model()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    show(qtbot, view, host)
    place.cursor.move("s1", None)
    qtbot.waitUntil(lambda: model.index(0).data(FilesModel.CountsRole) == (6, 0))
    assert model.index(1).data(FilesModel.FileRole).last.after == ""


def test_searches_know_which_results_were_visited_by_then(place, host, qtbot) -> None:
    view = searches.build(place, host)
    show(qtbot, view, host)
    place.cursor.move("s1", 3)
    model = view.tree.model()
    assert model.rowCount() == 1
    query = model.index(0, 0)
    assert [model.index(i, 0, query).data(WebSearchesModel.FoundRole).visited for i in (0, 1)] == [0, 0]
    place.cursor.follow()
    query = model.index(1, 0)
    assert [model.index(i, 0, query).data(WebSearchesModel.FoundRole).visited for i in (0, 1)] == [4, 0]
    view.filter.setText("masked")
    assert model.rowCount() == 1
    view.filter.setText("nothing like it")
    assert model.rowCount() == 0


def test_a_new_search_leaves_the_tree_below_as_it_was(qapp) -> None:
    model = WebSearchesModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    made = list(_searches(3))
    model.show(web_searches(made[:2], None))
    result = model.index(0, 0, model.index(1, 0))
    assert result.data(Qt.ItemDataRole.DisplayRole) == "r0"
    model.show(web_searches(made, None))
    assert model.rowCount() == 3
    assert result.data(Qt.ItemDataRole.DisplayRole) == "r0"
    assert model.parent(result) == model.index(2, 0)
    assert model.parent(model.index(0, 0)) == QModelIndex()


def _searches(count: int):
    for number in range(count):
        yield SearchMade(query=f"q{number}", engine="web", step=number + 1,
                         results=(SearchResult(title=f"r{number}", link="https://example.org"),))


@pytest.mark.parametrize(("build", "rows"), [
    (terminals.build, lambda view: view.terminal.text().split()),
    (files.build, lambda view: view.list.model().rowCount()),
    (searches.build, lambda view: view.tree.model().rowCount()),
])
def test_a_log_that_was_replaced_is_shown_anew(build, rows, qapp, tmp_path, host, qtbot) -> None:
    with workplace(tmp_path, told_session()) as (place, replica):
        view = build(place, host)
        show(qtbot, view, host)
        place.cursor.move("s1", None)
        qtbot.waitUntil(lambda: bool(rows(view)))
        asyncio.run(replica.forget("s1"))  # as when the server's database was restored
        assert any(face.isVisibleTo(view) for face in view.findChildren(Empty))
