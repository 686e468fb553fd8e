"""What a search over the wire costs: answers while the index is made and after, and how long commands wait meanwhile.

The log is the viewer's made session, shorter (`stress.py`). The server has never been searched: its index is made from
the first question on, in the worker's process.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import rig
import stress
from support.wire import RawPeer, raw_peer

from core.protocol.messages import Command, Found, Search
from core.protocol.operations import AddNote
from core.store.home import Home

COMMON, MISSING, ROUNDS = "traken", "nowheretobefound", 20


class Asker:
    """Two connections: one asks, the other one commands."""

    def __init__(self, searching: RawPeer, commanding: RawPeer) -> None:
        self._searching, self._commanding = searching, commanding
        self._asked = self._commanded = 0

    async def search(self, words: str) -> tuple[Found, float]:
        """An answer, and the milliseconds that it took."""
        self._asked += 1
        began = time.perf_counter()
        found = await self._searching.ask(Search(id=f"q{self._asked}", words=words), Found)
        assert isinstance(found, Found)
        return found, (time.perf_counter() - began) * 1000

    async def command(self) -> float:
        """The milliseconds of one durable command."""
        self._commanded += 1
        began = time.perf_counter()
        await self._commanding.ask(Command(id=f"m{self._commanded}", cseq=self._commanded, session=stress.SESSION,
                                           op=AddNote(step=0, text="a remark")))
        return (time.perf_counter() - began) * 1000


async def measured(asker: Asker, steps: int) -> None:
    """Print the figures."""
    idle = [await _paced(asker) for _ in range(60)]
    began = time.perf_counter()
    first, first_ms = await asker.search(COMMON)
    busy: list[float] = []
    found = first
    while found.behind > 60:
        busy += [await _paced(asker) for _ in range(20)]
        found, _ = await asker.search(COMMON)
    made_s = time.perf_counter() - began
    later = []
    for _ in range(ROUNDS):
        await asyncio.sleep(0.3)
        later.append((await asker.search(COMMON))[1])
    _, missing_ms = await asker.search(MISSING)
    rig.told("search", steps=steps, first_answer_ms=round(first_ms), first_hits=len(first.hits),
             index_made_s=round(made_s, 1), indexed=rig.quantiles(later), missing_word_ms=round(missing_ms),
             command_idle=rig.quantiles(idle), command_while_indexing=rig.quantiles(busy or [0.0, 0.0]),
             ratio=round(statistics.median(busy or idle) / statistics.median(idle), 2))


async def _paced(asker: Asker) -> float:
    await asyncio.sleep(0.05)
    return await asker.command()


async def main(steps: int) -> None:
    """A server on a copy of the made session."""
    made = stress.make(steps)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(made, Home(Path(folder)).server_db)
        with rig.server(Path(folder)) as process:
            async with (
                raw_peer(process.url, process.token, client="asker") as one,
                raw_peer(process.url, process.token, client="commander") as two,
            ):
                await measured(Asker(one, two), steps)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20_000)
    asyncio.run(main(parser.parse_args().steps))
