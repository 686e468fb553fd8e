"""Which sandboxes stay when the server starts."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from core.server.sweep import existing_sessions, remove_orphans
from core.store import log
from core.store.home import Home
from core.store.schema import open_log
from core.store.sqlite import transaction


def test_a_session_that_only_a_runner_s_folder_knows_is_kept(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with contextlib.closing(open_log(home.server_db)) as conn:
        with transaction(conn):
            log.create(conn, "in-the-log")
        (home.sessions / "restored-away").mkdir()
        assert existing_sessions(home, conn) == {"in-the-log", "restored-away"}


def test_without_an_engine_the_server_starts_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:9")
    home = Home(tmp_path)
    with contextlib.closing(open_log(home.server_db)) as conn:
        asyncio.run(remove_orphans(home, conn))
