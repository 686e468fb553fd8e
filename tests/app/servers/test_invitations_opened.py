"""An invitation is opened from a link, a file, a dialog or the command line: one question, and the server is there."""

from __future__ import annotations

import contextlib
from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QMessageBox
from support.desktops import listed, window
from support.eventually import eventually
from support.logs import Maker
from support.server_process import ServerProcess

from app.servers.dialog import ServersDialog
from app.window.bootstrap import Desktop, parse
from app.window.instance import OpenRequest
from core.domain.invitation import Invitation
from core.store import accounts, invitations
from core.store.sqlite import connect, transaction


def work() -> Maker:
    maker = Maker(1, "Lab work")
    maker.add_step("run_command", fails=False)
    return maker


def invited(server: ServerProcess, name: str = "李") -> Invitation:
    with contextlib.closing(connect(server.home.server_db)) as conn, transaction(conn):
        token = invitations.invite(conn, name, ["view", "review"], timedelta(days=1))
    return Invitation(server=server.url, name=name, token=token)


def question(made: Desktop) -> QMessageBox | None:
    return next((b for b in made.window.findChildren(QMessageBox) if b.isVisible()), None)


async def answer(made: Desktop, yes: bool) -> str:
    await eventually(lambda: question(made) is not None)
    box = question(made)
    text = box.text()
    role = QMessageBox.ButtonRole.AcceptRole if yes else QMessageBox.ButtonRole.RejectRole
    button = next(b for b in box.buttons() if box.buttonRole(b) is role)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    await eventually(lambda: question(made) is None)
    return text


def by_link(made: Desktop, invitation: Invitation, folder: Path) -> None:
    made.take_over(OpenRequest(files=[str(invitation)]))


def by_command_line(made: Desktop, invitation: Invitation, folder: Path) -> None:
    request = parse([str(invitation)]).as_request("")
    request.check()
    made.go(request)


def by_file(made: Desktop, invitation: Invitation, folder: Path) -> None:
    path = folder / "li.tiphys-invitation"
    path.write_text(f"{invitation}\n")
    made.window.files_dropped.emit([str(path)])


def by_drop(made: Desktop, invitation: Invitation, folder: Path) -> None:
    made.window.link_dropped.emit(str(invitation))


def by_dialog(made: Desktop, invitation: Invitation, folder: Path) -> None:
    made.actions["file.servers"].trigger()
    dialog = next(d for d in made.window.findChildren(ServersDialog) if d.isVisible())
    assert dialog.focusWidget() is dialog.address, "there is no server yet: the first word goes into the address"
    assert dialog.add.text() == "Add" and dialog.token.isEnabled()
    dialog.address.setText(f" {invitation}")
    assert dialog.add.text() == "Join…" and not dialog.token.isEnabled(), "an invitation brings its own token"
    QTest.keyClick(dialog.address, Qt.Key.Key_Return)


def by_go_to(made: Desktop, invitation: Invitation, folder: Path) -> None:
    made.actions["go.link"].trigger()
    dialog = next(d for d in made.window.findChildren(QDialog) if d.isVisible() and hasattr(d, "box"))
    dialog.box.setText(str(invitation))
    QTest.keyClick(dialog.box, Qt.Key.Key_Return)


@pytest.mark.parametrize("opened", [by_link, by_command_line, by_file, by_drop, by_dialog, by_go_to])
async def test_wherever_it_is_opened_one_yes_is_all(qapp, tmp_path, opened):
    with ServerProcess(tmp_path / "lab", s=work()) as lab:
        async with window(tmp_path / "desk") as made:
            opened(made, invited(lab), tmp_path)
            assert "李" in await answer(made, True)
            await eventually(lambda: any("Lab work" in text for text in listed(made).values()))
            entry, = made.place.servers.all
            with contextlib.closing(connect(lab.home.server_db, readonly=True)) as conn:
                assert accounts.principal(conn, entry.token).name == "李"


async def test_who_says_no_keeps_the_invitation_and_a_used_one_is_refused(qapp, tmp_path):
    with ServerProcess(tmp_path / "lab", s=work()) as lab:
        async with window(tmp_path / "desk") as made:
            told = []
            made.place.notices.posted.connect(told.append)
            invitation = invited(lab)
            by_link(made, invitation, tmp_path)
            await answer(made, False)
            assert made.place.servers.all == ()
            by_link(made, invitation, tmp_path)
            await answer(made, True)
            await eventually(lambda: made.place.servers.all)
            token = made.place.servers.all[0].token
            by_link(made, invitation, tmp_path)
            assert "replaced" in question_detail(made) if question(made) else True
            await answer(made, True)
            await eventually(lambda: any("used already" in n.sentence for n in told))
            assert made.place.servers.all[0].token == token, "the token that works stays"


def question_detail(made: Desktop) -> str:
    return question(made).informativeText()


async def test_what_is_no_invitation_is_said(qapp, tmp_path):
    async with window(tmp_path / "desk") as made:
        told = []
        made.place.notices.posted.connect(told.append)
        made.go(OpenRequest(files=["tiphys://join?server=x"]))
        await eventually(lambda: any("no invitation" in n.sentence for n in told))
        assert question(made) is None
