"""Files of any size go in and out of a sandbox in pieces."""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
import resource
import tarfile
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest
from support.sandboxes import Box

from core.domain.errors import InvalidInput, LimitReached, NotFound, ReportableError
from core.sandbox.archive import Bounds, receive, tar_of
from core.sandbox.sandbox import Sandbox

LARGE = 200 << 20


async def given(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def tar_with(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for info, data in members:
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def test_a_tree_comes_back_as_it_went_in(either: Box, tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "noise").write_bytes(os.urandom(3_000_001))
    (tmp_path / "in" / "run.sh").write_text("#!/bin/sh\necho ran\n")
    (tmp_path / "in" / "run.sh").chmod(0o755)
    files = [(name, tmp_path / "in" / name) for name in ("deep/noise", "run.sh")]
    steps: list[int] = []

    async def work(sandbox: Sandbox) -> None:
        size = await sandbox.unpack(tar_of(files), "tree", progress=steps.append)
        assert steps == sorted(steps)
        assert steps[-1] == size > 3_000_001
        base = f"{sandbox.workspace}/tree"
        assert (await sandbox.run(["./run.sh"], cwd=base)).output == b"ran\n"
        await sandbox.run(["ln", "-s", "/etc/passwd", "outward"], cwd=base)
        (tmp_path / "out").mkdir()
        names = await receive(sandbox.pack(["deep", "run.sh", "outward"], base), tmp_path / "out", Bounds(10, 9 << 20))
        assert names == ["deep/noise", "run.sh"]

    either.use(work)
    for name, path in files:
        assert (tmp_path / "out" / name).read_bytes() == path.read_bytes()
    assert os.access(tmp_path / "out" / "run.sh", os.X_OK)


def test_what_is_large_does_not_pass_through_memory(either: Box, tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(LARGE)

    async def work(sandbox: Sandbox) -> None:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        await sandbox.unpack(tar_of([("large", tmp_path / "large")]))
        digest = hashlib.sha256()
        async for piece in sandbox.pack(["large"]):
            digest.update(piece)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown << 10 < LARGE // 4
        assert (await sandbox.stat(f"{sandbox.workspace}/large")).size == LARGE

    either.use(work)


def test_what_goes_wrong_is_said_and_the_next_stream_works(either: Box, tmp_path: Path) -> None:
    (tmp_path / "one").write_text("1")

    async def work(sandbox: Sandbox) -> None:
        with pytest.raises(InvalidInput, match="nothing-there"):
            _ = [piece async for piece in sandbox.pack(["nothing-there"])]
        with pytest.raises(InvalidInput, match="invalid header"):
            await sandbox.unpack(given(b"no tar at all" * 1000))
        with pytest.raises(InvalidInput, match="cannot be read"):
            await sandbox.unpack(tar_of([("missing", tmp_path / "missing")]))
        for _ in range(20):  # more than a client may have at once: each is let go of
            async for _piece in sandbox.pack(["."]):
                break
        await sandbox.unpack(tar_of([("one", tmp_path / "one")]))
        assert await sandbox.read_file(f"{sandbox.workspace}/one") == b"1"
        with pytest.raises((NotFound, ReportableError)):
            await sandbox.read_file(f"{sandbox.workspace}/missing")

    either.use(work)


def test_what_is_let_go_of_after_its_sandbox_leaves_no_connection(either: Box, tmp_path: Path) -> None:
    async def work(sandbox: Sandbox) -> None:
        await sandbox.write_file(f"{sandbox.workspace}/large", bytes(4 << 20))
        pieces = sandbox.pack(["large"])
        await anext(pieces)
        await sandbox.close()
        await pieces.aclose()
        assert not sandbox.link.is_open

    either.use(work)


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


@pytest.mark.parametrize("members", [
    [(member("../up"), b"x")],
    [(member("/etc/cron.d/x"), b"x")],
    [(member("a/../../up"), b"x")],
])
def test_a_tar_that_leads_outside_is_refused(tmp_path: Path, members: Iterable[tuple[tarfile.TarInfo, bytes]]) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(InvalidInput, match="outside"):
        asyncio.run(receive(given(tar_with(*members)), tmp_path / "in", Bounds(10, 1 << 20)))
    assert [p.name for p in tmp_path.rglob("*")] == ["in"]


def test_links_of_a_tar_are_neither_made_nor_followed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    data = tar_with((member("l", tarfile.SYMTYPE, str(tmp_path)), b""), (member("l/x"), b"inside"))
    assert asyncio.run(receive(given(data), tmp_path / "in", Bounds(10, 1 << 20))) == ["l/x"]
    assert not (tmp_path / "x").exists()
    assert (tmp_path / "in" / "l" / "x").read_bytes() == b"inside"


def test_a_tar_is_bounded_in_files_bytes_and_headers(tmp_path: Path) -> None:
    for count, size in ((3, 1 << 20), (10, 2)):
        folder = tmp_path / f"{count}"
        folder.mkdir()
        data = tar_with(*((member(f"f{n}"), b"x") for n in range(5)))
        with pytest.raises(LimitReached):
            asyncio.run(receive(given(data), folder, Bounds(count, size)))
    header = member("pax", tarfile.XHDTYPE)
    header.size = 1 << 40
    endless = header.tobuf(tarfile.GNU_FORMAT) + bytes(4 << 20)
    with pytest.raises(InvalidInput, match="describes"):
        asyncio.run(receive(given(*(endless[n : n + 65536] for n in range(0, len(endless), 65536))),
                            tmp_path / "3", Bounds(10, 1 << 20)))
