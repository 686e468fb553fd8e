"""The start page: it stands while there is nothing, its ways are commands, and it goes with the first session."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from support.desktops import window
from support.eventually import eventually

from app.imports.controller import ImportsController
from app.window import usual_folders
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


def runs_in(folder, *names, at=1_700_000_000):
    folder.mkdir(parents=True)
    for number, name in enumerate(names):
        (folder / name).write_bytes(b"")
        os.utime(folder / name, (at + number, at + number))


def test_runs_in_the_usual_folders_are_counted_and_not_read(tmp_path):
    runs_in(tmp_path / ".claude/projects/one", "a.jsonl", "b.jsonl", "agent-2.jsonl", "notes.txt")
    (tmp_path / ".claude/projects/one/a.jsonl").chmod(0)
    runs_in(tmp_path / ".codex/sessions/2026/01/02", "rollout-1.jsonl", "index.jsonl")
    (tmp_path / ".codex/sessions/again").symlink_to(tmp_path / ".codex/sessions/2026")
    claude, codex = look(tmp_path)
    assert (claude.program, claude.count, claude.shown) == ("Claude Code", 2, "~/.claude/projects")
    assert claude.newest == 1_700_000_001, "parts of a run and other files are not counted, nor do they make it newer"
    assert (codex.program, codex.count, codex.is_all) == ("Codex", 1, True)
    assert look(tmp_path / "nowhere") == []


def test_a_folder_that_was_moved_is_looked_into_where_it_is(tmp_path):
    runs_in(tmp_path / "moved/sessions", "rollout-1.jsonl")
    runs_in(tmp_path / ".codex/sessions", "rollout-1.jsonl", "rollout-2.jsonl")
    [found] = look(tmp_path, {"CODEX_HOME": str(tmp_path / "moved"), "INSPECT_LOG_DIR": "relative"})
    assert (found.count, found.folder) == (1, str(tmp_path / "moved/sessions"))


def test_more_runs_than_are_looked_at_are_not_called_a_number(tmp_path, monkeypatch):
    monkeypatch.setattr(usual_folders, "MOST", 2)
    runs_in(tmp_path / "logs", "a.eval", "b.eval", "c.eval")
    [found] = look(tmp_path)
    assert (found.count, found.is_all) == (2, False)


async def test_what_is_found_is_offered_and_opened_by_its_button_alone(qapp, tmp_path, monkeypatch):
    runs_in(tmp_path / "me/.claude/projects/one", "a.jsonl", "b.jsonl")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "me")
    opened = []
    monkeypatch.setattr(ImportsController, "open", lambda self, files, **how: done(opened.append(files)))
    async with window(tmp_path / "desk") as made:
        page = made.window.findChild(StartPage)
        await eventually(lambda: page.found.isVisible())
        words = " ".join(label.text() for label in page.found.findChildren(QLabel))
        assert "~/.claude/projects" in words and "2 Claude Code run" in words and not opened
        [button] = page.found.buttons
        button.click()
        await eventually(lambda: opened == [[str(tmp_path / "me/.claude/projects")]])


async def done(_: object) -> None:
    """In place of reading what is opened."""
