"""A session of three steps, over and over: each time one party dies before or after its n-th COMMIT or send.

Enumerated, not sampled: n grows until the party lives through the whole session.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec
from faults.evidence import Evidence
from faults.invariants import Violation, check
from faults.processes import Zygote
from faults.stand import Settings, Stand, standing, until, zygote

from core.store import log
from core.store.sqlite import connect

PARTIES = ("server", "agent", "client")
SETTINGS = Settings(clients=1, steps=2, pace_s=0.03, failing=0.0, clock=False)


class Death(msgspec.Struct, frozen=True, kw_only=True):
    """One session. `at` is the boundary at which the party died; "" where it lived to the end."""

    party: str
    number: int
    at: str
    violations: tuple[Violation, ...]


async def die(folder: Path, made: Zygote, party: str, number: int, without: str = "") -> Death:
    """Play the session with one death."""
    dies = {"party": party, "at": number}
    settings = msgspec.structs.replace(SETTINGS, without=without)
    found: list[Violation] = []
    async with standing(folder, settings, made, dies=dies, recite=True) as stand:
        try:
            await until(lambda: _is_whole(stand), 60)
        except TimeoutError:
            found.append(Violation("I8", "lost", "the session came to no end"))
    found += check(Evidence(folder))
    marker = folder / f"died-{party}"
    return Death(party=party, number=number, at=marker.read_text() if marker.exists() else "", violations=tuple(found))


def _is_whole(stand: Stand) -> bool:
    """Whether all eight commands are answered, the session is over and the copy is whole."""
    replica = stand.folder / "client1.db"
    if not replica.exists() or not (stand.is_settled() and stand.is_over()):
        return False
    with contextlib.closing(connect(replica, readonly=True)) as conn:
        [answered] = conn.execute("SELECT count(*) FROM outbox WHERE state != 'queued'").fetchone()
        rows = log.rows(conn)
        return answered == 8 and all(log.head(conn, r.session) >= r.seq for r in rows)


async def die_at(
    folder: Path, points: Iterable[tuple[str, int]], without: str = "", enough: int = 0
) -> list[Death]:
    """One session per point; a party's points end with the first that it lives through, all after `enough` harms."""
    found: list[Death] = []
    over: set[str] = set()
    async with zygote(folder) as made:
        for party, number in points:
            if party in over:
                continue
            place = folder / f"{party}-{number}"
            place.mkdir()
            death = await die(place, made, party, number, without)
            if not death.at:
                over.add(party)
            if not death.violations:
                shutil.rmtree(place)
            found.append(death)
            if enough and sum(bool(d.violations) for d in found) >= enough:
                break
    return found


def every(limit: int = 2000) -> list[tuple[str, int]]:
    """Every boundary of every party, in turns."""
    return [(party, n) for n in range(1, limit) for party in PARTIES]


def run(folder: Path, points: Iterable[tuple[str, int]], without: str = "", enough: int = 0) -> list[Death]:
    """The same for those without an event loop."""
    return asyncio.run(die_at(folder, points, without, enough))
