"""What sessions that are over have left running is ended, by real daemons and containers; what works is left alone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import docker
import pytest
from support.sandboxes import need_engine
from support.wire import serving, until

from core.domain.errors import ReportableError, Unavailable
from core.domain.events import SessionCreated, SessionStateChanged, encode_event, make_event
from core.domain.task import AgentSettings, Host, Task
from core.domain.verdict import Author
from core.protocol.operations import DeleteSession
from core.sandbox.installation import home_label
from core.sandbox.kinds import SandboxKind, open_sandbox
from core.sandbox.sandbox import Sandbox
from core.server import leftovers
from core.server.authority import Authority
from core.store import log, tombstones
from core.store.home import Home
from core.store.lock import FileLock
from core.store.schema import open_log
from core.store.sqlite import transaction

KINDS = [pytest.param("docker", marks=pytest.mark.docker), "local"]
SERVER = Author(kind="server", name="server")


def session_in(home: Home, name: str, state: str) -> Path:
    """A live session of that state in a home's log, with its folder."""
    facts = [SessionCreated(task=Task(id="t", title="T", description="d"), agent=AgentSettings()),
             SessionStateChanged(state=state, reason="runner_died")]
    conn = open_log(home.server_db)
    with transaction(conn):
        log.create(conn, name)
        log.append(conn, name, [encode_event(make_event(fact, SERVER)) for fact in facts])
    conn.close()
    folder = home.sessions / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


async def left_running(home: Home, kind: SandboxKind, name: str, folder: Path) -> Sandbox:
    """A sandbox with a job in it whose runner died without a word."""
    if kind == "docker":
        need_engine()
    sandbox = open_sandbox(kind, name, Host(name="main"), folder, home=str(home.path))
    await sandbox.start()
    await sandbox.terminals.open("t")
    await sandbox.terminals.command("t", "job-1", f"echo $$ > {sandbox.workspace}/pid; sleep 600")
    return sandbox


async def answers(sandbox: Sandbox) -> bool:
    try:
        await sandbox.terminals.list()
    except ReportableError:
        return False
    return True


async def gone(sandbox: Sandbox) -> None:
    async with asyncio.timeout(60):
        while await answers(sandbox):
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_dead_runner_left_ends_with_its_session_also_after_a_restart(
        tmp_path: Path, kind: SandboxKind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "LOOK_S", 0.1)
    home = Home(tmp_path / "home")
    folders = {name: session_in(home, name, "failed") for name in ("over-1", "held-1")}
    runner = FileLock(folders["held-1"] / "runner.lock")
    assert runner.take(), "a runner that still ends its session holds this"

    async def life() -> None:
        over, held = [await left_running(home, kind, name, folder) for name, folder in folders.items()]
        try:
            async with serving(home.path, supervise=True):
                await gone(over)
                assert await answers(held), "its runner lives"
                runner.release()
                await gone(held)
            await over.start()
            assert (await over.read_file(f"{over.workspace}/pid")).strip().isdigit(), "its files stay"
        finally:
            await over.remove()
            await held.remove()

    asyncio.run(life())


def test_what_is_local_ends_also_where_no_engine_can_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:9")
    home = Home(tmp_path / "home")
    folder = session_in(home, "s-1", "failed")

    async def life() -> None:
        sandbox = await left_running(home, "local", "s-1", folder)
        try:
            async with serving(home.path, supervise=False) as server:
                left = leftovers.Leftovers(server.hub, home)
                for _ in range(2):
                    with pytest.raises(Unavailable):
                        await left.end()
                    assert not await answers(sandbox)
        finally:
            await sandbox.remove()

    asyncio.run(life())


def test_a_session_that_works_is_left_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    folder = session_in(home, "s-1", "running")

    async def life() -> None:
        sandbox = await left_running(home, "local", "s-1", folder)
        try:
            async with serving(home.path, supervise=False) as server:
                await leftovers.Leftovers(server.hub, home).end()
                assert await answers(sandbox)
        finally:
            await sandbox.remove()

    asyncio.run(life())


def test_sessions_that_left_nothing_are_not_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home holds thousands of them: a lock on each would take all files that the server may open."""
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:9")
    home = Home(tmp_path / "home")
    folders = [session_in(home, f"s-{n}", "failed") for n in range(3)]

    async def life() -> None:
        async with serving(home.path, supervise=False) as server:
            with pytest.raises(Unavailable):
                await leftovers.Leftovers(server.hub, home).end()

    asyncio.run(life())
    assert [folder for folder in folders if (folder / "runner.lock").exists()] == []


def in_engine(home: Home) -> tuple[set[str], set[str]]:
    """The containers and the volumes of a home, by session."""
    engine = docker.from_env()
    try:
        chosen = {"label": f"tiphys.home={home_label(str(home.path))}"}
        return ({c.labels["tiphys.session"] for c in engine.containers.list(all=True, filters=chosen)},
                {v.attrs["Labels"]["tiphys.session"] for v in engine.volumes.list(filters=chosen)})
    finally:
        engine.close()


@pytest.mark.parametrize("kind", KINDS)
def test_sandboxes_go_with_their_session_and_with_no_other(tmp_path: Path, kind: SandboxKind) -> None:
    home = Home(tmp_path / "home")
    folders = {name: session_in(home, name, "failed") for name in ("over", "over-2")}

    async def life() -> None:
        gone, stays = [await left_running(home, kind, name, folder) for name, folder in folders.items()]
        try:
            async with serving(home.path) as server, Authority(home) as authority:
                lost = await authority.do("over", DeleteSession())
                await authority.do("over", DeleteSession(head=lost["head"]))
                await until(lambda: not tombstones.unfinished(server.hub.reader), seconds=60)
                assert not await answers(gone) and await answers(stays), "its id only begins alike"
            if kind == "docker":
                assert in_engine(home) == ({"over-2"}, {"over-2"})
            assert not folders["over"].exists() and folders["over-2"].is_dir()
        finally:
            await gone.remove()
            await stays.remove()

    asyncio.run(life())
