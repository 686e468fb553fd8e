"""A Qt object in a cycle is destroyed on the GUI thread, whichever thread is busy meanwhile."""

import gc
import threading

from PySide6.QtCore import QObject

from app.window.garbage import Collector


class Node(QObject):
    """Holds on to itself and tells in which thread it died."""

    died_in: list[int] = []

    def __init__(self) -> None:
        super().__init__()
        self.me = self

    def __del__(self) -> None:
        self.died_in.append(threading.get_ident())


def test_cycles_with_qt_objects_die_on_the_gui_thread(qapp, qtbot) -> None:
    Node.died_in.clear()
    parent = QObject()
    Collector(parent)
    for _ in range(2000):
        Node()
    busy = threading.Thread(target=lambda: [[] for _ in range(200_000)])
    busy.start()
    busy.join()
    assert not gc.isenabled()
    assert not Node.died_in
    qtbot.waitUntil(lambda: bool(Node.died_in), timeout=10_000)
    assert set(Node.died_in) == {threading.get_ident()}
    gc.unfreeze()


def test_what_the_program_is_made_of_is_not_gone_over(qapp, qtbot) -> None:
    gc.unfreeze()
    collected: list[int] = []
    gc.callbacks.append(lambda phase, info: collected.append(info["generation"]))
    parent = QObject()
    Collector(parent)
    try:
        qtbot.waitUntil(lambda: gc.get_freeze_count() > 10_000, timeout=10_000)
        assert 2 not in collected, "no collection of everything holds the window first"
    finally:
        gc.callbacks.pop()
        gc.unfreeze()
        parent.deleteLater()
