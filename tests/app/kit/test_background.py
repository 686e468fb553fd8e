"""Work beside the window: its answer comes to the GUI thread, or to nobody where who asked is gone."""

from __future__ import annotations

import threading

import shiboken6
from PySide6.QtCore import QObject, QThread

from app.kit.background import BackgroundWork


def test_the_latest_answer_comes_on_the_gui_thread(qtbot) -> None:
    home, found = QObject(), []
    work = BackgroundWork(home)
    work.done.connect(lambda answer: found.append((answer, QThread.currentThread() is work.thread())))
    work.start(lambda: "first")
    work.start(lambda: "second")
    qtbot.waitUntil(lambda: bool(found))
    assert found == [("second", True)]


def test_who_is_gone_while_a_thread_works_is_told_nothing_and_harms_nobody(qtbot) -> None:
    """The thread never touches what the GUI thread may be taking down: that once ended the whole program."""
    go, owner, home, found = threading.Event(), QObject(), QObject(), []
    gone, there = BackgroundWork(owner), BackgroundWork(home)
    gone.done.connect(found.append)
    there.done.connect(found.append)
    gone.start(go.wait, 10)
    shiboken6.delete(owner)
    assert not shiboken6.isValid(gone)
    go.set()
    there.start(lambda: "here")
    qtbot.waitUntil(lambda: found == ["here"])


def test_many_come_and_go_while_threads_answer(qtbot) -> None:
    home, found = QObject(), []
    last = BackgroundWork(home)
    for _ in range(300):
        owner = QObject()
        BackgroundWork(owner).start(int)
        shiboken6.delete(owner)
    last.done.connect(found.append)
    last.start(lambda: "last")
    qtbot.waitUntil(lambda: found == ["last"])
