"""Follows every terminal of the session into the log: `TerminalOutput` facts by absolute offset.

Output is gathered for a moment before it is emitted, and a flood is thinned: beyond a budget only the newest
part is kept, and the jump of the offset shows the gap. What a command printed is read from the terminal
itself, so thinning never touches what the model sees.
"""

import asyncio
import time
from collections import deque
from collections.abc import Mapping

from core.actions.sink import ActionSink
from core.aio import TaskScope
from core.domain.errors import ReportableError
from core.domain.events import TerminalOutput
from core.protocol.server_state import Bucket
from core.sandbox.sandbox import Sandbox
from core.sandbox.values import Chunk

GATHER_S = 0.2
INLINE = 4096
BURST = 4 << 20
RATE = 32 << 10
"""Bytes per second that a terminal may add to the log in the long run."""
TAIL = 64 << 10
"""How much of a flood's newest part is kept."""


class OutputBudget:
    """What one terminal may add to the log: a burst, then a trickle."""

    def __init__(self) -> None:
        self._bucket = Bucket(RATE, BURST)

    def thinned(self, data: bytes) -> tuple[int, bytes]:
        """What of more output is kept, and at which of its bytes that begins: all, its newest part, or nothing."""
        for start in (0, max(0, len(data) - TAIL)):
            if self._bucket.take(time.monotonic(), len(data) - start):
                return start, data[start:]
        return len(data), b""


class _Stream:
    """One followed terminal."""

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.reached = asyncio.Event()
        self.hurry = asyncio.Event()
        self.budget = OutputBudget()
        self.times: deque[tuple[float, int]] = deque(maxlen=5000)


class TerminalFollower:
    """Emits what terminals print. `offsets` says how far, by "host/terminal"."""

    def __init__(self, hosts: Mapping[str, Sandbox], sink: ActionSink) -> None:
        self._hosts = hosts
        self._sink = sink
        self._known: dict[str, int] = {}
        self._streams: dict[str, _Stream] = {}
        self._scope: TaskScope | None = None

    async def start(self, scope: TaskScope, offsets: Mapping[str, int]) -> None:
        """Go on where a runner before stopped, with all terminals that there are."""
        self._scope, self._known = scope, dict(offsets)
        for host, sandbox in self._hosts.items():
            for terminal in await sandbox.terminals.list():
                self.follow(host, terminal.name)

    def follow(self, host: str, terminal: str) -> None:
        """Follow a terminal, if it is not followed yet."""
        key = f"{host}/{terminal}"
        if key not in self._streams and self._scope is not None:
            stream = self._streams[key] = _Stream(self._known.get(key, 0))
            self._scope.spawn(self._run(host, terminal, key, stream), name=key)

    def offset(self, host: str, terminal: str) -> int:
        """How far a terminal was emitted."""
        key = f"{host}/{terminal}"
        stream = self._streams.get(key)
        return stream.offset if stream else self._known.get(key, 0)

    def offsets(self) -> dict[str, int]:
        """How far each terminal was emitted."""
        return self._known | {key: s.offset for key, s in self._streams.items()}

    def offset_at(self, host: str, terminal: str, when: float) -> int:
        """The length of a stream at a time (seconds since 1970); 0 for times before it was followed."""
        stream = self._streams.get(f"{host}/{terminal}")
        return next((o for t, o in reversed(stream.times) if t <= when), 0) if stream else 0

    async def flush(self, timeout: float = 5.0) -> None:
        """Emit what has come so far; gives up silently where a sandbox does not answer."""
        for host, sandbox in self._hosts.items():
            try:
                async with asyncio.timeout(timeout):
                    for info in await sandbox.terminals.list():
                        await self._catch_up(f"{host}/{info.name}", info.total)
            except (TimeoutError, ReportableError):
                continue

    async def _catch_up(self, key: str, total: int) -> None:
        while (stream := self._streams.get(key)) is not None and stream.offset < total:
            stream.reached.clear()
            stream.hurry.set()
            await stream.reached.wait()

    async def _run(self, host: str, terminal: str, key: str, stream: _Stream) -> None:
        try:
            async for chunk in self._hosts[host].terminals.subscribe(terminal, stream.offset):
                if chunk.offset < stream.offset:  # a daemon made anew counts from the start: not the same bytes
                    chunk = Chunk(offset=stream.offset, data=chunk.data)
                await self._take(host, terminal, stream, chunk)
                stream.hurry.clear()
                try:
                    async with asyncio.timeout(GATHER_S):
                        await stream.hurry.wait()
                except TimeoutError:
                    pass
        except ReportableError:
            pass  # the terminal is gone; whoever opens it again follows it again
        finally:
            self._known[key] = stream.offset
            self._streams.pop(key, None)
            stream.reached.set()

    async def _take(self, host: str, terminal: str, stream: _Stream, chunk: Chunk) -> None:
        start, data = stream.budget.thinned(chunk.data)
        chunk = Chunk(offset=chunk.offset + start, data=data)
        if chunk.data:
            blob = await self._sink.put_blob(chunk.data) if len(chunk.data) > INLINE else ""
            await self._sink.emit(TerminalOutput(host=host, terminal=terminal, offset=chunk.offset,
                                                 size=len(chunk.data), blob=blob, data=b"" if blob else chunk.data))
        stream.offset = chunk.end
        stream.times.append((time.time(), chunk.end))
        stream.reached.set()
