"""The files of a host on their way into a snapshot and back, read and written from inside the sandbox.

What looks as it did when it was stored last (size, times, inode) is not read again, and what has the same content is
not stored again. Whatever a sandbox tells is read within bounds: it can lie about its own files and about nothing else.
"""

import asyncio
import struct
from collections import deque
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from core.agents.saved_trees import LATIN, SavedHost, TreeEntry, check_name, read_tree, shown
from core.aio import TaskScope
from core.domain.errors import InvalidInput, LimitReached, Unavailable
from core.sandbox.sandbox import Sandbox
from core.sandbox.streams import ahead, own_python
from core.store.pieces import PIECE, PieceStore, PieceWriter

_PROGRAM = (Path(__file__).parents[1] / "sandbox" / "ptyd" / "tree.py").read_text(encoding="utf-8")
_HEAD = struct.Struct(">cI")
_LONGEST = 1 << 20
"""Bytes of a record's payload."""

SMALL = 1 << 18
"""A piece up to so many bytes is stored at once; larger ones in threads, so many at a time."""

AT_ONCE = 2
DEEPEST = 250
"""Folders within folders that a sandbox may tell of, somewhat more than its program does."""
_PROBLEMS = 200
"""So many files that could not be saved are named."""

_Look = tuple[int, int, int, int]
"""Size, time of change, time of the inode's change (both in ns) and inode: what tells that a file is as it was."""


class FilesSeen(msgspec.Struct, frozen=True):
    """What a file looked like when it was stored, and its pieces."""

    look: _Look
    pieces: tuple[str, ...]

    @property
    def known(self) -> list[object]:
        """What the sandbox is told: it reads a file that looks otherwise, and gives the pieces that are others."""
        return [*self.look, *(self.pieces if len(self.pieces) > 1 else ())]


Seen = dict[str, dict[str, FilesSeen]]
"""By the folder's name, then by path."""


class _Line(msgspec.Struct):
    r: Annotated[int, Meta(ge=0, le=100)]
    p: LATIN
    k: Literal["f", "d", "l"]
    m: Annotated[int, Meta(ge=0, le=0o7777)]
    a: _Look
    same: bool = False
    young: bool = True
    l: LATIN = ""  # noqa: E741 - one letter a field, for there are many


_LINE = msgspec.json.Decoder(_Line)
_PROBLEM: msgspec.json.Decoder[tuple[int, str, str]] = msgspec.json.Decoder(tuple[int, str, str])


class _Tree:
    """Folders that are being line, from a root to the one at hand; each is stored when it is whole."""

    def __init__(self, writer: PieceWriter) -> None:
        self._writer = writer
        self._open: list[tuple[_Line | None, str, list[TreeEntry]]] = [(None, "", [])]

    def add(self, line: _Line, pieces: tuple[str, ...]) -> None:
        """The next name, in the order of a walk. Raises InvalidInput where it is not below an open folder."""
        folder, _, name = line.p.rpartition("/")
        while self._open[-1][1] != folder:
            if len(self._open) == 1:
                raise InvalidInput("bad_tree", f"A sandbox tells of {line.p[:200]!r} and not of its folder.")
            self._shut()
        check_name(name)
        if len(self._open) > DEEPEST:
            raise InvalidInput("bad_tree", f"A sandbox tells of more than {DEEPEST} folders within one another.")
        if line.k == "d":
            self._open.append((line, line.p, []))
        else:
            self._open[-1][2].append(TreeEntry(name, line.k, line.m, line.a[1], line.a[0], pieces, target=line.l))

    def _shut(self) -> None:
        line, path, entries = self._open.pop()
        assert line is not None
        tree = self._writer.put(msgspec.json.encode(entries))
        self._open[-1][2].append(TreeEntry(path.rpartition("/")[2], "d", line.m, line.a[1], tree=tree))

    def finish(self) -> str:
        """The whole; its name."""
        while len(self._open) > 1:
            self._shut()
        return self._writer.put(msgspec.json.encode(self._open[0][2]))


