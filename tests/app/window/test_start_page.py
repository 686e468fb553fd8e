"""The start page: it stands while there is nothing, its ways are commands, and it goes with the first session."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from support.desktops import window
from support.eventually import eventually

from app.window.start_page import StartPage
from app.window.usual_folders import look


async def test_an_empty_window_offers_four_ways_and_the_keyboard_reaches_each(qapp, tmp_path):
    async with window(tmp_path / "desk") as made:
        page = made.window.findChild(StartPage)
        await eventually(page.isVisible)
        assert made.window.docks["sessions"].widget().visibleRegion().isEmpty(), "nothing of the panels shows through"
        made.window.activateWindow()
        await eventually(made.window.isActiveWindow)
        reached = set()
        for _ in range(len(page.cards)):
            QTest.keyClick(QApplication.focusWidget() or page, Qt.Key.Key_Tab)
            reached |= {card.text() for card in page.cards if card.hasFocus()}
        assert reached == {"Open", "Demonstration", "New session", "Connect to a server"}
        triggered = []
        for key in ("file.import", "file.demonstration", "file.new_session", "file.servers"):
            made.actions[key].triggered.disconnect()
            made.actions[key].triggered.connect(lambda *_, key=key: triggered.append(key))
        for card in page.cards:
            card.click()
        assert triggered == ["file.import", "file.demonstration", "file.new_session", "file.servers"]
        QTest.keyClick(made.window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
        await eventually(lambda: not page.isVisible())


async def test_a_notice_lies_over_the_page_also_after_the_window_changed_its_size(qapp, tmp_path):
    async with window(tmp_path / "desk") as made:
        page = made.window.findChild(StartPage)
        await eventually(page.isVisible)
        made.place.notices.tell("The server does not answer, and there is nobody who could say why. " * 3, "error")
        wide = made.window.width() + 40
        made.window.resize(wide, made.window.height() + 30)
        await eventually(lambda: page.width() == wide)
        toasts = made.window.toasts
        assert toasts.geometry().bottom() > page.geometry().top(), "what is tested here needs them to overlap"
        over = made.window.childAt(toasts.geometry().center().x(), toasts.geometry().bottom() - 3)
        assert over is toasts or toasts.isAncestorOf(over)


async def test_the_page_goes_with_the_first_session(qapp, tmp_path):
    async with window(tmp_path / "desk") as made:
        page = made.window.findChild(StartPage)
        await eventually(page.isVisible)
        made.cursor.move("s1")
        assert not page.isVisible()


def test_runs_in_the_usual_folders_are_counted_and_not_read(tmp_path):
    runs = tmp_path / ".claude" / "projects" / "one"
    runs.mkdir(parents=True)
    for name in ("a.jsonl", "b.jsonl", "notes.txt"):
        (runs / name).write_bytes(b"")
    (runs / "a.jsonl").chmod(0)
    [found] = look(tmp_path)
    assert (found.program, found.count, found.shown) == ("Claude Code", 2, "~/.claude/projects")
    assert look(tmp_path / "nowhere") == []
