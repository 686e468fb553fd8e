"""A worker whose parent died before it could answer ends in silence: its errors would stand in the server's log."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import msgspec
from core.workers.messages import WorkerRequest
from core.workers.serve import answer_line, serve

class Ask(WorkerRequest[int], frozen=True, kw_only=True):
    pass

decoder = msgspec.json.Decoder(Ask)
serve(lambda send: lambda line: answer_line(line, decoder, lambda request: 1, send))
"""


def test_a_worker_without_a_reader_ends_without_a_word() -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as worker:
        assert worker.stdout is not None
        worker.stdout.close()
        _, errors = worker.communicate(b'{"id": 1}\n' * 3, timeout=60)
    assert (worker.returncode, errors) == (0, b"")
