"""Two programs that want one home's log at the same moment: one writes, the other waits or finds the server."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from support.recipes import textcraft  # noqa: F401 - a fixture

from core.cli.private_server import served
from core.server.ownership import hold, hold_or_find, own
from core.store import accounts
from core.store.endpoint import Endpoint, serving, write_endpoint
from core.store.home import Home
from core.store.lock import FileLock, holder
from core.store.schema import open_log

ROOT = Path(__file__).parents[3]


@pytest.mark.usefixtures("textcraft")
def test_two_roll_outs_that_begin_together_are_both_played(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "core.cli", "--home", str(tmp_path / "home"), "rollout", "textcraft", "--plan"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT, text=True)
            for _ in range(2)]
    assert [(one.communicate()[0].splitlines()[-1][:10], one.returncode) for one in both] == [("1 roll-out", 0)] * 2


def test_commands_that_start_a_server_together_share_one(tmp_path: Path) -> None:
    home, together = Home(tmp_path), threading.Barrier(2)

    def work(_: int) -> str:
        together.wait()
        with served(home) as url:
            together.wait()
            return url

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(work, range(2))
    assert first == second


def test_what_a_server_said_that_ended_is_not_taken_for_the_holders_word(tmp_path: Path) -> None:
    home, notes = Home(tmp_path), []
    with subprocess.Popen([sys.executable, "-c", "from core.store.endpoint import *; import sys; "
                           "write_endpoint(Home(sys.argv[1]), 'ws://127.0.0.1:9')", str(tmp_path)], cwd=ROOT) as ended:
        assert ended.wait() == 0
    lock = hold(home)
    assert serving(home) is None

    async def scenario() -> FileLock | Endpoint:
        asyncio.get_running_loop().call_later(1.3, lock.release)
        return await hold_or_find(home, on_wait=notes.append)

    found = asyncio.run(scenario())
    assert isinstance(found, FileLock)
    assert holder(home.server_lock) is not None
    assert [note.endswith(f"writes the log of {tmp_path}: waiting until it is done.") for note in notes] == [True]
    write_endpoint(home, "ws://127.0.0.1:9")
    assert asyncio.run(hold_or_find(home)) == serving(home)
    found.release()
    assert (holder(home.server_lock), serving(home)) == (None, None)


@pytest.mark.parametrize(("login", "name"), [("li", "li"), ("LAB\\li", "li"), ("../x", "x"), ("$(x)", "admin")])
def test_who_is_logged_in_with_an_odd_name_can_start_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                              login: str, name: str) -> None:
    monkeypatch.setattr("core.server.ownership.getpass.getuser", lambda: login)
    with closing(open_log(tmp_path / "server.db")) as conn:
        own(conn, Home(tmp_path))
        assert [one.name for one in accounts.accounts(conn)] == [name]
