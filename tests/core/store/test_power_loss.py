"""Power goes at any moment: what was acknowledged is there, whole and in order, and nothing is damaged."""

import os
import random
from concurrent.futures import Future

import pytest
from support.logs import make_session
from support.power import Connection, RecordingDisk, after_power_loss

from core.store import blobs, log, sqlite
from core.store.backup import damage
from core.store.schema import open_log
from core.store.writer import Writer

CUTS = int(os.environ.get("TIPHYS_CUTS", "200"))
BODIES, BLOBS = make_session(steps=40, guidance=8, seed=11)


class Recording:
    """The program's own writer at work on a disk that notes everything, and when each append was acknowledged."""

    def __init__(self, folder, synchronous=""):
        path = folder / "server.db"
        prepared = open_log(path)
        log.create(prepared, "s")
        prepared.execute("PRAGMA journal_mode=DELETE")
        prepared.close()
        self.start = {str(path): path.read_bytes()}
        self.path = str(path)
        self.disk = RecordingDisk()
        self.acknowledged = []
        with Writer(path, lambda p: self.open(p, synchronous)) as writer:
            self.fill(writer)
        self.operations = list(self.disk.operations)

    def open(self, path, synchronous):
        conn = Connection(path, self.disk)
        # the settings under test are the program's own
        sqlite._settle(conn, readonly=False, durable=True, page=sqlite.PAGE)
        conn.execute("PRAGMA wal_autocheckpoint=8")  # many checkpoints in few commits: they are the dangerous part
        if synchronous:
            conn.execute(f"PRAGMA synchronous={synchronous}")
        return conn

    def fill(self, writer):
        chance = random.Random(5)
        payloads = iter(BLOBS.values())
        at = 0
        while at < len(BODIES):
            futures = []
            for _ in range(chance.choice((1, 1, 2, 5))):  # some commits hold several pieces of work
                part = BODIES[at : at + chance.randint(1, 3)]
                at += len(part)
                payload = next(payloads, b"")
                futures.append(writer.submit(lambda conn, part=part, payload=payload: self.work(conn, part, payload)))
            for future in futures:
                self.note(future)

    def work(self, conn, part, payload):
        return blobs.put(conn, payload), log.append(conn, "s", part) if part else log.head(conn, "s")

    def note(self, future: Future):
        name, head = future.result()
        self.acknowledged.append((len(self.disk.operations), name, head))

    def promised(self, moment):
        """What was acknowledged by then: the head, and the payloads."""
        heads = [(head, name) for when, name, head in self.acknowledged if when <= moment]
        return max((head for head, _ in heads), default=0), {name for _, name in heads}

    def check(self, moment, chance, folder):
        """Cut the power at a moment, open what is left; what is wrong with it, or an empty text."""
        for number, (path, data) in enumerate(after_power_loss(self.start, self.operations[:moment], chance).items()):
            suffix = path.removeprefix(self.path)
            assert suffix in ("", "-wal", "-journal"), number
            (folder / f"cut.db{suffix}").write_bytes(data)
        head, names = self.promised(moment)
        conn = open_log(folder / "cut.db")
        try:
            return _wrong(conn, head, names)
        finally:
            conn.close()
            for rest in folder.glob("cut.db*"):
                rest.unlink()


def _wrong(conn, head, names):
    if found := damage(conn):
        return f"damaged: {found}"
    held = [p.body for p in log.read_all(conn, "s")]
    if held != BODIES[: len(held)] or len(held) != log.head(conn, "s") or log.row(conn, "s").seq != len(held):
        return "half a transaction"
    if len(held) < head:
        return f"lost events {len(held) + 1}..{head}"
    if lost := blobs.missing(conn, names):
        return f"lost payloads {lost}"
    if any(blobs.get(conn, name) is None for name in names):
        return "a payload cannot be read"
    return ""


def run(recording, cuts, folder, seed):
    chance = random.Random(seed)
    moments = sorted(chance.randrange(len(recording.operations) + 1) for _ in range(cuts))
    return [wrong for moment in moments if (wrong := recording.check(moment, chance, folder))]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "cuts").mkdir()
    return tmp_path / "cuts"


def test_acknowledged_work_survives_power_loss_at_any_moment(tmp_path, folder):
    recording = Recording(tmp_path)
    assert recording.promised(len(recording.operations))[0] == len(BODIES)
    assert len(recording.acknowledged) > 30
    assert run(recording, CUTS, folder, seed=1) == []


def test_the_attack_finds_what_weaker_settings_lose(tmp_path, folder):
    """The test above means something: with synchronous=NORMAL the same cuts lose acknowledged events."""
    recording = Recording(tmp_path, synchronous="NORMAL")
    wrong = run(recording, 40, folder, seed=1)
    assert len(wrong) > 5 and all(w.startswith("lost") for w in wrong)
