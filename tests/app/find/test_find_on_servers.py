"""Find in all sessions: this computer's own log and copies are searched here, other servers' logs by those servers."""

from __future__ import annotations

import contextlib

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.desktops import window
from support.eventually import eventually
from support.logs import Maker, fill
from support.server_process import ServerProcess
from support.wire import account, serving

from app.desk.session_key import key_of
from app.find.view import FindView
from app.kit import quantities
from app.window.bootstrap import Desktop
from core.store.home import Home
from core.store.schema import open_log
from core.store.search import SearchIndex
from core.store.sqlite import connect, transaction

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
        assert {hit.session for hit, _ in model.rows} == {"mine", key_of("far", entry.id)}
        assert "Of 1 session(s)" in find.partly.text()
        bodies = [name for name, data in own.blobs.items() if b"not markup" in data]
        assert bodies and not any(made.desks.local.held(name) for name in bodies), "the window never fetched them"
        find.box.clear()
        QTest.keyClicks(find.box, "not markup")
        await eventually(lambda: any(hit.session == "mine" for hit, _ in model.rows))
        made.place.servers.remove(entry.id)
        await eventually(lambda: len(made.desks.all) == 1)
        find.box.clear()
        QTest.keyClicks(find.box, "needle")
        await eventually(lambda: {h.session for h, _ in model.rows} == {"mine"})
        assert find.partly.isHidden()


def buried(seed: int, title: str, words: str) -> Maker:
    """Five steps; only the body of step 3 has the words, and so has a guidance text."""
    maker = session(seed, title)
    plain = maker.text
    for number in range(5):
        maker.text = (lambda count: f"before {words} after") if number == 2 else plain  # type: ignore[method-assign]
        maker.add_step("run_command", fails=False)
    maker.text = plain  # type: ignore[method-assign]
    maker.guide(f"mind the {words}")
    return maker


def find_panel(made: Desktop) -> FindView:
    panel = made.window.docks["find"].widget()
    assert isinstance(panel, FindView)
    return panel


async def start(made: Desktop) -> FindView:
    made.window.activateWindow()
    await eventually(made.window.isActiveWindow)
    QTest.keyClick(made.window, Qt.Key.Key_F, CTRL_SHIFT)
    await eventually(find_panel(made).box.hasFocus)
    return find_panel(made)


async def look_for(find: FindView, words: str) -> None:
    find.box.clear()
    find.box.insert(words)
    await eventually(lambda: find.count.text() not in ("", "…") or find.empty.label.text() == "Nothing found.")


def places(find: FindView) -> list[tuple[object, ...]]:
    return [(h.session, h.seq, h.where, h.ref) for h, _ in find.list.model().rows]


async def test_what_only_another_server_holds_is_found_once_and_opened(qapp, tmp_path):
    with ServerProcess(tmp_path / "lab", far=buried(3, "Lab work", "珊瑚 reef")) as lab:
        async with window(tmp_path / "desk") as made:
            lab_id = made.place.servers.add(lab.url, lab.token, "lab").id
            far = key_of("far", lab_id)
            await eventually(lambda: made.desks.of(far).row(far) is not None)
            find = await start(made)
            await look_for(find, "珊瑚")
            assert not made.desks.of(far).head(far), "nothing of the session is here"
            hits = [hit for hit, _ in find.list.model().rows]
            assert {hit.session for hit in hits} == {far} and {"thought", "guidance"} <= {hit.where for hit in hits}
            assert all(line.right.startswith("@ lab · ") and line.title == "Lab work"
                       for _, line in find.list.model().rows)
            assert find.partly.isHidden(), "all of it was searched"

            QTest.keyClick(find.box, Qt.Key.Key_Down)
            row = next(r for r, hit in enumerate(hits) if hit.where == "thought")
            find.list.setCurrentIndex(find.list.model().index(row, 0))
            QTest.keyClick(find.list, Qt.Key.Key_Return)
            assert (made.cursor.session, made.cursor.step) == (far, hits[row].step)
            step = made.window.docks["step"].widget()
            await eventually(lambda: "珊瑚" in step.text.text)

            await eventually(lambda: made.desks.of(far).head(far) == made.desks.of(far).row(far).seq)
            await look_for(find, "reef")
            assert len(places(find)) == len(set(places(find))), "the copy's hits and the server's are the same places"
            titles = [hit for hit, _ in find.list.model().rows if hit.where == "title"]
            assert not titles, "a title gives way to what the server found in the step"


