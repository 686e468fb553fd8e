"""Find in all sessions: of this computer's own server the log itself is searched, of others what is here."""

from __future__ import annotations

import contextlib

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.desktops import window
from support.eventually import eventually
from support.logs import Maker, fill

from app.session_key import key_of
from core.store.home import Home
from core.store.schema import open_log
from core.store.sqlite import transaction

CTRL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


def session(seed: int, title: str) -> Maker:
    maker = Maker(seed, title)
    maker.guide(f"a needle for {title}")
    for _ in range(14):
        maker.add_step(fails=False)
    return maker


def put(path, **sessions: Maker) -> None:
    with contextlib.closing(open_log(path)) as conn, transaction(conn):
        for name, maker in sessions.items():
            fill(conn, name, maker.bodies, maker.blobs)


async def test_the_own_servers_log_and_the_copies_of_others_are_searched(qapp, tmp_path):
    home = Home(tmp_path)
    own, other = session(1, "mine"), session(2, "elsewhere")
    put(home.server_db, mine=own)
    async with window(tmp_path) as made:
        entry = made.place.servers.add("ws://127.0.0.1:9", "token", "lab")
        desk = made.servers.desk(entry.id)
        desk.replica._writer.do_blocking(lambda conn: fill(conn, "far", other.bodies, other.blobs))
        find = made.window.docks["find"].widget()
        made.window.activateWindow()
        await eventually(made.window.isActiveWindow)
        QTest.keyClick(made.window, Qt.Key.Key_F, CTRL_SHIFT)
        await eventually(find.box.hasFocus)
        QTest.keyClicks(find.box, "needle")
        await eventually(lambda: find.list.model().rowCount() >= 2)
        model = find.list.model()
        assert {hit.session for hit, _ in model.entries} == {"mine", key_of("far", entry.id)}
        assert "Of 1 session(s)" in find.partly.text()
        bodies = [name for name, data in own.blobs.items() if b"not markup" in data]
        assert bodies and not any(made.desk.local.held(name) for name in bodies), "the window never fetched them"
        find.box.clear()
        QTest.keyClicks(find.box, "not markup")
        await eventually(lambda: any(hit.session == "mine" for hit, _ in model.entries))
        made.place.servers.remove(entry.id)
        await eventually(lambda: len(made.desk.all) == 1)
        find.box.clear()
        QTest.keyClicks(find.box, "needle")
        await eventually(lambda: {h.session for h, _ in model.entries} == {"mine"})
        assert find.partly.isHidden()
