"""Links are registered for one person, with the very program that runs."""

from __future__ import annotations

import configparser
import shlex
import stat
import sys
from pathlib import Path

import pytest


@pytest.fixture
def desktop_tools(tmp_path, monkeypatch):
    """Stand-ins for the desktop's own tools, which note how they were called."""
    folder = tmp_path / "bin"
    folder.mkdir()
    calls = tmp_path / "calls"
    for name in ("update-desktop-database", "update-mime-database", "xdg-mime"):
        tool = folder / name
        tool.write_text(f'#!/bin/sh\necho "{name} $*" >> {calls}\n')
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return calls


def test_the_entry_names_this_program_and_the_desktop_is_told(tiphys, tmp_path, monkeypatch, desktop_tools):
    data = tmp_path / "of mine"
    monkeypatch.setenv("XDG_DATA_HOME", str(data))
    entry = data / "applications" / "tiphys.desktop"
    assert tiphys("register-links", "--json").one == {"file": str(entry)}
    config = configparser.ConfigParser(interpolation=None)
    config.optionxform = str
    config.read(entry, encoding="utf-8")
    words = shlex.split(config["Desktop Entry"]["Exec"])
    assert words[0].startswith(sys.prefix) and words[-2:] == ["open", "%U"]
    assert config["Desktop Entry"]["MimeType"].startswith("x-scheme-handler/tiphys;application/x-tiphys-invitation;")
    assert desktop_tools.read_text().splitlines() == [
        f"update-desktop-database -q {entry.parent}", f"update-mime-database {data / 'mime'}",
        "xdg-mime default tiphys.desktop x-scheme-handler/tiphys"]
    packaged = Path(__file__).parents[3] / "resources"
    assert (data / "mime/packages/tiphys.xml").read_text() == (packaged / "tiphys-mime.xml").read_text()
    assert entry.read_text().split("MimeType")[1] == (packaged / "tiphys.desktop").read_text().split("MimeType")[1]
    assert tiphys("register-links").out.strip() == str(entry), "again, without harm"


def test_a_folder_that_cannot_be_written_is_named(tiphys, tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(file))
    ran = tiphys("register-links")
    assert ran.status == 1 and "cannot be written" in ran.err
