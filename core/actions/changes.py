"""File changes as facts: those that file actions make, and those that commands leave in the workspace.

Contents are kept for files of text up to a size; a change whose content before is not known says so
(`too_large`), instead of looking like a new file.
"""

import zlib
from collections import OrderedDict
from collections.abc import Mapping

from core.actions.sink import ActionSink
from core.domain.errors import ReportableError
from core.domain.events import FileChanged
from core.sandbox.sandbox import Sandbox
from core.sandbox.values import FileChange

EDITED = 4 << 20
"""The largest file, in bytes, whose content is kept when an action edits it."""
SCANNED = 256 << 10
"""The same for files that commands changed."""
PER_SCAN = 40
REPEATED = 20
"""A file above 32 KiB that commands changed this often (a log, usually) is then named without its content."""
MEMORY = 16 << 20


class _Contents:
    """What files held when last seen, compressed, the least recently seen dropped."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._size = 0

    def put(self, key: tuple[str, str], data: bytes | None) -> None:
        """Remember a content; None for absent or unknown."""
        self._size -= len(self._held.pop(key, b""))
        if data is None:
            return
        packed = zlib.compress(data, 1)
        self._held[key] = packed
        self._size += len(packed)
        while self._size > MEMORY:
            self._size -= len(self._held.popitem(last=False)[1])

    def get(self, key: tuple[str, str]) -> bytes | None:
        """What was remembered."""
        packed = self._held.get(key)
        return None if packed is None else zlib.decompress(packed)


class FileWatch:
    """Emits `FileChanged` for the hosts of a session."""

    def __init__(self, hosts: Mapping[str, Sandbox], sink: ActionSink) -> None:
        self._hosts = hosts
        self._sink = sink
        self._contents = _Contents()
        self._times: dict[tuple[str, str], int] = {}

    async def start(self) -> None:
        """Take stock, so that the first change of a file has a content before it."""
        for host, sandbox in self._hosts.items():
            try:
                for file in await sandbox.stock():
                    if file.size <= SCANNED // 4:
                        self._contents.put((host, file.path), await _text(sandbox, file.path, SCANNED))
            except ReportableError:
                continue

    async def edited(self, host: str, path: str, before: bytes | None, after: bytes, step: int) -> None:
        """An action replaced a file; `before` is None where there was none."""
        self._contents.put((host, path), after)
        large = max(len(before or b""), len(after)) > EDITED
        await self._sink.emit(FileChanged(
            host=host, path=path, size=len(after), step=step, too_large=large,
            before="" if before is None or large else await self._sink.put_blob(before),
            after="" if large else await self._sink.put_blob(after)))
        await self.scan(host, step)  # so that a later scan does not find our own edit

    async def scan(self, host: str, step: int) -> list[str]:
        """Emit what changed under the workspace since the last look; gives the paths."""
        sandbox = self._hosts[host]
        try:
            changes = (await sandbox.changed())[:PER_SCAN]
            emitted = [c.path for c in changes if await self._changed(sandbox, host, c, step)]
        except ReportableError:
            return []
        return emitted

    async def _changed(self, sandbox: Sandbox, host: str, change: FileChange, step: int) -> bool:
        key = (host, change.path)
        before = self._contents.get(key)
        after = None if change.gone else await self._read(sandbox, key, change)
        if not change.gone and before is not None and before == after:
            return False  # touched, or edited by an action that told already
        self._contents.put(key, after)
        unknown = (before is None and not change.new) or (after is None and not change.gone)
        await self._sink.emit(FileChanged(
            host=host, path=change.path, size=change.size, step=step, too_large=unknown,
            before="" if before is None else await self._sink.put_blob(before),
            after="" if after is None else await self._sink.put_blob(after)))
        return True

    async def _read(self, sandbox: Sandbox, key: tuple[str, str], change: FileChange) -> bytes | None:
        times = self._times[key] = self._times.get(key, 0) + 1
        if change.size > SCANNED or (times > REPEATED and change.size > 32 << 10):
            return None
        return await _text(sandbox, change.path, SCANNED)


async def _text(sandbox: Sandbox, path: str, limit: int) -> bytes | None:
    """A file's content if it is text and short; None otherwise, or when it is gone again."""
    try:
        data = await sandbox.read_file(path, limit)
    except ReportableError:
        return None
    return None if b"\0" in data[:8192] else data
