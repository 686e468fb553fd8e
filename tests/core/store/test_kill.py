"""kill -9 of a writing process at any moment: everything that it told of is in the file, and the file is sound."""

import random
import signal
import subprocess
import sys

import pytest
from support.logs import make_session

from core.store import log
from core.store.backup import damage
from core.store.schema import open_log

BODIES, _ = make_session(steps=20, seed=4)

_CHILD = """
import sys
from support.logs import make_session
from core.store import log
from core.store.writer import Writer

bodies, _ = make_session(steps=20, seed=4)
writer = Writer(sys.argv[1])
writer.do_blocking(lambda conn: log.create(conn, "s"))
at = writer.do_blocking(lambda conn: log.head(conn, "s"))
while True:
    body = bodies[at % len(bodies)]
    at = writer.do_blocking(lambda conn: log.append(conn, "s", [body]))
    print(at, flush=True)
"""


@pytest.mark.parametrize("seed", range(3))
def test_what_a_killed_process_told_of_is_there(tmp_path, seed):
    chance = random.Random(seed)
    path = tmp_path / "server.db"
    reported = 0
    for _ in range(2):
        child = subprocess.Popen([sys.executable, "-c", _CHILD, str(path)], stdout=subprocess.PIPE, text=True,
                                 env={"PYTHONPATH": ":".join(sys.path)})
        for _ in range(chance.randint(1, 200)):
            reported = int(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
        reported = int((child.stdout.read().strip().splitlines() or [reported])[-1])
        child.wait()
        child.stdout.close()
    conn = open_log(path)
    held = [p.body for p in log.read_all(conn, "s")]
    assert reported <= len(held) <= reported + 1 and damage(conn) == ""
    assert held == [BODIES[n % len(BODIES)] for n in range(len(held))]
    assert log.row(conn, "s").seq == log.head(conn, "s") == len(held)
