"""N1: 50 subscribers, events of 100 kB: the server's processor time per delivery.

The baseline is a bare websockets server with the library's defaults (permessage-deflate) that sends the same
frames to as many readers. Both run here, alternately. The text is program text as people write it (the standard
library's own): text that repeats itself costs the baseline's compressor next to nothing, and would prove nothing.
"""

from __future__ import annotations

import asyncio
import random
import resource
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import rig
from support.wire import raw_peer
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from core.domain.events import NoteAdded, encode_event, make_event
from core.domain.verdict import Author
from core.protocol.client_state import SEEN_BYTES
from core.protocol.codec import decode_from_server
from core.protocol.frames import PACKED, unpack
from core.protocol.messages import PROTOCOL, Append, Events, Hello, Lease, Leased, Seen, Subscribe
from core.protocol.messages import Command as WireCommand
from core.protocol.operations import ImportSession

READERS, EVENTS, SIZE, ROUNDS = 50, 40, 100_000, 3
BARE_EVENTS = 10
"""The baseline takes so long that fewer are enough."""


@cache
def _library() -> str:
    sources = sorted(Path(asyncio.__file__).parents[1].glob("*.py"))
    return "".join(path.read_text(encoding="utf-8", errors="replace") for path in sources[:100])


def text() -> str:
    """A piece of real program text; deflate makes about a third of it."""
    begin = random.randrange(len(_library()) - SIZE)
    return _library()[begin : begin + SIZE]


async def ours(home: Path) -> float:
    """Processor seconds of our server per delivery."""
    import msgspec

    with rig.server(home) as process:
        bodies = [encode_event(make_event(NoteAdded(step=0, text=text()), Author(kind="agent", name="s")))
                  for _ in range(EVENTS)]
        async with raw_peer(process.url, process.token, client="writer") as writer:
            await writer.ask(WireCommand(id="make", cseq=1, session="s", op=ImportSession(origin="bench")))
            leased = await writer.ask(Lease(session="s", journal="j"), Leased)
            assert isinstance(leased, Leased)
            ready = asyncio.Barrier(READERS + 1)
            readers = [_read(process, n, ready) for n in range(READERS)]
            gathered = asyncio.gather(*readers)
            await ready.wait()
            before = process.cpu_s
            for n, body in enumerate(bodies, 1):
                await writer.ask(Append(session="s", fence=leased.fence, first=n, bodies=(msgspec.Raw(body),)))
            await gathered
            return (process.cpu_s - before) / (READERS * EVENTS)


async def _read(process: rig.ServerProcess, number: int, ready: asyncio.Barrier) -> None:
    async with raw_peer(process.url, process.token, client=f"reader{number}", hello=False) as peer:
        await peer.say(Hello(protocol=PROTOCOL, client=f"reader{number}", capabilities=(PACKED,)))
        await peer.hear()
        await peer.say(Subscribe(session="s", after=0))
        await ready.wait()
        held = unsaid = 0
        while held < EVENTS:
            frame = await peer.socket.recv()
            message = decode_from_server(unpack(frame) if isinstance(frame, bytes) else frame)
            assert isinstance(message, Events)
            held = message.first + len(message.bodies) - 1
            unsaid += sum(len(body) for body in message.bodies)
            if unsaid >= SEEN_BYTES:  # as our client does
                unsaid = 0
                await peer.say(Seen(session="s", seq=held))


async def baseline() -> float:
    """Processor seconds per delivery of a bare server with the library's defaults, in a process of its own."""
    process = await asyncio.create_subprocess_exec(sys.executable, __file__, "baseline", stdout=subprocess.PIPE)
    assert process.stdout is not None
    url = (await process.stdout.readline()).decode().strip()

    async def read() -> None:
        async with connect(url, max_size=None, proxy=None, ping_interval=None) as socket:
            for _ in range(BARE_EVENTS):
                await socket.recv()

    await asyncio.gather(*(read() for _ in range(READERS)))
    seconds = float((await process.stdout.readline()).decode())
    await process.wait()
    return seconds / (READERS * BARE_EVENTS)


async def _bare() -> None:
    frames = [text() for _ in range(BARE_EVENTS)]
    everyone = asyncio.Barrier(READERS)
    left = asyncio.Semaphore(0)
    used = [0.0]

    async def handle(socket: ServerConnection) -> None:
        await everyone.wait()
        used[0] = used[0] or _cpu()
        for frame in frames:
            await socket.send(frame)
        await socket.wait_closed()
        left.release()

    async with serve(handle, "127.0.0.1", 0, max_size=None, ping_interval=None) as server:
        print(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        for _ in range(READERS):
            await left.acquire()
    print(_cpu() - used[0], flush=True)


def _cpu() -> float:
    told = resource.getrusage(resource.RUSAGE_SELF)
    return told.ru_utime + told.ru_stime


async def main() -> None:
    """Alternate rounds; the median of each."""
    mine, theirs = [], []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            mine.append(await ours(Path(folder)))
        theirs.append(await baseline())
    own, bare = sorted(mine)[ROUNDS // 2] * 1e6, sorted(theirs)[ROUNDS // 2] * 1e6
    rig.told("fanout", readers=READERS, event_kb=SIZE // 1000, server_cpu_us_per_delivery=round(own),
             library_defaults_us=round(bare), ratio=round(bare / own, 1))


if __name__ == "__main__":
    asyncio.run(_bare() if sys.argv[1:] == ["baseline"] else main())
