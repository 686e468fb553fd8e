"""A TCP proxy that does to connections what networks do: reset, hold, slice, delay, end inside a frame, arrive late."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable

from core.aio import TaskScope

LATE_S = 0.3


class Pipe:
    """Passes bytes between clients and the server that `target` names at the moment; counts what it did to them."""

    def __init__(self, target: Callable[[], tuple[str, int] | None], chance: random.Random) -> None:
        self._target, self._chance = target, chance
        self._scope = TaskScope("pipe")
        self._writers: set[asyncio.StreamWriter] = set()
        self._open = asyncio.Event()
        self._open.set()
        self.port = 0
        self.slow_s = 0.0
        self.late = False
        self.cut_after: list[int] = []
        """How many bytes the next transfers may still pass before their connection is cut."""

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Let go of everything."""
        self._server.close()
        self.reset()
        await self._scope.close()

    def reset(self) -> None:
        """Cut every connection."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def black_hole(self, seconds: float, then_reset: bool) -> None:
        """Bytes go nowhere for a while, though every connection stays open."""
        self._open.clear()
        await asyncio.sleep(seconds)
        if then_reset:
            self.reset()
        self._open.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        target = self._target()
        try:
            if target is None:
                raise OSError
            there_reader, there_writer = await asyncio.open_connection(*target)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, there_writer}
        self._scope.spawn(self._pump(reader, there_writer, self.late), name="up")
        self._scope.spawn(self._pump(there_reader, writer, False), name="down")

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, late: bool) -> None:
        """With `late`, what is read arrives a while after, also when the sender has long reconnected."""
        held: list[bytes] = []
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                await self._open.wait()
                if late:
                    held.append(data)
                    await asyncio.sleep(LATE_S)
                    data = held.pop(0)
                await self._pass(data, writer)
        writer.transport.abort() if not late else writer.close()
        self._writers.discard(writer)

    async def _pass(self, data: bytes, writer: asyncio.StreamWriter) -> None:
        if writer.transport.is_closing():
            raise ConnectionResetError
        if self.cut_after and len(data) > 8:
            most = self.cut_after.pop()
            writer.write(data[: most % len(data)])
            await writer.drain()
            raise ConnectionResetError
        if self.slow_s:
            for start in range(0, len(data), 700):
                if writer.transport.is_closing():
                    raise ConnectionResetError
                writer.write(data[start : start + 700])
                await asyncio.sleep(self.slow_s * self._chance.random())
            return
        writer.write(data)
        await writer.drain()
