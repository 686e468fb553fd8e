"""Backups by a timer: the newest few stay, foreign files too, and a drill proves that they can be restored."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.logs import Maker, fill

from core.domain.errors import NotFound
from core.store.backup import backups, newest, rotate
from core.store.home import Home
from core.store.schema import open_log
from core.store.sqlite import transaction

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    maker = Maker(1, "Work")
    maker.add_step("run_command", fails=False)
    with contextlib.closing(open_log(made.server_db)) as conn, transaction(conn):
        fill(conn, "s", maker.bodies, maker.blobs)
    return made


def test_the_oldest_go_and_what_is_no_backup_stays(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    for name in ("tiphys-20200101T000000Z.db", "tiphys-20210101T000000Z.db", "tiphys-notes.db", "mine.db"):
        (folder / name).write_text("x")
    with contextlib.closing(open_log(home.server_db)) as conn:
        made, removed = rotate(conn, folder, 2)
    assert [p.name for p in removed] == ["tiphys-20200101T000000Z.db"]
    assert backups(folder) == [made, folder / "tiphys-20210101T000000Z.db"] and newest(folder) == made
    assert (folder / "tiphys-notes.db").exists() and (folder / "mine.db").exists()
    with pytest.raises(NotFound):
        newest(tmp_path)


def tiphys(home: Home, *arguments: str) -> dict:
    env = {**os.environ, "TIPHYS_HOME": str(home.path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", "core.cli", *arguments, "--json"], env=env, capture_output=True,
                          text=True, timeout=60)
    return json.loads(done.stdout or done.stderr)


def test_the_timer_backs_up_as_the_settings_say_and_the_drill_restores_it(home: Home, tmp_path: Path) -> None:
    settings = tmp_path / "server.toml"
    settings.write_text(f'backup_folder = "{tmp_path}/b"\nbackups_kept = 1\n')
    made = tiphys(home, "backup", "--rotate", "--settings", str(settings))
    assert made["file"].startswith(f"{tmp_path}/b/tiphys-")
    drilled = tiphys(home, "restore", "--drill", "--settings", str(settings))
    assert drilled == {"file": made["file"], "sessions": 1, "events": drilled["events"], "lacking": 0, "works": True}
    assert drilled["events"] > 0 and [p.name for p in (tmp_path / "b").iterdir()] == [Path(made["file"]).name]
    damaged = Path(made["file"])
    damaged.write_bytes(damaged.read_bytes()[:200_000])
    assert tiphys(home, "restore", "--drill", "--settings", str(settings))["error"]["code"] == "log_damaged"
    assert tiphys(home, "backup")["error"]["code"] == "usage"
