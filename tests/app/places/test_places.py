"""Deep links: copied from a step, opened from the box, the command line and a drop; files are dropped to import."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from support.desktops import window
from support.eventually import eventually
from support.logs import Maker, fill

from app.desk.settings import Settings
from app.places import controller as places
from app.places.go_to_dialog import GoToDialog
from app.window.bootstrap import Desktop, parse
from core.aio import TaskScope
from core.store.home import Home


def maker(steps: int) -> Maker:
    made = Maker(3)
    for _ in range(steps):
        made.add_step()
    return made


def store(desktop: Desktop, name: str, made: Maker) -> None:
    desktop.replica._writer.do_blocking(lambda conn: fill(conn, name, made.bodies, made.blobs))


def drop(window, *, urls=(), text="") -> None:
    data = QMimeData()
    if urls:
        data.setUrls([QUrl.fromLocalFile(u) for u in urls])
    if text:
        data.setText(text)
    event = QDropEvent(QPoint(9, 9).toPointF(), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
                       Qt.KeyboardModifier.NoModifier)
    window.dropEvent(event)


async def test_a_link_whose_session_never_comes_is_told_of(qapp, tmp_path, monkeypatch):
    monkeypatch.setattr(places, "WAIT_MS", 1)
    home = Home(tmp_path)
    async with TaskScope("test") as scope:
        desktop = Desktop(home, Settings(home.settings), scope)
        desktop.connection.serve_here = lambda: None
        notices = []
        desktop.notices.posted.connect(notices.append)
        desktop.start(parse(["tiphys://session/never?step=2"]), "")
        await eventually(lambda: [n.kind for n in notices] == ["error"])
        assert "does not know this session" in notices[0].sentence
        store(desktop, "never", maker(3))
        desktop.desks.rows_changed.emit()
        assert desktop.cursor.session == "", "nobody is taken away later"
        await desktop.close()


async def test_a_link_is_copied_pasted_dropped_and_awaited(qapp, tmp_path):
    home = Home(tmp_path)
    async with TaskScope("test") as scope:
        desktop = Desktop(home, Settings(home.settings), scope)
        desktop.connection.serve_here = lambda: None
        for name, steps in (("s1", 5), ("s2", 3)):
            store(desktop, name, maker(steps))
        desktop.start(parse(["tiphys://session/later?step=2&panel=charts"]), "")
        desktop.cursor.move("s1", 4)
        notices, imported = [], []
        desktop.notices.posted.connect(notices.append)
        desktop.actions["go.copy_link"].trigger()
        assert QGuiApplication.clipboard().text() == "tiphys://session/s1?step=4"
        desktop.cursor.move("s2")
        desktop.actions["go.link"].trigger()
        dialog = desktop.window.findChild(GoToDialog)
        assert dialog.box.text() == "tiphys://session/s1?step=4", "a link in the clipboard is offered"
        QTest.keyClick(dialog.box, Qt.Key.Key_Return)
        assert (desktop.cursor.session, desktop.cursor.step) == ("s1", 4)
        assert dialog.isHidden()
        desktop.actions["go.link"].trigger()
        dialog = next(d for d in desktop.window.findChildren(GoToDialog) if d.isVisible())
        dialog.box.setText("99")
        QTest.keyClick(dialog.box, Qt.Key.Key_Return)
        assert "no such step" in dialog.problem.text()
        dialog.box.setText("#2")
        QTest.keyClick(dialog.box, Qt.Key.Key_Return)
        assert desktop.cursor.step == 2

        async def import_files(files):
            imported.append(files)

        desktop.application.import_files = import_files
        drop(desktop.window, urls=["/a/run.jsonl", "/b"])
        await eventually(lambda: imported == [["/a/run.jsonl", "/b"]])
        drop(desktop.window, text="tiphys://session/s2?step=1")
        assert (desktop.cursor.session, desktop.cursor.step) == ("s2", 1)
        drop(desktop.window, text="tiphys://session/none")
        assert notices[-1].kind == "error"
        store(desktop, "later", maker(3))
        desktop.desks.rows_changed.emit()
        await eventually(lambda: (desktop.cursor.session, desktop.cursor.step) == ("later", 2))
        await desktop.close()


async def test_a_start_goes_where_the_reader_was_last(qapp, tmp_path):
    async with window(tmp_path) as desktop:
        for name, count in (("long", 5), ("short", 2), ("newer", 3)):
            store(desktop, name, maker(count))
        desktop.desks.rows_changed.emit()
        desktop.cursor.move("newer", 1)
        desktop.cursor.move("long", 4)
    async with window(tmp_path) as desktop:
        assert (desktop.place.sight.session, desktop.place.sight.step) == ("long", 4)
        desktop.cursor.move("short", 2)
    async with window(tmp_path) as desktop:
        assert (desktop.place.sight.session, desktop.place.sight.step) == ("short", 2)
