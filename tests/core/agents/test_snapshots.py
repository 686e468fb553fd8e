"""Snapshots of real sandboxes: what they hold, what they cost, and that what is restored is the same."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from support.sandboxes import Box, box, command

from core.agents.saved_files import HostSaver, SavedHost, Seen, load_host, paths_of
from core.agents.snapshot_store import SnapshotStore
from core.domain.errors import Conflict, NotFound
from core.sandbox.sandbox import Sandbox
from core.store.pieces import PieceWriter

FILL = ("mkdir -p d/empty 'odd name' && head -c 9000000 /dev/urandom > big && echo text > d/t && chmod 640 d/t && "
        "ln -s t d/link && ln -s /nowhere dangling && printf 'x' > $'bytes-\\xff' && touch -d @1234567890 d/t && "
        "mkfifo pipe; echo home > ~/h")


async def save(sandbox: Sandbox, store: SnapshotStore, seen: Seen) -> tuple[SavedHost, Seen, int]:
    with PieceWriter(store.pieces) as writer:
        saver = HostSaver(sandbox, writer, seen)
        saved = await saver.save()
        writer.commit()
        return saved, saver.seen, writer.added


async def look(sandbox: Sandbox) -> str:
    roots = " ".join(f"'{folder}'" for folder in sandbox.folders.values())
    listing = await sandbox.run(["bash", "-c", f"for r in {roots}; do cd \"$r\" && find . -mindepth 1 ! -type p "
                                 "-printf '%p %y %m %l %T@\\n' | sort; cat big d/t h 2>/dev/null | sha256sum; done"])
    assert listing.exit_code == 0, listing.output
    return listing.output.decode("utf-8", "replace")


@pytest.fixture(params=["local", pytest.param("docker", marks=pytest.mark.docker)])
def place(request: pytest.FixtureRequest, tmp_path: Path):
    with box(request.param, tmp_path / "box") as made:
        yield made


def test_what_is_restored_is_what_was_saved_and_what_is_unchanged_costs_nothing(place: Box, tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path / "home")

    async def work(sandbox: Sandbox) -> None:
        await command(sandbox, FILL)
        await asyncio.sleep(0.05)
        saved, seen, added = await save(sandbox, store, {})
        before = await look(sandbox)
        assert added > 9_000_000 and saved.files >= 4
        assert [p.split(":")[0] for p in saved.problems] == ["workspace/pipe"]
        again, seen, added = await save(sandbox, store, seen)
        assert (added, again.trees) == (0, saved.trees), "nothing changed: nothing is stored, nothing read"
        await command(sandbox, "echo more >> d/t; rm dangling; printf tail >> big")
        changed, _, added = await save(sandbox, store, seen)
        assert added < 2_000_000 and changed.trees["workspace"] != saved.trees["workspace"]
        await load_host(sandbox, store.pieces, saved)
        assert await look(sandbox) == before
        restored, _, added = await save(sandbox, store, {})
        assert (added, restored.trees) == (0, saved.trees), "the same, by its content's name"

    place.use(work)
    store.close()


def test_another_kind_of_host_gets_the_same_files(place: Box, tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path / "home")
    found: list[SavedHost] = []

    async def take(sandbox: Sandbox) -> None:
        await command(sandbox, FILL)
        found.append((await save(sandbox, store, {}))[0])

    async def put(sandbox: Sandbox) -> None:
        await load_host(sandbox, store.pieces, found[0])
        assert (await save(sandbox, store, {}))[0].trees == found[0].trees

    place.use(take)
    with box("local", tmp_path / "other") as other:
        other.use(put)
    assert {path for path, _ in paths_of(store.pieces, found[0].trees["workspace"])} >= {"big", "d/t", "d/link"}
    store.close()


def test_a_sweep_removes_what_no_snapshot_needs_and_a_writer_notices(tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path)
    with PieceWriter(store.pieces) as first:
        name = first.put(os.urandom(100_000))
        first.commit()
    with PieceWriter(store.pieces) as second:
        second.rely([name])
        assert store.pieces.sweep(set) == 1 and not list((tmp_path / "snapshots/packs").iterdir())
        with pytest.raises(Conflict, match="removed meanwhile"):
            second.commit()
    with pytest.raises(NotFound):
        store.pieces.get(name)
    store.close()
