"""What an administrator sets for everybody: below a person's own choice, above the defaults, fixed where it may be."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.desktops import window
from support.eventually import eventually

from app.desk.central import LabServer, central_file, read_central
from app.desk.settings import Settings
from app.window.settings_dialog import SettingsDialog

TEXT = """
fixed = ["review.blind", "guidance.templates", "appearance.text_size", "no.such"]
[guidance]
templates = "Look again.\\nStop."
[review]
blind = true
advance = true
[sessions]
order = "name"
[nonsense]
key = 1
[[servers]]
url = "wss://lab.example:7717"
name = "lab"
"""


def settings(folder: Path, text: str, own: str = "") -> Settings:
    (folder / "desktop.toml").write_text(text)
    (folder / "settings.toml").write_text(own)
    return Settings(folder / "settings.toml", central=read_central(folder / "desktop.toml"))


def test_a_persons_own_wins_but_for_what_is_fixed(qapp, tmp_path):
    made = settings(tmp_path, TEXT, "[review]\nblind = false\nadvance = false\n[sessions]\nnotify = false\n")
    assert made.get("review.blind") is True and made.is_fixed("review.blind")
    assert made.get("review.advance") is False and not made.is_fixed("review.advance")
    assert made.text("sessions.order") == "name" and made.get("sessions.notify") is False
    assert made.text("guidance.templates") == "Look again.\nStop."
    with pytest.raises(ValueError, match=r"review\.blind"):
        made.set("review.blind", False)
    assert made.lab_servers == (LabServer(url="wss://lab.example:7717", name="lab"),)


def test_what_cannot_be_set_or_fixed_is_said(qapp, tmp_path):
    problems = "\n".join(settings(tmp_path, TEXT).problems)
    assert "nonsense.key" in problems and "no.such" in problems and "appearance.text_size" in problems


def test_the_default_can_be_chosen_against_the_administrators_and_comes_back(qapp, tmp_path):
    made = settings(tmp_path, TEXT)
    made.set("sessions.order", "begun")
    assert "order" in (tmp_path / "settings.toml").read_text()
    again = settings(tmp_path, TEXT, (tmp_path / "settings.toml").read_text())
    assert again.text("sessions.order") == "begun"
    again.set("sessions.order", "name")
    assert "order" not in (tmp_path / "settings.toml").read_text(), "the administrator's is no choice of the person's"


@pytest.mark.parametrize("text", ["= x", "fixed = 'all'", "[[servers]]\naddress = 'x'", "servers = 1",
                                  "x = " + "[" * 9999])
def test_a_file_that_cannot_be_read_keeps_nobody_out(qapp, tmp_path, text):
    made = settings(tmp_path, text)
    assert any("desktop.toml" in problem for problem in made.problems)
    assert made.get("review.blind") is False


def test_without_a_file_all_is_as_ever(qapp, tmp_path, monkeypatch):
    assert read_central(tmp_path / "none.toml") == read_central(Path("/nonexistent/x"))
    monkeypatch.setenv("TIPHYS_DESKTOP_SETTINGS", str(tmp_path / "other.toml"))
    assert central_file() == tmp_path / "other.toml"


async def test_the_dialog_shows_what_is_fixed_and_lets_nobody_change_it(qapp, tmp_path):
    async with window(tmp_path / "desk") as made:
        dialog = SettingsDialog(settings(tmp_path, TEXT), made.window)
        dialog.open()
        await eventually(dialog.isVisible)
        fixed = [w for w in dialog.findChildren(type(dialog.pages).__mro__[1]) if "administrator" in w.toolTip()]
        assert len(fixed) == 2 and not any(w.isEnabled() for w in fixed)
        dialog.reject()
