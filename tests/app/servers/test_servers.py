"""Several servers in one window: one list, own outboxes, one killed and restarted; added, renamed, left, taken off."""

from __future__ import annotations

import contextlib
import stat

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QMessageBox
from support.desktops import listed, window
from support.eventually import eventually
from support.logs import Maker
from support.server_process import ServerProcess

from app.desk.servers import Servers, address_of
from app.desk.session_key import key_of
from app.servers.dialog import ServersDialog
from app.window.bootstrap import Desktop, parse
from core.domain.deep_link import parse_link
from core.domain.errors import InvalidInput
from core.domain.events import GuidanceQueued, decode_event
from core.store import log
from core.store.sqlite import connect


def session(seed: int, title: str, steps: int) -> Maker:
    maker = Maker(seed, title)
    for _ in range(steps):
        maker.add_step("run_command", fails=False)
    return maker


def guidance_at(server: ServerProcess, name: str) -> list[str]:
    with contextlib.closing(connect(server.home.server_db, readonly=True)) as conn:
        facts = [decode_event(p.body).fact for p in log.read_all(conn, name)]
    return [f.text for f in facts if isinstance(f, GuidanceQueued)]


def dialog_of(made: Desktop) -> ServersDialog:
    made.actions["file.servers"].trigger()
    return next(d for d in made.window.findChildren(ServersDialog) if d.isVisible())


def write(made: Desktop, text: str) -> None:
    box = made.window.docks["guidance"].widget().box
    box.setFocus()
    QTest.keyClicks(box, text)
    QTest.keyClick(box, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)


async def test_two_servers_in_one_window_one_killed_and_restarted(qapp, tmp_path):
    """Both hold a session of the same name: server and id together say which."""
    lab = ServerProcess(tmp_path / "lab", same=session(1, "Lab work", 3), only=session(2, "Only here", 2))
    farm = ServerProcess(tmp_path / "farm", same=session(3, "Farm work", 5))
    with lab, farm:
        async with window(tmp_path / "desk") as made:
            dialog = dialog_of(made)
            for server, name in ((lab, "lab"), (farm, "farm")):
                dialog.address.setFocus()
                QTest.keyClicks(dialog.address, server.url)
                QTest.keyClicks(dialog.token, server.token)
                QTest.keyClicks(dialog.new_name, name)
                QTest.keyClick(dialog.new_name, Qt.Key.Key_Return)
            dialog.reject()
            one, two = (e.id for e in made.place.servers.all)
            await eventually(lambda: len(listed(made)) == 3)
            told = listed(made)
            assert "Lab work" in told[key_of("same", one)] and "@ lab" in told[key_of("same", one)]
            assert "5 step(s)" in told[key_of("same", two)] and "@ farm" in told[key_of("same", two)]
            await eventually(lambda: made.window.status.links_text.count("connected") == 2)
            assert made.window.status.links_text.startswith("● lab: connected")

            made.cursor.move(key_of("same", two), 5)
            step = made.window.docks["step"].widget()
            await eventually(lambda: "Observation" in step.text.text)
            lab.kill()
            await eventually(lambda: "lab: not connected" in made.window.status.links_text)
            made.cursor.move(key_of("same", one))
            write(made, "for the lab")
            await eventually(lambda: made.window.status.waiting.text() == "1 waiting to be delivered")
            made.cursor.move(key_of("same", two))
            write(made, "for the farm")
            await eventually(lambda: guidance_at(farm, "same") == ["for the farm"])
            assert "farm: connected" in made.window.status.links_text, "a server that is down holds up nobody"
            lab.start()
            made.servers.hurry(one)
            await eventually(lambda: guidance_at(lab, "same") == ["for the lab"])
            await eventually(lambda: not made.window.status.waiting.text())
            assert guidance_at(farm, "same") == ["for the farm"]


async def test_a_server_is_renamed_left_reached_again_and_taken_off_the_list(qapp, tmp_path):
    with ServerProcess(tmp_path / "lab", s=session(1, "Lab work", 3)) as lab:
        async with window(tmp_path / "desk") as made:
            made.place.servers.add(lab.url, lab.token)
            await eventually(lambda: listed(made))
            dialog = dialog_of(made)
            entry = made.place.servers.all[0]
            dialog.select(entry.id)
            dialog.name.setFocus()
            dialog.name.selectAll()
            QTest.keyClicks(dialog.name, "the lab")
            QTest.keyClick(dialog.name, Qt.Key.Key_Return)
            assert made.place.servers.all[0].name == "the lab"
            assert "@ the lab" in listed(made)[key_of("s", entry.id)]
            dialog.on.setFocus()
            QTest.keyClick(dialog.on, Qt.Key.Key_Space)
            assert "the lab: offline, as you chose" in made.window.status.links_text
            assert not dialog.why.text()
            assert listed(made), "the copy stays"
            QTest.keyClick(dialog.on, Qt.Key.Key_Space)
            await eventually(lambda: "the lab: connected" in made.window.status.links_text)
            made.cursor.move(key_of("s", entry.id))
            dialog.off.click()
            await eventually(lambda: dialog.findChildren(QMessageBox))
            box = dialog.findChildren(QMessageBox)[0]
            box.buttons()[0].click()
            await eventually(lambda: not made.place.servers.all and not listed(made))
            assert made.cursor.session == ""
            dialog.address.setText("lab.example:9")
            dialog.add.click()
            await eventually(lambda: dialog.why.text())  # the sentence of what is wrong with the chosen server
            made.place.servers.remove(made.place.servers.all[0].id)
            await eventually(lambda: not made.place.servers.all)
            dialog.address.setText("not an address")
            dialog.add.click()
            assert "no address of a server" in dialog.problem.text()
            dialog.done(QDialog.DialogCode.Rejected)
        async with window(tmp_path / "desk") as made:
            assert not listed(made)
            entry = made.place.servers.add(lab.url, lab.token)
            assert "3 step(s)" in listed(made)[key_of("s", entry.id)], "the copy comes back"


