"""A host that writes more than its disk allows is stopped, wherever it writes; one within its bounds is left alone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.sandboxes import command, need_engine
from support.tally import tally

from core.domain.errors import LimitReached, ReportableError
from core.domain.ids import new_id
from core.domain.task import Host
from core.sandbox import disk_watch
from core.sandbox.disk_watch import unless_full
from core.sandbox.kinds import SandboxKind, open_sandbox
from core.sandbox.sandbox import Sandbox

SMALL = Host(name="main", disk_mb=24, memory_mb=256)
FILL = "i=0; while true; do head -c 1048576 /dev/zero > {place}/f$i || break; i=$((i+1)); sleep 0.01; done"


def place_of(kind: SandboxKind, which: str, workspace: str) -> str:
    """Where the agent can write: what lies on a disk of the host's."""
    local = {"workspace": workspace, "home": "$HOME", "socket": f"{workspace}/.."}
    docker = {"workspace": workspace, "home": "$HOME"}
    return (docker if kind == "docker" else local)[which]


async def written(sandbox: Sandbox, folder: Path) -> int:
    """How much the writer has written; of files here by their lengths, as a disk settles blocks later."""
    if sandbox.confined:
        return await sandbox.disk_used()
    return sum(path.stat().st_size for path in folder.rglob("f[0-9]*"))


@pytest.mark.parametrize(("kind", "which"), [
    pytest.param("docker", "workspace", marks=pytest.mark.docker),
    pytest.param("docker", "home", marks=pytest.mark.docker),
    ("local", "workspace"), ("local", "home"), ("local", "socket")])  # a container's socket folder has its own bound
def test_a_host_that_writes_without_end_is_stopped(
        tmp_path: Path, kind: SandboxKind, which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_watch, "LOOK_S", 0.2)
    if kind == "docker":
        need_engine()
    sandbox = open_sandbox(kind, new_id(), SMALL, tmp_path)

    async def life() -> int:
        await sandbox.start()
        try:
            await sandbox.terminals.open("t")
            place = place_of(kind, which, sandbox.workspace)
            await sandbox.terminals.command("t", "fill", FILL.format(place=place))
            with pytest.raises(LimitReached) as caught:
                await unless_full(asyncio.sleep(60), [sandbox])
            assert caught.value.code == "limit_disk"
            with pytest.raises(ReportableError):
                await sandbox.terminals.list()  # nothing runs there any more
            before = await written(sandbox, tmp_path)
            await asyncio.sleep(0.5)
            return await written(sandbox, tmp_path) - before
        finally:
            await sandbox.remove()

    tally("writers without end on a host's disk: bytes that came after the stop", 1, max(0, asyncio.run(life())))


@pytest.mark.parametrize("kind", [pytest.param("docker", marks=pytest.mark.docker), "local"])
def test_work_within_the_bounds_goes_to_its_end(
        tmp_path: Path, kind: SandboxKind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_watch, "LOOK_S", 0.05)
    if kind == "docker":
        need_engine()
    sandbox = open_sandbox(kind, new_id(), SMALL, tmp_path)
    measured: list[int] = []

    async def work() -> None:
        await command(sandbox, f"head -c 4194304 /dev/urandom > {sandbox.workspace}/data")
        measured.append(await sandbox.disk_used())
        await asyncio.sleep(0.3)

    async def life() -> None:
        await sandbox.start()
        try:
            await unless_full(work(), [sandbox])
        finally:
            await sandbox.remove()

    asyncio.run(life())
    assert 4 << 20 <= measured[0] < 24 << 20


def test_what_the_work_raises_and_its_cancellation_come_through(tmp_path: Path) -> None:
    async def fails() -> None:
        raise ValueError("ours")

    async def life() -> None:
        with pytest.raises(ValueError, match="ours"):
            await unless_full(fails(), [])
        task = asyncio.create_task(unless_full(asyncio.sleep(60), []))  # noqa: TID251
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(life())
