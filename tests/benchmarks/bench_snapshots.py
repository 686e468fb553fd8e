"""What a snapshot costs, in seconds and bytes: the product's, `docker commit`, and a full copy of the same files.

A container of the product holds one file of MB megabytes and FILES small ones. Then nothing changes; then the large
file grows by a megabyte and twenty small ones change. `docker commit` saves the same files, in the writable layer of a
plain container of the same image; the full copy is the engine's archive of both folders, written to the disk.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docker
from support.sandboxes import box

from core.agents.saved_files import HostSaver, Seen, load_host
from core.agents.saved_trees import SavedHost
from core.agents.snapshot_store import SnapshotStore
from core.sandbox.image import build_image
from core.sandbox.sandbox import Sandbox
from core.store.pieces import PieceWriter

FILL = ("mkdir -p /workspace/many && cd /workspace && head -c {mb}000000 /dev/urandom > large && "
        "for n in $(seq {files}); do head -c 10000 /dev/urandom > many/$n; done")
CHANGE = ("cd /workspace && head -c 1000000 /dev/urandom >> large && "
          "for n in $(seq 20); do head -c 10000 /dev/urandom > many/$n; done")


def tell(what: str, seconds: float, size: int | None) -> None:
    print(json.dumps({"bench": "snapshots", "what": what, "seconds": round(seconds, 2), "bytes": size}), flush=True)


def timed(what: str, work: Callable[[], int]) -> None:
    began = time.perf_counter()
    size = work()
    tell(what, time.perf_counter() - began, size)


async def save(sandbox: Sandbox, store: SnapshotStore, seen: Seen, what: str) -> tuple[SavedHost, Seen]:
    began = time.perf_counter()
    with PieceWriter(store.pieces) as writer:
        saver = HostSaver(sandbox, writer, seen)
        saved = await saver.save()
        writer.commit()
        tell(what, time.perf_counter() - began, writer.added)
    return saved, saver.seen


def ours(folder: Path, mb: int, files: int) -> None:
    store = SnapshotStore(folder / "home")

    async def work(sandbox: Sandbox) -> None:
        await sandbox.run(["bash", "-c", FILL.format(mb=mb, files=files)], timeout=600)
        await asyncio.sleep(0.1)
        saved, seen = await save(sandbox, store, {}, "ours, the first")
        saved, seen = await save(sandbox, store, seen, "ours, nothing changed")
        await sandbox.run(["bash", "-c", CHANGE], timeout=600)
        saved, seen = await save(sandbox, store, seen, "ours, 1 MB of 1 file and 20 small ones changed")
        found.append(saved)
        copy(sandbox.name, folder)  # type: ignore[attr-defined]

    async def restore(fresh: Sandbox) -> None:
        began = time.perf_counter()
        await load_host(fresh, store.pieces, found[0])
        tell("ours, restored into a fresh container (a branch's beginning)", time.perf_counter() - began, None)

    found: list[SavedHost] = []
    with box("docker", folder / "box") as made:
        made.use(work)
    with box("docker", folder / "other") as other:
        other.use(restore)
    store.close()


def copy(container: str, folder: Path) -> None:
    client = docker.from_env()

    def whole() -> int:
        path = folder / "copy.tar"
        with path.open("wb") as file:
            for place in ("/workspace", "/home/agent"):
                for piece in client.containers.get(container).get_archive(place)[0]:
                    file.write(piece)
        return path.stat().st_size

    timed("a full copy, each time", whole)
    client.close()


def commits(mb: int, files: int) -> None:
    client = docker.from_env(timeout=600)
    image = build_image(client)
    container = client.containers.run(image, ["sleep", "1000"], entrypoint="", user="0:0", detach=True)
    made: list[Any] = []

    def commit() -> int:
        made.append(container.commit("tiphys-bench", str(len(made))))
        return int(client.images.get(made[-1].id).attrs["Size"] - client.images.get(image).attrs["Size"])

    try:
        for what, change in (("the first", FILL.format(mb=mb, files=files)), ("nothing changed", "true"),
                             ("1 MB of 1 file and 20 small ones changed", CHANGE)):
            container.exec_run(["bash", "-c", change])
            timed(f"docker commit, {what}", commit)
    finally:
        container.remove(force=True)
        for one in made:
            client.images.remove(one.id, force=True)
        client.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mb", type=int, default=200)
    parser.add_argument("--files", type=int, default=5000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ours(Path(folder), given.mb, given.files)
    commits(given.mb, given.files)


if __name__ == "__main__":
    main()
