"""Worker processes: JSON lines out, requests in, a tidy end, and words for a bad one."""

import sys

import msgspec
import pytest
import shiboken6
from PySide6.QtCore import QObject

from app.desk.worker import GRACE_MS, Worker, read_line

ECHO = """
import sys, json
for line in sys.stdin:
    print("noise")
    print(json.dumps({"got": json.loads(line)}), flush=True)
"""
TIDY = """
import signal, sys, json, time
signal.signal(signal.SIGTERM, lambda *_: (print(json.dumps({"stopped": True}), flush=True), sys.exit(0)))
print(json.dumps({"ready": True}), flush=True)
while True: time.sleep(0.05)
"""


@pytest.fixture
def run(qapp):
    owner = QObject()
    made = []

    def start(program: str) -> tuple[Worker, list, list]:
        worker = Worker([sys.executable, "-c", program], owner)
        lines, ended = [], []
        worker.line.connect(lambda line: lines.extend(filter(None, [read_line(line, msgspec.json.decode)])))
        worker.ended.connect(lambda *end: ended.append(end))
        worker.start()
        made.append(worker)
        return worker, lines, ended

    yield start
    for worker in made:
        if shiboken6.isValid(worker):
            worker.kill()


def test_requests_are_answered_and_noise_is_passed_over(run, qtbot) -> None:
    worker, lines, _ = run(ECHO)
    worker.send('{"id": 1, "text": "训练\\n"}\n'.encode())
    worker.send(b'{"id": 2}\n')
    qtbot.waitUntil(lambda: len(lines) == 2, timeout=60_000)
    assert lines == [{"got": {"id": 1, "text": "训练\n"}}, {"got": {"id": 2}}]


def test_stopping_lets_the_process_end_by_itself(run, qtbot) -> None:
    worker, lines, ended = run(TIDY)
    qtbot.waitUntil(lambda: lines == [{"ready": True}], timeout=60_000)
    worker.stop()
    qtbot.waitUntil(lambda: bool(ended), timeout=60_000)
    assert lines[-1] == {"stopped": True}
    assert ended == [(0, "")]


def test_a_process_that_does_not_end_is_killed_after_the_grace_that_it_is_given(run, qtbot) -> None:
    worker, lines, ended = run(TIDY.replace("sys.exit(0)", "None"))
    qtbot.waitUntil(lambda: lines == [{"ready": True}], timeout=60_000)
    worker.stop(grace_ms=1)
    qtbot.waitUntil(lambda: bool(ended), timeout=GRACE_MS // 2)
    assert ended[0][0] == -1


def test_a_bad_end_gives_its_last_words(run, qtbot) -> None:
    _, _, ended = run("import sys; sys.exit('no such data set')")
    qtbot.waitUntil(lambda: bool(ended), timeout=60_000)
    assert ended == [(1, "no such data set")]


def test_a_program_that_is_not_there_is_an_end_too(run, qtbot, monkeypatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    _, _, ended = run("")
    qtbot.waitUntil(lambda: bool(ended), timeout=60_000)
    assert ended[0][0] == -1


def test_a_process_whose_owner_goes_may_still_save(run, qtbot, tmp_path) -> None:
    kept = tmp_path / "saved"
    saving = f"open({str(kept)!r}, 'w').write('checkpoint')"
    worker, lines, _ = run(TIDY.replace("print(json.dumps({\"stopped\": True}), flush=True)", saving))
    qtbot.waitUntil(lambda: bool(lines), timeout=60_000)
    shiboken6.delete(worker)
    assert kept.read_text() == "checkpoint"
