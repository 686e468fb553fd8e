"""The host's side of a sandbox's daemon: one connection, requests matched with bounded answers.

Whatever breaks the rules of `core.sandbox.replies` (a wrong type, too much, too late) ends the connection and
raises `Unavailable`; the next request connects anew. Nothing that the daemon says is ever executed or imported.
"""

import asyncio
import logging
import struct
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from core.aio import TaskScope
from core.domain.errors import Conflict, InvalidInput, NotFound, ReportableError, Unavailable
from core.sandbox.replies import DECODER, AnyReply, DaemonReply, DataReply, DoneReply, ErrorReply, HelloReply

VERSION = 1
HEADER = struct.Struct("!II")
JSON_LIMIT = 4 << 20
DATA_LIMIT = 1 << 20
ANSWER_LIMIT = 12 << 20
"""The most bytes of data that one answer may bring."""

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
R = TypeVar("R", bound=DaemonReply)
_log = logging.getLogger("sandbox")
_ERRORS: dict[str, type[ReportableError]] = {
    "not_found": NotFound, "no_terminal": NotFound, "no_job": NotFound, "busy": Conflict, "job_exists": Conflict,
    "full": Conflict, "too_many": Conflict,
}


class _Waiting:
    """A request without its answer yet."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[AnyReply] = asyncio.get_running_loop().create_future()
        self.data = bytearray()


class DaemonLink:
    """Requests to one daemon. `connect` opens a stream to it; `name` is for messages."""

    def __init__(self, connect: Callable[[], Awaitable[Streams]], name: str) -> None:
        self.name = name
        self._connect = connect
        self._scope: TaskScope | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._waiting: dict[int, _Waiting] = {}
        self._rid = 0
        self._lock = asyncio.Lock()

    @property
    def is_open(self) -> bool:
        """Whether it was connected and not let go of since; the daemon may be gone."""
        return self._scope is not None

    async def ask(self, kind: type[R], op: str, data: bytes = b"", *, timeout: float = 30.0,
                  **fields: Any) -> tuple[R, bytes]:
        """Ask, and give the answer with its data. Raises what the daemon reports, or Unavailable."""
        writer = await self._connected()
        try:
            async with asyncio.timeout(timeout):
                reply, payload = await self._exchange(writer, op, data, fields)
        except TimeoutError:
            self._lose("sandbox_timeout", f"Sandbox {self.name} did not answer {op} within {timeout:g} s.")
            raise Unavailable("sandbox_timeout", f"Sandbox {self.name} did not answer {op} in time.") from None
        except OSError as error:
            raise self._lost(str(error)) from error
        if isinstance(reply, ErrorReply):
            raise _ERRORS.get(reply.code, InvalidInput)(reply.code, reply.text)
        if not isinstance(reply, kind):
            self._lose("sandbox_nonsense", f"Sandbox {self.name} answered {op} with {type(reply).__name__}.")
            raise Unavailable("sandbox_nonsense", f"Sandbox {self.name} gave an unreadable answer to {op}.")
        return reply, payload

    async def accept(self) -> Streams:
        """The next connection of a program inside to the port that the daemon listens at, as streams of its bytes.

        Waits as long as it takes. Raises Unavailable.
        """
        try:
            reader, writer = await self._connect()
        except OSError as error:
            raise self._lost(str(error)) from error
        try:
            text = msgspec.json.encode({"rid": 1, "op": "accept"})
            writer.write(HEADER.pack(len(text), 0) + text)
            size, extra = HEADER.unpack(await reader.readexactly(HEADER.size))
            reply = DECODER.decode(await reader.readexactly(size)) if size <= JSON_LIMIT and not extra else None
            if not isinstance(reply, DoneReply):
                raise Unavailable("sandbox_nonsense", f"Sandbox {self.name} gave an unreadable answer to accept.")
        except (OSError, asyncio.IncompleteReadError, ValueError, RecursionError) as error:
            writer.close()
            raise self._lost(str(error)) from error
        except BaseException:
            writer.close()
            raise
        return reader, writer

    async def close(self) -> None:
        """Let go of the connection."""
        scope, self._scope = self._scope, None
        self._drop(self._lost("closed"))
        if scope is not None:
            await scope.close()

    async def _exchange(self, writer: asyncio.StreamWriter, op: str, data: bytes,
                        fields: dict[str, Any]) -> tuple[AnyReply, bytes]:
        self._rid += 1
        rid = self._rid
        waiting = self._waiting[rid] = _Waiting()
        text = msgspec.json.encode({"rid": rid, "op": op, **fields})
        try:
            writer.write(HEADER.pack(len(text), len(data)) + text + data)
            await writer.drain()
            return await waiting.answer, bytes(waiting.data)
        finally:
            self._waiting.pop(rid, None)
            if not waiting.answer.cancel() and not waiting.answer.cancelled():
                waiting.answer.exception()  # looked at: the reading may tell of the connection's end before the writing

    async def _connected(self) -> asyncio.StreamWriter:
        async with self._lock:
            if self._writer is not None:
                return self._writer
            try:
                async with asyncio.timeout(15):
                    return await self._open()
            except (OSError, TimeoutError) as error:
                self._drop(self._lost(str(error)))
                raise self._lost(str(error) or "no answer") from error

    async def _open(self) -> asyncio.StreamWriter:
        if self._scope is not None:
            await self._scope.close()
        reader, writer = await self._connect()
        self._scope = TaskScope(f"sandbox {self.name}")
        self._writer = writer
        self._scope.spawn(self._read(reader, writer), name="read")
        hello, _ = await self._exchange(writer, "hello", b"", {})
        if not isinstance(hello, HelloReply) or hello.version != VERSION:
            error = Unavailable("sandbox_version", f"Sandbox {self.name} speaks another version; make it anew.")
            self._drop(error)
            raise error
        return writer

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        error: ReportableError = self._lost("the connection ended")
        try:
            while True:
                size, extra = HEADER.unpack(await reader.readexactly(HEADER.size))
                if size > JSON_LIMIT or extra > DATA_LIMIT:
                    raise msgspec.ValidationError("a frame is too long")
                text = await reader.readexactly(size)
                self._take(DECODER.decode(text), await reader.readexactly(extra))
        except (OSError, asyncio.IncompleteReadError):
            pass
        except (ValueError, RecursionError) as wrong:
            _log.warning("Sandbox %s broke the protocol: %s", self.name, wrong)
            error = Unavailable("sandbox_nonsense", f"Sandbox {self.name} gave an unreadable answer.")
        finally:
            writer.close()
            if self._writer is writer:
                self._drop(error)

    def _take(self, reply: AnyReply, data: bytes) -> None:
        waiting = self._waiting.get(reply.rid)
        if waiting is None or waiting.answer.done():
            return  # its asker went away
        waiting.data += data
        if len(waiting.data) > ANSWER_LIMIT:
            raise msgspec.ValidationError("an answer is too long")
        if not isinstance(reply, DataReply):
            waiting.answer.set_result(reply)

    def _drop(self, error: ReportableError) -> None:
        writer, self._writer = self._writer, None
        if writer is not None and not _is_over(writer):
            writer.transport.abort()  # nobody waits for what is not sent yet, and whom it was for may never take it
        for waiting in self._waiting.values():
            if not waiting.answer.done():
                waiting.answer.set_exception(error)

    def _lose(self, code: str, sentence: str) -> None:
        _log.warning("%s", sentence)
        self._drop(Unavailable(code, sentence))

    def _lost(self, why: str) -> Unavailable:
        return Unavailable("sandbox_lost", f"Sandbox {self.name} cannot be reached: {why}.", why=why)


def _is_over(writer: asyncio.StreamWriter) -> bool:
    """Whether nothing is left to be let go. A pipe that was lost raises AttributeError when it is aborted, one with TLS
    when it is asked what it still holds."""
    try:
        return writer.transport.is_closing() and not writer.transport.get_write_buffer_size()
    except AttributeError:
        return True
