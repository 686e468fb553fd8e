"""A whole session is stored offline: every payload is here when the server is gone; it waits, is cancelled."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.desktops import listed, window
from support.eventually import eventually
from support.logs import Maker
from support.server_process import ServerProcess

from app.desk.session_key import key_of
from app.offline.bar import DownloadBar
from core.client.replica import Replica
from core.domain.events import blobs_of

CTRL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


def long_session() -> Maker:
    maker = Maker(1, "Argo")
    for _ in range(60):
        maker.add_step()
    return maker


def missing(path, session: str) -> list[str]:
    """The payloads that a copy lacks of a session."""
    replica = Replica(path)
    try:
        named, at = [], 0
        while placed := replica.read(session, at):
            named += [h for p in placed for h in blobs_of(p.event.fact)]
            at = placed[-1].seq
        return replica.missing(named)
    finally:
        replica.close()


async def finds(made, key: str) -> None:
    """Words of the session are found without its server, and it is said of which other one only a part is here."""
    find = made.window.docks["find"].widget()
    made.actions["go.find_all"].trigger()
    QTest.keyClicks(find.box, "<b>not markup</b>")
    await eventually(lambda: find.list.model().rowCount())
    await eventually(lambda: find.partly.text().startswith("lab: not connected. Of 1 session(s)"))
    made.cursor.move("")
    find.list.setCurrentIndex(find.list.model().index(0, 0))
    QTest.keyClick(find.list, Qt.Key.Key_Return)
    assert made.cursor.session == key and made.cursor.step


async def test_all_of_a_session_is_here_when_the_network_is_gone(qapp, tmp_path):
    maker = long_session()
    with ServerProcess(tmp_path / "lab", s=maker, other=Maker(2, "Not looked at")) as lab:
        async with window(tmp_path / "desk") as made:
            entry = made.place.servers.add(lab.url, lab.token, "lab")
            key = key_of("s", entry.id)
            await eventually(lambda: made.desks.of(key).row(key))
            assert not made.actions["session.store_offline"].isEnabled()
            made.cursor.move(key, 1)
            path = made.desks.of(key).replica.path
            notices = []
            made.notices.posted.connect(notices.append)
            made.window.activateWindow()
            await eventually(made.window.isActiveWindow)
            made.window.setFocus()
            QTest.keyClick(made.window, Qt.Key.Key_K, CTRL_SHIFT)
            bar = made.window.findChild(DownloadBar)
            assert bar.isVisible() and "Argo" in bar.text.text()
            await eventually(lambda: any("whole on this computer" in n.sentence for n in notices))
            assert not bar.isVisible() and not made.actions["session.store_offline"].isEnabled()
            assert "stored offline" in listed(made)[key]
    assert missing(path, "s") == []
    async with window(tmp_path / "desk") as made:
        step = made.window.docks["step"].widget()
        for number in (1, 30, 60):
            made.cursor.move(key, number)
            await eventually(lambda n=number: step.title.text() == f"Step {n}" and "Observation" in step.text.text)
        assert "stored offline" in listed(made)[key]
        await finds(made, key)


async def test_it_waits_for_a_server_that_is_away_and_is_cancelled(qapp, tmp_path):
    with ServerProcess(tmp_path / "lab", s=long_session()) as lab:
        async with window(tmp_path / "desk") as made:
            entry = made.place.servers.add(lab.url, lab.token, "lab")
            key = key_of("s", entry.id)
            await eventually(lambda: made.desks.of(key).row(key))
            lab.kill()
            await eventually(lambda: "not connected" in made.window.status.links_text)
            made.cursor.move(key)
            made.actions["session.store_offline"].trigger()
            bar = made.window.findChild(DownloadBar)
            await eventually(lambda: "waits for the server" in bar.text.text())
            bar.cancel.setFocus()
            QTest.keyClick(bar.cancel, Qt.Key.Key_Space)
            assert not bar.isVisible() and made.actions["session.store_offline"].isEnabled()
            assert "stored offline" not in listed(made)[key]
            made.actions["session.store_offline"].trigger()
            lab.start()
            made.servers.hurry(entry.id)
            await eventually(lambda: "stored offline" in listed(made)[key])
