"""Archives that somebody made to do harm: refused or read within bounds, and nothing is ever written (threat 3)."""

from __future__ import annotations

import io
import json
import os
import stat
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.hostile import ROOT, survives, within
from support.logs import make_session

from core.domain.blob import blob_hash
from core.domain.errors import InvalidInput, LimitReached, ReportableError
from core.domain.events import NoteAdded, encode_event, make_event
from core.domain.verdict import Author
from core.formats import archive, registry
from core.store import blobs

BODIES, BLOBS = make_session(steps=3, guidance=0, seed=5)
MIB = 1 << 20


@pytest.fixture
def good(tmp_path: Path) -> dict[str, bytes]:
    archive.write(tmp_path / "good.tiphys", "s1", "T", BODIES, BLOBS.__getitem__)
    with zipfile.ZipFile(tmp_path / "good.tiphys") as file:
        return {i.filename: file.read(i) for i in file.infolist()}


def pack(path: Path, parts: dict[str, bytes], **changes: object) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in parts.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            for key, value in changes.items():
                setattr(info, key, value)
            file.writestr(info, data)
    return path


def read_all(path: Path) -> list[object]:
    made = []
    for session in registry.read(path):
        made.append(session)
        for name in session.blobs:
            session.blobs[name]
    return made


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Callable[[Path], None]]:
    """Reads a file in a folder of its own and looks afterwards whether anything anywhere near has changed."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "passwd").write_text("untouched")
    inside = tmp_path / "inside"
    inside.mkdir()
    here = Path.cwd()
    os.chdir(inside)

    def read(path: Path) -> None:
        before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")}
        with within():
            survives(lambda: read_all(path))
        assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")} == before, "reading wrote"
        assert (outside / "passwd").read_text() == "untouched"

    yield read
    os.chdir(here)


TRAVERSAL = (
    "../outside/passwd",
    "/etc/passwd",
    "..\\outside\\passwd",
    "C:\\x",
    "c:x",
    "\\\\host\\share\\x",
    "blobs/../../outside/passwd",
    "blobs/./x",
    "./tiphys.json",
    "blobs/" + "a" * 63,
    "blobs/" + "A" * 64,
    "TIPHYS.JSON",
    "Events.jsonl",
    "events.jsonl\x00.txt",
    "CON",
    "blobs/",
    "nul.txt",
    "x" * 60_000,
    "\u202egnp.exe",
    "tiphys.json ",
    "tiphys.json.",
    "ｔiphys.json",
    "__MACOSX/._x",
    ".",
)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", TRAVERSAL, ids=lambda n: ascii(n)[:30])
def test_no_member_but_ours_is_accepted(
    tmp_path: Path, good: dict[str, bytes], watched: Callable[[Path], None], name: str
) -> None:
    path = pack(tmp_path / "bad.tiphys", {**good, name: b"x"})
    watched(path)
    if name.split("\x00")[0] not in good:  # zipfile ends a name at its NUL: then it is a member twice
        with pytest.raises(InvalidInput, match="does not belong"):
            read_all(path)
    else:
        with pytest.raises(InvalidInput, match="twice"):
            read_all(path)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK, stat.S_IFDIR])
def test_links_and_devices_are_refused(
    tmp_path: Path, good: dict[str, bytes], watched: Callable[[Path], None], kind: int
) -> None:
    path = pack(tmp_path / "bad.tiphys", good, external_attr=(kind | 0o777) << 16)
    watched(path)
    with pytest.raises(InvalidInput, match="does not belong"):
        read_all(path)


@pytest.mark.parametrize("change", [{"compress_type": zipfile.ZIP_BZIP2}, {"compress_type": zipfile.ZIP_LZMA}])
def test_only_plain_compression_is_accepted(tmp_path: Path, good: dict[str, bytes], change: dict[str, int]) -> None:
    path = pack(tmp_path / "bad.tiphys", good, **change)
    with pytest.raises(InvalidInput, match="does not belong"):
        read_all(path)


def longest_chain() -> bytes:
    """CVE-2025-4517: links nested until realpath gives up, then a link and a file that lead out (`filter="data"`)."""
    out = io.BytesIO()
    step, letters, chain = "d" * 247, "abcdefghijklmnop", ""
    with tarfile.open(fileobj=out, mode="w") as tar:

        def member(name: str, kind: bytes, link: str = "", data: bytes = b"") -> None:
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.size = kind, link, len(data)
            tar.addfile(info, io.BytesIO(data))

        for letter in letters:
            member(f"{chain}{step}", tarfile.DIRTYPE)
            member(f"{chain}{letter}", tarfile.SYMTYPE, step)
            chain = f"{chain}{step}/"
        long = "/".join(letters)
        member(f"{long}/{'l' * 254}", tarfile.SYMTYPE, "../" * len(letters))
        member("escape", tarfile.SYMTYPE, f"{long}/{'l' * 254}/../outside")
        member("hard", tarfile.LNKTYPE, "escape/passwd")
        member("hard", tarfile.REGTYPE, data=b"owned")
        member("escape/new", tarfile.REGTYPE, data=b"owned")
    return out.getvalue()


def tar_of(name: str, kind: bytes, link: str = "") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, link
        tar.addfile(info)
    return out.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        longest_chain(),
        tar_of("../../x", tarfile.REGTYPE),
        tar_of("x", tarfile.SYMTYPE, "/etc/passwd"),
        tar_of("x", tarfile.LNKTYPE, "../outside/passwd"),
        tar_of("/abs", tarfile.REGTYPE),
        tar_of("dev", tarfile.CHRTYPE),
    ],
    ids=["CVE-2025-4517", "traversal", "symbolic link", "hard link", "absolute", "device"],
)
def test_tar_files_are_no_format_of_ours(tmp_path: Path, watched: Callable[[Path], None], data: bytes) -> None:
    """Nothing here unpacks tar files at all, so no filter of the standard library has to be trusted."""
    path = tmp_path / "evil.tar"
    path.write_bytes(data)
    watched(path)
    with pytest.raises(ReportableError):
        read_all(path)
    wrapped = pack(tmp_path / "wrapped.tiphys", {"tiphys.json": data})
    watched(wrapped)


UNPACKS = {
    "streams.py: extractall",  # a program inside the sandbox
    "machine.py: extractall",  # our own daemon's source, onto a machine of the pool
    "archive.py: extractfile",  # plain files under checked names, with bounds; never a link
    "rubric.py: extractfile",  # into memory, with bounds
    "files.py: extractfile",  # the text of a made task's tests, which run in its container
}


def test_no_program_of_ours_unpacks_to_disk() -> None:
    words = ("extractall", ".extract(", "unpack_archive", "shutil.unpack", "extractfile")
    found = [
        f"{path.name}: {word}"
        for folder in ("core", "app", "packaging")
        for path in (ROOT / folder).rglob("*.py")
        for word in words
        if word in path.read_text(encoding="utf-8")
    ]
    assert set(found) == UNPACKS


def manifest(head: int) -> bytes:
    return json.dumps({"format": "tiphys-archive", "version": 1, "session": "s1", "head": head}).encode()


def note(text: str) -> bytes:
    return encode_event(make_event(NoteAdded(step=0, text=text), Author(kind="agent", name="a"))) + b"\n"


BOMBS = {
    "one endless event": b"x" * (120 * MIB),
    "a million equal events": note("x" * 300) * 200_000,
    "nothing but line ends": b"\n" * (80 * MIB),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_of_events_is_refused_at_once_and_in_little_memory(tmp_path: Path, name: str) -> None:
    path = pack(tmp_path / "bomb.tiphys", {"tiphys.json": manifest(1), "events.jsonl": BOMBS[name]})
    assert path.stat().st_size < MIB * 2
    tracemalloc.start()
    with within(), pytest.raises(InvalidInput):
        read_all(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * MIB


def test_a_bomb_of_payloads_is_refused(tmp_path: Path) -> None:
    parts = {f"blobs/{blob_hash(bytes([n]) * (30 * MIB))}": bytes([n]) * (30 * MIB) for n in range(5)}
    path = pack(tmp_path / "bomb.tiphys", {"tiphys.json": manifest(1), "events.jsonl": note("x"), **parts})
    with within(), pytest.raises(InvalidInput, match="unpack to"):
        read_all(path)


@pytest.mark.parametrize("kind", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_a_bomb_in_a_foreign_zip_is_refused(tmp_path: Path, kind: int) -> None:
    """Logs of Inspect are zip files, too."""
    parts = {"_journal/start.json": b'{"version": 2}', "header.json": b"{}", "samples/a_epoch_1.json": b"[" * 120 * MIB}
    path = pack(tmp_path / "bomb.eval", parts)
    if kind == zipfile.ZIP_STORED:  # a zip file in a zip file stays closed
        inner = path.read_bytes()
        path = pack(tmp_path / "outer.eval", {**parts, "samples/a_epoch_1.json": inner})
    tracemalloc.start()
    with within(), pytest.raises(InvalidInput):
        read_all(path)
    assert tracemalloc.get_traced_memory()[1] < 64 * MIB
    tracemalloc.stop()


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "C:\\x", "a/../../x"])
def test_no_path_of_a_foreign_zip_leads_out(tmp_path: Path, watched: Callable[[Path], None], name: str) -> None:
    path = pack(tmp_path / "bad.eval", {"_journal/start.json": b'{"version": 2}', "header.json": b"{}", name: b"x"})
    watched(path)
    with pytest.raises(InvalidInput):
        read_all(path)


def test_an_event_that_grows_while_it_is_read_stops_at_its_bound(tmp_path: Path) -> None:
    """Sizes in the directory are claims: here they say little, and the member holds 60 MiB."""
    data = b'{"a":"' + b"x" * (60 * MIB) + b'"}'
    path = pack(tmp_path / "liar.tiphys", {"tiphys.json": manifest(1), "events.jsonl": data})
    raw = bytearray(path.read_bytes())
    true = len(data).to_bytes(4, "little")
    while (at := raw.find(true)) >= 0:
        raw[at : at + 4] = (5000).to_bytes(4, "little")
    path.write_bytes(raw)
    tracemalloc.start()
    with within(), pytest.raises(InvalidInput):
        read_all(path)
    assert tracemalloc.get_traced_memory()[1] < 64 * MIB
    tracemalloc.stop()


def test_a_large_honest_archive_is_read(tmp_path: Path) -> None:
    """The bounds leave room for what terminals really print: one payload of 40 MiB of the same line."""
    line = blobs.MAX_RAW // 2 * b"y"
    path = pack(
        tmp_path / "honest.tiphys",
        {
            "tiphys.json": manifest(len(BODIES)),
            "events.jsonl": b"\n".join(BODIES) + b"\n",
            f"blobs/{blob_hash(line)}": line,
            **{f"blobs/{n}": d for n, d in BLOBS.items()},
        },
    )
    assert len(read_all(path)) == 1


def test_a_bomb_for_the_wire_stops_at_its_bound() -> None:
    bomb = blobs.compress(b"\0" * (200 * MIB))
    assert len(bomb) < 50_000
    with within(), pytest.raises(LimitReached):
        blobs.decompress(bomb)
    window = b"\x28\xb5\x2f\xfd" + b"\x00" + bytes([(31 - 10) << 3]) + b"\x01\x00\x00"  # asks for a window of 2 GiB
    with within(), pytest.raises(InvalidInput):
        blobs.decompress(window)


def test_list_folderside_files_are_not_opened(tmp_path: Path, good: dict[str, bytes]) -> None:
    inner = zlib.compress(pack(tmp_path / "inner.zip", good).read_bytes())
    path = pack(tmp_path / "outer.zip", {"inner.tiphys": inner})
    with pytest.raises(InvalidInput, match="no format"):
        read_all(path)


def test_a_folder_with_links_is_not_left(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "x.traj").write_text("{}")
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "folder").symlink_to(tmp_path / "secret")
    (tmp_path / "given" / "file.traj").symlink_to(tmp_path / "secret" / "x.traj")
    (tmp_path / "given" / "own.traj").write_text("{}")
    os.mkfifo(tmp_path / "given" / "pipe.traj")
    assert [p.name for p in registry.files(tmp_path / "given")] == ["own.traj"]
    with pytest.raises(InvalidInput):
        read_all(tmp_path / "given" / "pipe.traj")
