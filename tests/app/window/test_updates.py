"""The window says that a newer version is offered, and offers a restart where one was installed beneath it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox
from support.desktops import window
from support.eventually import eventually

from app.desk.central import UpdateFeed, read_central
from core.client import update_feed

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "packaging"))

import update_feed as release  # noqa: E402


async def test_a_newer_version_of_the_feed_is_told_once_it_is_believed(qapp, tmp_path, monkeypatch):
    monkeypatch.setattr(update_feed, "named", lambda program: f"{program} 1.0.0")
    key = release.new_key(tmp_path / "key.pem")
    release.sign(tmp_path, "9.1.0", tmp_path / "key.pem")
    (tmp_path / "desktop.toml").write_text(f'[updates]\nfeed = "{tmp_path}"\nkey = "{key}"\n')
    async with window(tmp_path / "desk") as made:
        told = []
        made.place.notices.posted.connect(told.append)
        made.place.settings.updates = read_central(tmp_path / "desktop.toml").updates
        await made.updates.look_into_feed()
        assert any("9.1.0" in notice.sentence and str(tmp_path) in notice.sentence for notice in told)
        told.clear()
        made.place.settings.updates = UpdateFeed(feed=str(tmp_path), key=release.new_key(tmp_path / "other.pem"))
        await made.updates.look_into_feed()
        assert [n.kind for n in told] == ["error"] and "9.1.0" not in told[0].sentence


@pytest.mark.parametrize("agrees", [True, False])
async def test_another_version_on_the_disk_is_offered_once(qapp, tmp_path, agrees):
    async with window(tmp_path / "desk") as made:
        def box() -> QMessageBox | None:
            return next((b for b in made.window.findChildren(QMessageBox) if b.isVisible()), None)

        made.updates.look_at_installed(lambda: "")
        made.updates.look_at_installed(lambda: "9.1.0")
        await eventually(lambda: box() is not None)
        assert "9.1.0" in box().text()
        role = QMessageBox.ButtonRole.AcceptRole if agrees else QMessageBox.ButtonRole.RejectRole
        QTest.mouseClick(next(b for b in box().buttons() if box().buttonRole(b) is role), Qt.MouseButton.LeftButton)
        await eventually(lambda: box() is None)
        made.updates.look_at_installed(lambda: "9.1.0")
        assert box() is None
        if agrees:
            await eventually(made.quit.is_set)
        assert (made.starts_again, made.quit.is_set()) == (agrees, agrees)
