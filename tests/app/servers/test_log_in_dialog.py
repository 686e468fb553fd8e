"""Logging in by the lab's accounts from the window: the code is shown, and entered at a real provider."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from support import glewlwyd
from support.desktops import window
from support.eventually import eventually
from support.wire import serving

from app.servers.dialog import ServersDialog
from app.servers.log_in import LogInController
from core.server.id_tokens import rules_of
from core.store import accounts


def asked_in(made) -> ServersDialog:
    made.actions["file.servers"].trigger()
    return next(d for d in made.window.findChildren(ServersDialog) if d.isVisible())


async def test_the_code_of_the_window_is_entered_at_the_provider_and_the_server_is_listed(qapp, tmp_path):
    with glewlwyd.running(tmp_path) as provider:
        rules = rules_of(provider.issuer, glewlwyd.CLIENT, "openid", "preferred_username", "groups",
                         ("lab=reviewer",), 1)
        async with serving(tmp_path / "lab", log_in=rules) as lab, window(tmp_path / "desk") as made:
            dialog, log_in = asked_in(made), made.window.findChild(LogInController)
            dialog.address.setText(lab.url)
            QTest.mouseClick(dialog.log_in, Qt.MouseButton.LeftButton)
            await eventually(lambda: log_in.dialog is not None)
            shown = log_in.dialog
            QTest.mouseClick(shown.copy, Qt.MouseButton.LeftButton)
            code = QApplication.clipboard().text()
            assert code == shown.code.text() and shown.place.text().startswith(provider.root)
            await asyncio.to_thread(provider.agree, f"{shown.place.text()}?code={code}")
            await eventually(lambda: made.place.desks.all[1:] and made.place.desks.all[1].link.state == "online")
            assert log_in.dialog is None and dialog.server == made.place.servers.all[0].id
            token = made.place.servers.all[0].token
            assert accounts.principal(lab.hub.reader, token).name == glewlwyd.PERSON
            QTest.mouseClick(dialog.again, Qt.MouseButton.LeftButton)
            await eventually(lambda: log_in.dialog is not None)
            log_in.dialog.reject()
            await eventually(lambda: log_in.dialog is None)
            assert made.place.servers.all[0].token == token, "who closes the code's window logs in no more"


async def test_a_server_without_such_a_log_in_says_so_where_it_was_asked(qapp, tmp_path):
    async with serving(tmp_path / "lab") as lab, window(tmp_path / "desk") as made:
        dialog = asked_in(made)
        assert not dialog.log_in.isEnabled()
        dialog.address.setText(lab.url)
        QTest.mouseClick(dialog.log_in, Qt.MouseButton.LeftButton)
        await eventually(lambda: "offers no log-in" in dialog.problem.text())
        assert made.place.servers.all == ()
