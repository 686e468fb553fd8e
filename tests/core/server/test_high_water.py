"""An older copy of the log that an administrator copied back by hand is another log to everybody."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from pathlib import Path

from support.wire import admin_token, bodies_of, fill, log_of, running_client, serving, until

from core.domain.task import Task
from core.protocol.operations import CreateSession, Guide
from core.server.serve import Server
from core.store import log
from core.store.backup import back_up
from core.store.home import Home
from core.store.restore import restore
from core.store.sqlite import driver

TASK = Task(id="t", title="T", description="d")


def epoch_of(server: Server) -> str:
    return log.epoch(server.hub.reader)


def copy_raw(server: Server, target: Path) -> None:
    """A copy of the file with its epoch, as `cp` makes one."""
    with contextlib.closing(driver.connect(target)) as copy:
        server.hub.reader.backup(copy)


def put_back(copy: Path, home: Path) -> None:
    for left in home.glob("server.db*"):
        left.unlink()
    shutil.copy(copy, Home(home).server_db)


def test_a_restart_keeps_the_epoch_and_a_copy_put_back_gets_another(tmp_path: Path) -> None:
    epochs: list[str] = []

    async def once(*, copy: Path | None = None) -> None:
        async with serving(tmp_path / "home") as server:
            epochs.append(epoch_of(server))
            if copy is not None:
                copy_raw(server, copy)
            await fill(server, "s", bodies_of(3))

    asyncio.run(once(copy=tmp_path / "copy.db"))
    asyncio.run(once())
    put_back(tmp_path / "copy.db", tmp_path / "home")
    asyncio.run(once())
    asyncio.run(once())
    assert epochs[0] == epochs[1] != epochs[2] == epochs[3]


def test_a_backup_that_was_restored_has_its_own_epoch_already(tmp_path: Path) -> None:
    home, copy = Home(tmp_path / "home"), tmp_path / "copy.db"

    async def once(*, backup: bool = False) -> str:
        async with serving(home.path) as server:
            if backup:
                back_up(server.hub.reader, copy)
            await fill(server, "s", bodies_of(3))
            return epoch_of(server)

    asyncio.run(once(backup=True))
    restore(copy, home.server_db)
    with contextlib.closing(driver.connect(home.server_db)) as conn:
        given = log.epoch(conn)
    assert asyncio.run(once()) == given, "one change is enough: everybody reads it anew but once"


def test_a_client_neither_mixes_the_two_logs_nor_loses_what_the_older_one_had_not(tmp_path: Path) -> None:
    home, replica = tmp_path / "home", tmp_path / "replica.db"

    async def before() -> None:
        async with serving(home) as server, running_client(replica, server.url, admin_token(home), "s") as client:
            await client.answer(await client.send("s", CreateSession(task=TASK)))
            copy_raw(server, tmp_path / "copy.db")
            await client.answer(await client.send("s", Guide(guidance="g1", text="was acknowledged")))
            await fill(server, "s", bodies_of(5))
            await until(lambda: client.replica.head("s") == 7)

    async def after() -> None:
        async with serving(home) as server:
            await fill(server, "s", bodies_of(9))  # the log is longer than the replica when that comes
            async with running_client(replica, server.url, admin_token(home), "s") as client:
                await until(lambda: "g1" in client.replica.trajectory("s").guidance)
                await until(lambda: not client.replica.waiting() and client.replica.head("s") == 11)

    asyncio.run(before())
    put_back(tmp_path / "copy.db", home)
    asyncio.run(after())
    assert log_of(replica, "s") == log_of(Home(home).server_db, "s")
