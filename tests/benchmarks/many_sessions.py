"""A replica with the rows of ten thousand sessions, as a lab has after a year."""

from __future__ import annotations

import random
import tempfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.domain.session import SessionRow
from core.store import log
from core.store.schema import open_log
from core.store.sqlite import transaction

COUNT = 10_000
TYPED = "state:finished steps>40 repair"


def make(count: int = COUNT) -> Path:
    """A replica with so many sessions' rows, of one that imports and runs; made where it is not there yet."""
    folder = Path(tempfile.gettempdir()) / f"tiphys-sessions-1-{count}"
    path, done = folder / "replica.db", folder / "done"
    if done.exists():
        return path
    folder.mkdir(exist_ok=True)
    fill(path, count)
    done.touch()
    return path


def fill(path: Path, count: int = COUNT) -> None:
    """Write the rows into a new replica."""
    with closing(open_log(path)) as conn, transaction(conn):
        for number in range(count):
            log.put_row(conn, row(number))


def row(number: int) -> SessionRow:
    """The row of a session like those of a lab: half of them live, one in fifty asks for a person."""
    chance = random.Random(number)
    began = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=7 * number)
    state = chance.choice(("finished", "finished", "finished", "failed", "stopped", "running"))
    verb = chance.choice(("Repair", "Train", "Profile", "Explain", "Port"))
    return SessionRow(
        session=f"s{number:06d}-{chance.randrange(16**12):012x}", seq=100, state=state,
        title=f"{verb} the {chance.choice(('loader', 'tokenizer', 'scheduler', 'sampler'))} of run {number}",
        task=f"task-{number % 97}", model=chance.choice(("own-large", "own-small")),
        origin=chance.choice(("live", "claude-code")), steps=chance.randrange(2500), errors=chance.randrange(40),
        score=chance.choice((None, 50.0)), cost_usd=chance.random(), tokens=chance.randrange(10**7),
        attention=("error",) if number % 50 == 0 else (), created_at=began, began_at=began,
        updated_at=began + timedelta(hours=1))