class HostSaver:
    """Saves one host into a writer. `seen` is what it looked like before; afterwards, what it looks like now."""

    def __init__(self, sandbox: Sandbox, writer: PieceWriter, seen: Seen) -> None:
        self._sandbox, self._writer, self._before = sandbox, writer, seen
        self.seen: Seen = {name: {} for name in sandbox.folders}
        self._names = list(sandbox.folders)
        self._trees = {name: _Tree(writer) for name in self._names}
        self._files = self._bytes = self._read = 0
        self._problems: list[str] = []
        self._line: _Line | None = None
        self._data = bytearray()
        self._pieces: list[str | asyncio.Future[str]] = []
        self._stored: deque[asyncio.Future[str]] = deque()
        self._most = max(1 << 30, 2 * sandbox.host.disk_mb << 20)

    async def save(self) -> SavedHost:
        """All of it. Raises Unavailable, LimitReached (snapshot_too_large), InvalidInput (bad_tree, program_failed)."""
        argv = own_python("-I", "-B", "-c", _PROGRAM, "save", *self._sandbox.folders.values())
        known = [{path: one.known for path, one in self._before.get(name, {}).items()} for name in self._names]
        stream = await self._sandbox.program(argv)
        try:
            await stream.write(msgspec.json.encode(known) + b"\n", last=True)
            async with TaskScope(f"snapshot of {self._sandbox.host.name}") as scope:
                async for kind, payload in _records(ahead(stream.output(), scope)):
                    await self._take(kind, payload)
        except (IndexError, ValueError, RecursionError) as error:
            raise InvalidInput("bad_tree", f"Host {self._sandbox.host.name} tells its files unreadably: {error}."
                               ) from error
        finally:
            await asyncio.gather(*self._stored, return_exceptions=True)  # nothing is put after this
            await stream.close()
        trees = {name: tree.finish() for name, tree in self._trees.items()}
        return SavedHost(trees=trees, files=self._files, bytes=self._bytes, problems=tuple(self._problems))

    async def _take(self, kind: bytes, payload: bytes) -> None:
        if kind == b"D":
            self._data += payload
            if len(self._data) >= PIECE:
                await self._cut(PIECE)
        elif kind == b"K":
            self._take_known(int(payload))
        elif kind == b"F":
            await self._end_file(is_whole=payload == b"0")
        elif kind == b"E":
            self._begin(_LINE.decode(payload))
        elif kind == b"X" and len(self._problems) < _PROBLEMS:
            place, path, why = _PROBLEM.decode(payload)
            self._problems.append(f"{self._names[place]}/{shown(path)}: {why[:100]}")

    def _begin(self, line: _Line) -> None:
        name = self._names[line.r]
        if line.k != "f":
            self._trees[name].add(line, ())
        elif not line.same:
            self._line = line
        elif (before := self._before.get(name, {}).get(line.p)) is None:
            raise InvalidInput("bad_tree", f"A sandbox says of {line.p[:200]!r} that it is known, and it is not.")
        else:
            self._writer.rely(before.pieces)
            self._note(line, before.pieces, line.a[0])

    def _take_known(self, place: int) -> None:
        """A piece of the file at hand is what it was."""
        line = self._line
        before = self._before.get(self._names[line.r], {}).get(line.p) if line else None
        if before is None or self._data or not 0 <= place < len(before.pieces):
            raise InvalidInput("bad_tree", "A sandbox says of a piece that it is known, and it is not.")
        self._pieces.append(before.pieces[place])
        self._writer.rely(before.pieces[place : place + 1])

    def _note(self, line: _Line, pieces: tuple[str, ...], size: int) -> None:
        name = self._names[line.r]
        self._files += 1
        self._bytes += size
        self._trees[name].add(line, pieces)
        look = (-1, *line.a[1:]) if line.young else line.a  # what changed just now may change without looking otherwise
        if not line.young or len(pieces) > 1:
            self.seen[name][line.p] = FilesSeen(look, pieces)

    async def _cut(self, size: int) -> None:
        data = bytes(self._data[:size])
        del self._data[:size]
        self._read += size
        if max(self._read, self._writer.added) > self._most:
            raise LimitReached("snapshot_too_large", f"The files of host {self._sandbox.host.name} are more than twice "
                               "of what its task allows.", host=self._sandbox.host.name)
        if size <= SMALL:
            self._pieces.append(self._writer.put(data))
            return
        while len(self._stored) >= AT_ONCE:
            await self._stored.popleft()
        self._stored.append(asyncio.get_running_loop().run_in_executor(None, self._writer.put, data))
        self._pieces.append(self._stored[-1])

    async def _end_file(self, *, is_whole: bool) -> None:
        line, self._line = self._line, None
        if line is None:
            raise InvalidInput("bad_tree", "A sandbox ends a file that it did not begin.")
        if self._data:
            await self._cut(len(self._data))
        pieces = tuple([one if isinstance(one, str) else await one for one in self._pieces])
        self._pieces = []
        self._note(line if is_whole else msgspec.structs.replace(line, young=True), pieces, line.a[0])


