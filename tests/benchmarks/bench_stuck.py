"""N2: one reader subscribes and stops reading while 150 MB are written: growth of the server's memory.

Plain `websockets.broadcast` grows by 147 MB here. Afterwards the reader reads on and must hold the whole log.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import msgspec
import rig
from support.wire import RawPeer, log_of, raw_peer

from core.domain.events import NoteAdded, encode_event, make_event
from core.domain.verdict import Author
from core.protocol.messages import Append, Command, Events, Lease, Leased, Seen, Subscribe
from core.protocol.operations import ImportSession

EVENTS, SIZE = 1500, 100_000


async def growth(reads: bool) -> tuple[float, bool]:
    """MB by which the server grew while the log was written, with a reader that reads or one that is stuck."""
    text = "x" * SIZE
    with tempfile.TemporaryDirectory() as folder, rig.server(Path(folder)) as process:
        async with (
            raw_peer(process.url, process.token, client="writer") as writer,
            raw_peer(process.url, process.token, client="reader") as reader,
        ):
            await writer.ask(Command(id="make", cseq=1, session="s", op=ImportSession(origin="bench")))
            leased = await writer.ask(Lease(session="s", journal="j"), Leased)
            assert isinstance(leased, Leased)
            await reader.say(Subscribe(session="s", after=0))
            before = process.rss_mb
            reading = asyncio.gather(*([_read(reader)] if reads else []))
            for n in range(1, EVENTS + 1):
                body = encode_event(make_event(NoteAdded(step=0, text=text), Author(kind="agent", name="s")))
                await writer.ask(Append(session="s", fence=leased.fence, first=n, bodies=(msgspec.Raw(body),)))
            grown = process.rss_mb - before
            held = (await reading or [await _read(reader)])[0]
            return grown, held == log_of(Path(folder) / "server.db", "s")[:EVENTS]


async def _read(reader: RawPeer) -> list[bytes]:
    held: list[bytes] = []
    while len(held) < EVENTS:
        message = await reader.hear(Events)
        assert isinstance(message, Events)
        assert message.first == len(held) + 1
        held += [bytes(b) for b in message.bodies]
        await reader.say(Seen(session="s", seq=len(held)))
    return held


async def main() -> None:
    """A server with a good reader and one with a stuck one; the difference is what the stuck one costs."""
    good, _ = await growth(reads=True)
    stuck, same = await growth(reads=False)
    rig.told("stuck", written_mb=EVENTS * SIZE // 1_000_000, growth_with_stuck_reader_mb=round(stuck, 1),
             growth_with_good_reader_mb=round(good, 1), cost_of_stuck_reader_mb=round(stuck - good, 1), limit_mb=20,
             resync_correct=same)


if __name__ == "__main__":
    asyncio.run(main())
