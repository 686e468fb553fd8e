"""Putting a backup back: only a sound log takes the log's place, and nobody else may read the copies."""

from __future__ import annotations

import contextlib
import os
import random
import stat
from pathlib import Path

import pytest
from support.exported import write_log
from support.logs import Maker
from support.tally import tally

from core.domain.errors import InvalidInput, ProtocolMismatch, ReportableError
from core.store import log
from core.store.backup import back_up
from core.store.restore import Restored, restore, survey
from core.store.sqlite import connect, driver, transaction


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    maker = Maker(3)
    for _ in range(4):
        maker.add_step()
    return write_log(tmp_path / "sound.db", s=maker)


@pytest.fixture
def everybody_reads() -> None:
    """New files are for everybody, unless a program says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


def test_a_log_that_lacks_an_event_is_damaged_and_changes_nothing(sound, tmp_path):
    target = write_log(tmp_path / "server.db", old=Maker(4))
    whole = target.read_bytes()
    with contextlib.closing(driver.connect(str(sound))) as conn:
        for (name,) in conn.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            conn.execute(f"DROP TRIGGER {name}")  # no statement of ours could do it
        conn.execute("DELETE FROM event WHERE session = 's' AND seq = 3")
        conn.commit()
    for judge in (lambda: survey(sound), lambda: restore(sound, target)):
        with pytest.raises(InvalidInput, match="events of session s") as refused:
            judge()
        assert refused.value.code == "log_damaged"
    assert target.read_bytes() == whole
    assert [p.name for p in tmp_path.iterdir() if "server.db" in p.name] == ["server.db"]


def test_copies_are_for_their_owner_only(sound, tmp_path, everybody_reads):
    with contextlib.closing(connect(sound, readonly=True)) as conn:
        copy = back_up(conn, tmp_path / "copy.db")
    assert restore(copy, tmp_path / "server.db") == Restored(former=None, accounts=0)
    for path in (copy, tmp_path / "server.db"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with contextlib.closing(connect(tmp_path / "server.db")) as conn, transaction(conn):
        assert log.head(conn, "s") > 4


def rubbish(sound: bytes, dice: random.Random, number: int) -> bytes:
    """A file that somebody hands in for a backup: damaged, cut, or anything else."""
    data = bytearray(sound)
    match number % 5:
        case 0:
            return dice.randbytes(dice.randrange(1, 9_000))
        case 1:
            return sound[:16] + dice.randbytes(dice.randrange(1, 9_000))
        case 2:
            return sound[: dice.randrange(1, len(sound))]
        case 3:
            for _ in range(dice.randrange(1, 400)):
                data[dice.randrange(16, len(data))] = dice.randrange(256)
        case 4:
            place, length = dice.randrange(len(data)), dice.randrange(1, 5_000)
            data[place : place + length] = dice.randbytes(length)
    return bytes(data)


def test_rubbish_of_every_kind_is_refused_by_the_documented_codes(sound, tmp_path):
    """Random damage from a seed: `verify` ends as sound or with one of these codes, and nothing is restored."""
    whole, dice, wrong = sound.read_bytes(), random.Random(7), []
    target = write_log(tmp_path / "server.db", old=Maker(4))
    before = target.read_bytes()
    for number in range(300):
        path = tmp_path / "rubbish.db"
        path.write_bytes(rubbish(whole, dice, number))
        try:
            survey(path)
            continue
        except (InvalidInput, ProtocolMismatch) as error:
            code, status = error.code, error.exit_status
        except Exception as error:  # noqa: BLE001 - this is what is looked for
            wrong.append(f"{number}: {error!r}"[:200])
            continue
        with pytest.raises(ReportableError) as refused:
            restore(path, target)
        if (code, status) not in (("log_damaged", 2), ("not_a_log", 2), ("store_too_new", 1)):
            wrong.append(f"{number}: {code}")
        if refused.value.code != code or target.read_bytes() != before:
            wrong.append(f"{number}: {refused.value.code}, restored")
    tally("files of rubbish given to verify and restore", 300, wrong, "seed 7")