async def load_host(sandbox: Sandbox, store: PieceStore, saved: SavedHost) -> None:
    """Lay the files of a snapshot down in a sandbox; what its folders hold now goes.

    Raises NotFound (no_piece), InvalidInput (bad_tree, program_failed), Unavailable.
    """
    roots = [(sandbox.folders[name], tree) for name, tree in saved.trees.items() if name in sandbox.folders]
    missing = set(saved.trees) - set(sandbox.folders)
    if missing:
        raise InvalidInput("bad_tree", f"Host {sandbox.host.name} has no {', '.join(sorted(missing))} to restore.")
    stream = await sandbox.program(own_python("-I", "-B", "-c", _PROGRAM, "load", *(folder for folder, _ in roots)))
    try:
        for record in _load_records(store, [tree for _, tree in roots]):
            await stream.write(record)
        await stream.write(_record(b"Z", b""), last=True)
        async for _ in stream.output():
            pass
    finally:
        await stream.close()


def _load_records(store: PieceStore, trees: list[str]) -> Iterator[bytes]:
    """Gathered to some hundred kB each, as every one is a question to the sandbox."""
    held = bytearray()
    for place, tree in enumerate(trees):
        for record in _tree_records(store, place, tree, ""):
            held += record
            if len(held) >= 1 << 19:
                yield bytes(held)
                held.clear()
    yield bytes(held)


def _tree_records(store: PieceStore, place: int, tree: str, above: str) -> Iterator[bytes]:
    for entry in read_tree(store, tree):
        path = f"{above}{entry.name}"
        line = {"r": place, "p": path, "k": entry.kind, "m": entry.mode, "t": entry.time_ns, "l": entry.target}
        yield _record(b"E", msgspec.json.encode(line))
        for piece in entry.pieces:
            data = store.get(piece)
            for at in range(0, len(data), _LONGEST):
                yield _record(b"D", data[at : at + _LONGEST])
        if entry.kind == "d":
            yield from _tree_records(store, place, entry.tree, f"{path}/")


def _record(kind: bytes, payload: bytes) -> bytes:
    return _HEAD.pack(kind, len(payload)) + payload


async def _records(pieces: AsyncIterator[bytes]) -> AsyncIterator[tuple[bytes, bytes]]:
    """Take the program's output apart. Raises Unavailable where it ends before its end."""
    held, at, is_over = bytearray(), 0, False
    async for piece in pieces:
        held += piece
        while len(held) - at >= _HEAD.size:
            kind, size = _HEAD.unpack_from(held, at)
            if size > _LONGEST:
                raise InvalidInput("bad_tree", "A sandbox tells its files unreadably.")
            if len(held) - at < _HEAD.size + size:
                break
            payload = bytes(held[at + _HEAD.size : at + _HEAD.size + size])
            at += _HEAD.size + size
            is_over = is_over or kind == b"Z"
            yield kind, payload
        del held[:at]
        at = 0
    if not is_over:
        raise Unavailable("sandbox_lost", "The sandbox was lost while its files were saved.")