async def test_a_link_reopens_server_session_step_panel_filters_and_words(qapp, tmp_path):
    mixed = session(1, "Lab work", 3)
    mixed.add_step("edit_file", fails=False)
    mixed.add_step("edit_file", fails=True)
    with ServerProcess(tmp_path / "lab", s=mixed) as lab:
        async with window(tmp_path / "one") as made:
            entry = made.place.servers.add(lab.url, lab.token)
            await eventually(lambda: made.desks.of(key_of("s", entry.id)).row(key_of("s", entry.id)))
            made.cursor.move(key_of("s", entry.id))
            await eventually(lambda: made.place.sight.trajectory.row.steps == 5)
            steps = made.window.docks["trajectory"].widget()
            made.actions["go.filter"].setChecked(True)
            tool = steps.filters.boxes["tool"]
            tool.setCurrentIndex(tool.findData("edit_file"))
            tool.activated.emit(tool.currentIndex())
            QTest.keyClicks(steps.find_box, "edit")
            made.cursor.to_step(5)
            made.window.docks["guidance"].widget().box.setFocus()
            made.actions["go.copy_link"].trigger()
            link = QGuiApplication.clipboard().text()
        told = parse_link(link)
        assert (told.session, told.step, told.panel, told.server) == ("s", 5, "guidance", lab.url)
        assert told.view == {"tool": "edit_file", "find": "edit"}
        async with window(tmp_path / "two") as made:
            made.take_over(parse([link]).as_request(""))
            dialog = next(d for d in made.window.findChildren(ServersDialog) if d.isVisible())
            assert dialog.address.text() == lab.url, "a server that is not on the list is offered, not connected"
            assert not made.place.servers.all
            QTest.keyClicks(dialog.token, lab.token)
            QTest.keyClick(dialog.token, Qt.Key.Key_Return)
            dialog.reject()
            made.take_over(parse([link]).as_request(""))
            await eventually(lambda: made.cursor.session and made.place.sight.trajectory.row.steps == 5)
            assert made.cursor.session == key_of("s", made.place.servers.all[0].id) and made.cursor.step == 5
            steps = made.window.docks["trajectory"].widget()
            await eventually(lambda: steps.find_box.text() == "edit")
            assert steps.filters.facets.tool == "edit_file"
            assert steps.list.model().rowCount() == 2


async def test_servers_and_what_was_seen_of_them_come_back_without_a_network(qapp, tmp_path):
    with ServerProcess(tmp_path / "lab", s=session(1, "Lab work", 3)) as lab:
        token = tmp_path / "token"
        token.write_text(lab.token)
        async with window(tmp_path / "desk", "--server", lab.url, "--session", "s") as made:
            assert made.cursor.session == key_of("s", made.place.servers.all[0].id)
            await eventually(lambda: "refused by the server" in made.window.status.links_text)
            made.place.servers.add(lab.url, lab.token)
            await eventually(lambda: made.place.sight.trajectory.row.steps == 3)
    async with window(tmp_path / "desk") as made:
        assert made.cursor.session == key_of("s", made.place.servers.all[0].id)
        assert made.place.sight.trajectory.row.steps == 3


def test_the_list_of_servers_is_private_and_a_damaged_one_is_put_aside(tmp_path):
    path = tmp_path / "servers.json"
    servers = Servers(path)
    entry = servers.add("Lab.Example:7000", "secret ")
    assert (entry.url, entry.name, entry.token) == ("wss://lab.example:7000", "lab.example", "secret")
    assert servers.add("wss://lab.example:7000", "") == entry, "the same server, its token kept"
    pinned = servers.add("lab.example:7000#sha256=" + 64 * "a", "")
    assert (pinned.id, pinned.address, pinned.token) == (entry.id, entry.address, "secret"), "the same server"
    entry = pinned
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Servers(path).all == (entry,)
    path.write_text("[{")
    broken = Servers(path)
    assert broken.all == () and "put aside" in broken.problem
    assert path.with_suffix(".damaged").read_text() == "[{"


@pytest.mark.parametrize(("told", "meant"), [
    ("lab.example", "wss://lab.example:7717"), ("localhost:9", "ws://localhost:9"), ("127.0.0.1", "ws://127.0.0.1:7717"),
    ("https://lab.example/", "wss://lab.example"), ("ws://[::1]:7", "ws://[::1]:7"), ("wss://h:1/tiphys/", "wss://h:1/tiphys"),
    ("lab:1#sha256=AB", "wss://lab:1#sha256=AB")])
def test_an_address_is_understood(told, meant):
    assert address_of(told) == meant


@pytest.mark.parametrize("told", ["", "   ", "ftp://x", "ws://", "a b", "ws://u:p@h", "ws://h:99999"])
def test_what_is_no_address_is_refused(told):
    with pytest.raises(InvalidInput):
        address_of(told)
