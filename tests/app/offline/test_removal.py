"""A session is deleted or archived from the window, after it said what goes; Enter and Escape lose nothing."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLineEdit, QMessageBox
from support.desktops import listed, window
from support.eventually import eventually
from support.logs import Maker
from support.server_process import ServerProcess
from support.wire import account

from app.desk.session_key import key_of
from app.offline.bar import DownloadBar
from core.domain.events import SessionStateChanged, VerdictGiven, blobs_of, decode_event
from core.domain.verdict import Author
from core.formats.registry import read
from core.store import log, tombstones
from core.store.sqlite import connect


def over(title: str, seed: int = 1, *, running: bool = False) -> Maker:
    maker = Maker(seed, title)
    for _ in range(4):
        maker.add_step()
    maker.say(VerdictGiven(step=1, value="mask"), Author(kind="person", name="wu"))
    if not running:
        maker.say(SessionStateChanged(state="finished"))
    return maker


async def opened_on(made, lab: ServerProcess, token: str = "", session: str = "s") -> str:
    """The window looks at a session of the server; its key."""
    entry = made.place.servers.add(lab.url, token or lab.token, "lab")
    key = key_of(session, entry.id)
    await eventually(lambda: made.desks.of(key).row(key))
    await eventually(lambda: made.desks.of(key).link.state == "online")
    made.cursor.move(key)
    return key


async def sheet(made, act: str) -> QMessageBox:
    made.actions[act].trigger()
    await eventually(lambda: made.window.findChildren(QMessageBox))
    return made.window.findChildren(QMessageBox)[0]


async def answered(made, box: QMessageBox, yes: bool) -> None:
    button = box.buttons()[0] if box.buttons()[0] is not box.defaultButton() else box.buttons()[1]
    if yes:
        button.click()
    else:
        QTest.keyClick(box, Qt.Key.Key_Return)
    await eventually(lambda: not made.window.findChildren(QMessageBox))


def held(lab: ServerProcess, session: str = "s") -> list[bytes]:
    with closing(connect(lab.home.server_db, readonly=True)) as conn:
        return [p.body for p in log.read_all(conn, session)]


async def test_it_goes_when_somebody_agrees_and_not_before(qapp, tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "lab", s=over("Argo"), other=over("Stays", 2)) as lab:
        async with window(tmp_path / "desk") as made:
            key = await opened_on(made, lab)
            box = await sheet(made, "session.delete")
            assert "Argo" in box.text() and "Steps: 4" in box.informativeText()
            assert "Opinions of people: 1 (wu)" in box.informativeText() and "cannot be undone" in box.informativeText()
            await answered(made, box, yes=False)
            assert held(lab) and key in listed(made)
            await answered(made, await sheet(made, "session.delete"), yes=True)
            await eventually(lambda: key not in listed(made))
            assert made.cursor.session == "" and len(listed(made)) == 1
            assert not held(lab) and held(lab, "other")


async def test_one_that_works_is_refused_with_what_ends_it(qapp, tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "lab", s=over("Argo", running=True)) as lab:
        async with window(tmp_path / "desk") as made:
            await opened_on(made, lab)
            notices = []
            made.notices.posted.connect(notices.append)
            made.actions["session.delete"].trigger()
            await eventually(lambda: any("still at work" in n.sentence for n in notices))
            assert len(notices) == 1 and held(lab) and not made.window.findChildren(QMessageBox)
            await eventually(made.actions["session.delete"].isEnabled)


async def test_an_archive_from_the_window_holds_all_of_it(qapp, tmp_path: Path) -> None:
    path = tmp_path / "argo.tiphys"
    with ServerProcess(tmp_path / "lab", s=over("Argo")) as lab:
        before = held(lab)
        async with window(tmp_path / "desk") as made:
            key = await opened_on(made, lab)
            made.actions["session.archive"].trigger()
            await eventually(lambda: made.window.findChildren(QFileDialog))
            dialog = made.window.findChildren(QFileDialog)[0]
            dialog.findChild(QLineEdit).setText(str(path))
            assert dialog.selectedFiles() == [str(path)]
            dialog.accept()
            await eventually(lambda: made.window.findChildren(QMessageBox))
            await answered(made, made.window.findChildren(QMessageBox)[0], yes=True)
            await eventually(lambda: key not in listed(made))
            (bar,) = [b for b in made.window.findChildren(DownloadBar) if "reading it back" in b.text.text()]
            await eventually(lambda: not bar.isVisible())
        assert not held(lab)
    imported = next(iter(read(path)))
    named = {one for body in before for one in blobs_of(decode_event(body).fact)}
    assert list(imported.bodies) == before and set(imported.blobs) == named


async def test_who_may_not_delete_frees_the_room_here(qapp, tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "lab", s=over("Argo")) as lab:
        token = account(lab.home.path, "wang", "view", "review")
        async with window(tmp_path / "desk") as made:
            key = await opened_on(made, lab, token)
            desk = made.desks.of(key)
            await eventually(lambda: desk.head(key) == len(held(lab)))
            box = await sheet(made, "session.delete")
            assert "may not delete" in box.informativeText() and "stays on its server" in box.informativeText()
            await answered(made, box, yes=True)
            await eventually(lambda: desk.head(key) == 0)
            assert key in listed(made) and held(lab)
            made.cursor.move(key)
            await eventually(lambda: desk.head(key) == len(held(lab)))


async def test_who_looks_at_it_is_told_that_somebody_deleted_it(qapp, tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "lab", s=over("Argo")) as lab:
        async with window(tmp_path / "one") as one, window(tmp_path / "two") as two:
            first, second = await opened_on(one, lab), await opened_on(two, lab)
            notices = []
            two.notices.posted.connect(notices.append)
            await eventually(lambda: two.desks.of(second).head(second))
            await answered(one, await sheet(one, "session.delete"), yes=True)
            await eventually(lambda: second not in listed(two))
            await eventually(lambda: [n.sentence for n in notices] == ["“Argo” was deleted on its server."])
            assert two.cursor.session == ""
            await eventually(lambda: first not in listed(one))
        with closing(connect(lab.home.server_db, readonly=True)) as conn:
            assert tombstones.is_deleted(conn, "s")
