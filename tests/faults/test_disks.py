"""Disks that are full, cannot be written, or fail to sync: what was acknowledged is there, the rest is sent again."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from support.full_disk import fill_up, mounted
from support.power import Connection
from support.wire import admin_token, bodies_of, running_client, serving, until

from core.domain.errors import ReportableError, Unavailable
from core.domain.events import GuidanceQueued, decode_event
from core.domain.task import Task
from core.protocol.operations import CreateSession, Guide
from core.store import log
from core.store.backup import damage
from core.store.schema import open_log
from core.store.sqlite import connect, driver
from core.store.writer import Writer


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "disk") as place:
        yield place


def test_a_full_disk_of_the_server_refuses_nothing_for_good(small_disk: Path, tmp_path: Path) -> None:
    names = [f"g{n}" for n in range(60)]

    async def scenario() -> None:
        home = small_disk / "home"
        async with (
            serving(home) as server,
            running_client(tmp_path / "r.db", server.url, admin_token(home), "s") as client,
        ):
            await client.answer(await client.send("s", CreateSession(task=Task(id="t", title="T", description="d"))))
            for name in names[:20]:
                await client.send("s", Guide(guidance=name, text="x" * 5000))
            ballast = fill_up(small_disk)
            for name in names[20:]:
                await client.send("s", Guide(guidance=name, text="x" * 5000))
            await until(lambda: client.status.state != "online", "the server says that it cannot store")
            assert client.replica.waiting(), "nothing is acknowledged that is not stored"
            ballast.unlink()
            client.hurry()
            await until(lambda: not client.replica.waiting() and client.replica.head("s") == len(names) + 1, seconds=60)
        with contextlib.closing(connect(home / "server.db", readonly=True)) as conn:
            facts = [decode_event(p.body).fact for p in log.read_all(conn, "s")]
            assert damage(conn) == ""
        assert [f.guidance for f in facts if isinstance(f, GuidanceQueued)] == names

    asyncio.run(scenario())


def test_a_disk_that_cannot_be_written_is_told_in_a_sentence(small_disk: Path) -> None:
    open_log(small_disk / "server.db").close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(Unavailable) as told:
        Writer(small_disk / "server.db")
    assert "server.db" in told.value.sentence

    async def serve() -> None:
        async with serving(small_disk / "home"):
            pass

    with pytest.raises(ReportableError):
        asyncio.run(serve())


class BrokenDisk(apsw.VFS):
    """A disk whose syncs fail from the n-th on, until it is mended."""

    def __init__(self, fails_from: int) -> None:
        self.left = fails_from
        self.mended = False
        self.vfs = f"broken-{id(self)}"
        super().__init__(self.vfs, "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        """Open a file of this disk."""
        return _File(self, name, flags)


class _File(apsw.VFSFile):
    def __init__(self, disk: BrokenDisk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        super().__init__("", name, flags)

    def xSync(self, flags: int) -> None:
        self._disk.left -= 1
        if self._disk.left < 0 and not self._disk.mended:
            raise apsw.exceptionfor(apsw.SQLITE_IOERR_FSYNC)
        super().xSync(flags)


class _Translated(Connection):
    """Fails with the errors of the program's own driver."""

    def execute(self, sql: str, values: Any = ()) -> Any:
        try:
            return super().execute(sql, values)
        except apsw.Error as error:
            failure = driver.OperationalError(str(error))
            failure.sqlite_errorcode = error.result  # type: ignore[attr-defined]
            raise failure from error


def test_what_a_failing_sync_left_unacknowledged_is_never_told_as_stored(tmp_path: Path) -> None:
    [body] = bodies_of(1, size=2000)
    refused = 0
    for fails_from in range(0, 12):
        path = tmp_path / f"{fails_from}.db"
        open_log(path).close()
        disk = BrokenDisk(fails_from)
        acked: list[int] = []
        writer = Writer(path, lambda p, disk=disk: _Translated(p, disk))
        with contextlib.suppress(Unavailable):
            writer.do_blocking(lambda conn: log.create(conn, "s"))
        for n in range(20):
            disk.mended = n >= 10
            try:
                writer.do_blocking(lambda conn: log.create(conn, "s"))
                acked.append(writer.do_blocking(lambda conn: log.append(conn, "s", [body])))
            except Unavailable:
                refused += 1
        writer.close()
        conn = open_log(path)
        assert damage(conn) == "" and log.head(conn, "s") == len(list(log.read_all(conn, "s"))) >= max(acked)
        assert acked == sorted(set(acked)) and len(acked) >= 10, "a mended disk is used again"
        conn.close()
    assert refused > 20
