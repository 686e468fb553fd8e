"""A client as somebody else writes it from `docs/protocol.md` alone: plain WebSocket, JSON by hand, no code of ours."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import struct
import sys
from collections.abc import AsyncIterator
from hashlib import blake2b
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


class Foreigner:
    """One greeted connection; commands are counted from 1."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.cseq = 0

    async def ask(self, **message: Any) -> dict[str, Any]:
        """Send a message; the next text frame."""
        await self.socket.send(json.dumps(message))
        return await self.hear()

    async def hear(self) -> dict[str, Any]:
        """The next text frame."""
        while True:
            frame = await asyncio.wait_for(self.socket.recv(), 60)
            if isinstance(frame, str):
                heard: dict[str, Any] = json.loads(frame)
                return heard

    async def command(self, session: str, *, again: bool = False, id: str = "", **op: Any) -> dict[str, Any]:
        """A command; its ack or nak."""
        self.cseq += 1
        return await self.ask(type="command", id=id or f"{self.socket.id}-{self.cseq}", cseq=self.cseq,
                              session=session, op=op, again=again)

    async def pay_in(self, data: bytes) -> str:
        """Send a payload; its name."""
        name, packed = blake2b(data, digest_size=32).digest(), zstd.compress(data)
        for at in range(0, len(packed), 262_144):
            head = struct.pack(">B32sQQ", 1, name, at, len(packed))
            await self.socket.send(head + packed[at : at + 262_144])
        return name.hex()

    async def close_code(self) -> int:
        """Read until the server closes."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(60):
                while True:
                    await self.socket.recv()
        return self.socket.close_code or 0


@contextlib.asynccontextmanager
async def foreigner(url: str, token: str, client: str = "foreign") -> AsyncIterator[Foreigner]:
    """Connect, as the page says, and greet. A fingerprint behind `#` is not checked."""
    tls = None
    if url.startswith("wss:"):
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    async with connect(url.partition("#")[0], subprotocols=["tiphys.v1"], compression=None, proxy=None, ssl=tls,  # type: ignore[list-item]
                       additional_headers={"Authorization": f"Bearer {token}"}, open_timeout=30) as socket:
        peer = Foreigner(socket)
        welcome = await peer.ask(type="hello", protocol=1, client=client, program="foreign 1")
        assert welcome["type"] == "welcome", welcome
        yield peer


def note(text: str = "x", kind: str = "agent", name: str = "runner", /, **fact: Any) -> dict[str, Any]:
    """An event as a runner writes it."""
    return {"id": text[:50], "at": "2026-01-01T00:00:00Z", "author": {"kind": kind, "name": name},
            "fact": fact or {"type": "note_added", "step": 0, "text": text}}
