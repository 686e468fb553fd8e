"""Folders and files of a sandbox that are made to break its snapshots, or those of others."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.sandboxes import box

from core.agents.saved_files import DEEPEST, HostSaver, _Line, _Tree, load_host
from core.agents.saved_trees import SavedHost, paths_of
from core.agents.snapshot_store import SnapshotStore
from core.domain.errors import InvalidInput
from core.sandbox.sandbox import Sandbox
from core.store.pieces import PieceWriter

MAKE = ("python3 -c \"import os\nfor n in range(1050): os.mkdir('d'); os.chdir('d')\"; "
        "truncate -s 100G holes; echo text > plain")


def test_what_lies_too_deep_or_is_all_holes_is_left_out_and_the_rest_is_saved(tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path / "home")

    async def saved(sandbox: Sandbox) -> SavedHost:
        with PieceWriter(store.pieces) as writer:
            made = await HostSaver(sandbox, writer, {}).save()
            writer.commit()
        return made

    async def work(sandbox: Sandbox) -> None:
        assert (await sandbox.run(["bash", "-c", MAKE])).exit_code == 0
        async with asyncio.timeout(60):
            found = await saved(sandbox)
        assert [p.rpartition(": ")[2] for p in found.problems] == ["lies too deep", "is almost all holes"]
        assert [path for path, _ in paths_of(store.pieces, found.trees["workspace"])] == ["plain"]
        await load_host(sandbox, store.pieces, found)
        assert (await saved(sandbox)).trees == found.trees, "and what lay too deep is gone"

    with box("local", tmp_path / "box") as place:
        place.use(work)
    store.close()


def folder(depth: int) -> _Line:
    return _Line(r=0, p="/".join("a" * depth), k="d", m=0o755, a=(0, 0, 0, 0))


def test_a_sandbox_cannot_tell_of_folders_without_end(tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path / "home")
    with PieceWriter(store.pieces) as writer:
        tree = _Tree(writer)
        for depth in range(1, DEEPEST + 1):
            tree.add(folder(depth), ())
        with pytest.raises(InvalidInput) as refused:
            tree.add(folder(DEEPEST + 1), ())
    assert refused.value.code == "bad_tree"
    store.close()