async def test_a_guidance_text_of_a_session_that_was_never_opened_is_shown_when_it_came(qapp, tmp_path):
    with ServerProcess(tmp_path / "lab", far=buried(3, "Lab work", "walrus")) as lab:
        async with window(tmp_path / "desk") as made:
            made.place.servers.add(lab.url, lab.token, "lab")
            await eventually(lambda: len(made.desks.rows()) == 1)
            find = await start(made)
            await look_for(find, "walrus")
            hits = [hit for hit, _ in find.list.model().rows]
            aside: list[object] = []
            made.cursor.aside_opened.connect(lambda kind, ref: aside.append((kind, ref)))
            row = next(r for r, hit in enumerate(hits) if hit.where == "guidance")
            find.list.setFocus()
            find.list.setCurrentIndex(find.list.model().index(row, 0))
            QTest.keyClick(find.list, Qt.Key.Key_Return)
            await eventually(lambda: aside == [("guidance", hits[row].ref)])


async def test_a_server_that_is_away_is_named_and_asked_when_it_comes_back(qapp, tmp_path):
    lab = ServerProcess(tmp_path / "lab", one=buried(3, "Lab work", "walrus"))
    farm = ServerProcess(tmp_path / "farm", two=buried(4, "Farm work", "walrus"))
    with lab, farm:
        async with window(tmp_path / "desk") as made:
            one = made.place.servers.add(lab.url, lab.token, "lab").id
            two = made.place.servers.add(farm.url, farm.token, "farm").id
            await eventually(lambda: len(made.desks.rows()) == 2)
            farm.kill()
            await eventually(lambda: "farm: not connected" in made.window.status.links_text)
            find = await start(made)
            await look_for(find, "walrus")
            assert {place[0] for place in places(find)} == {key_of("one", one)}, "who is away holds up nobody"
            assert find.partly.text() == ("farm: not connected. Of 1 session(s) on other servers only what is on this "
                                          "computer is searched.")
            QTest.keyClick(find.box, Qt.Key.Key_Down)
            reading, before = find.list.currentIndex().row(), places(find)
            farm.start()
            made.servers.hurry(two)
            await eventually(lambda: key_of("two", two) in {place[0] for place in places(find)})
            assert places(find)[:len(before)] == before and find.list.currentIndex().row() == reading == 0
            await eventually(lambda: find.partly.isHidden())
            made.place.servers.remove(two)
            await eventually(lambda: len(made.desks.all) == 2)
            await look_for(find, "walrus")
            assert {place[0] for place in places(find)} == {key_of("one", one)}


async def test_older_servers_and_refusals_are_told_and_what_is_here_is_searched(qapp, tmp_path, monkeypatch):
    maker = buried(3, "Lab work", "walrus")
    async with serving(tmp_path / "lab") as server:
        await server.hub.do("far", lambda conn: fill(conn, "far", maker.bodies, maker.blobs))
        async with window(tmp_path / "desk") as made:
            monkeypatch.setattr("core.protocol.messages.CAPABILITIES", ())
            entry = made.place.servers.add(server.url, account(tmp_path / "lab", "li", "view"), "lab")
            far = key_of("far", entry.id)
            await eventually(lambda: made.desks.of(far).row(far) is not None)
            made.cursor.move(far)
            await eventually(lambda: made.desks.of(far).head(far) == made.desks.of(far).row(far).seq)
            find = await start(made)
            await look_for(find, "mind the walrus")
            assert [place[2] for place in places(find)] == ["guidance"], "as far as it is here"
            assert find.partly.text().startswith("lab: an older program, which cannot be searched. Of 1 session(s)")
            monkeypatch.undo()
            made.place.servers.add(server.url, account(tmp_path / "lab", "wang", "guide"), "lab")
            await eventually(lambda: made.servers.desk(entry.id).client.status.name == "wang")
            await look_for(find, "mind the walrus")
            assert find.partly.text().startswith("lab: your token may not search there.")


async def test_a_server_that_has_not_read_all_of_its_log_is_asked_again(qapp, tmp_path):
    with ServerProcess(tmp_path / "lab", far=buried(3, "Lab work", "walrus")) as lab:
        SearchIndex(lab.home.search_db).close()
        async with window(tmp_path / "desk") as made:
            entry = made.place.servers.add(lab.url, lab.token, "lab")
            far = key_of("far", entry.id)
            await eventually(lambda: made.desks.of(far).row(far) is not None)
            find = await start(made)
            with contextlib.closing(connect(lab.home.search_db)) as other:
                with transaction(other):  # somebody else writes the index: the server has to wait
                    find.box.insert("walrus")
                    await eventually(find.partly.text)
                    await eventually(lambda: "Asking" not in find.partly.text())
                    count = quantities.number(made.desks.of(far).row(far).seq)
                    assert find.partly.text() == f"lab has yet to read {count} of its events." and not places(find)
                await eventually(lambda: far in {place[0] for place in places(find)})
            assert find.partly.isHidden()
