"""Evaluation: what leaves the sandbox, what an evaluator may say, and what happens when it breaks."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from support.tasks import given_of

from core.domain.errors import InvalidInput, LimitReached, NotFound
from core.domain.task import Evaluator, Host, Task
from core.sandbox.local import LocalSandbox
from core.tasks import submission
from core.tasks.container_tests import SAFE_PATH
from core.tasks.evaluation import evaluate
from core.tasks.folder import list_folder
from core.tasks.scoring import Outcome, read_score
from core.tasks.submission import collect, pack


def score(script: str, timeout_s: float = 20.0, **files: bytes) -> Outcome:
    task = Task(id="t", title="T", description="d", evaluator=Evaluator(timeout_s=timeout_s))
    with TemporaryDirectory() as place:
        return asyncio.run(evaluate(given_of(Path(place), script, files, {"answer": b"42"}), task, None))


def test_the_last_line_is_the_score() -> None:
    script = """
import json, os, sys
sub, ref = sys.argv[1:]
print("noise")
right = open(f"{sub}/a").read() == open(f"{ref}/answer").read()
print(json.dumps({"total": 100 if right else 0, "parts": {"right": right * 1.0}, "message": "ok"}))
"""
    assert score(script, a=b"42") == Outcome(total=100.0, parts={"right": 1.0}, message="ok")
    assert score(script, a=b"41").total == 0.0


def test_the_evaluator_has_a_clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    script = 'import json, os; print(json.dumps({"total": 0, "message": " ".join(sorted(os.environ))}))'
    assert "SOME_API_KEY" not in score(script).message


@pytest.mark.parametrize(("script", "word"), [
    ("raise SystemExit(3)", "exit code 3"),
    ("print('no json')", "cannot be read"),
    ("print('{\"total\": 101}')", "no score"),
    ("print('{\"total\": NaN}')", "cannot be read"),
    ("print('{\"total\": 1e999}')", "cannot be read"),
    ("print('{\"total\": -1}')", "no score"),
    ("print('{\"score\": 5}')", "no total"),
    ("print('[' * 100000)", "cannot be read"),
    ("", "cannot be read"),
])
def test_a_broken_evaluator_gives_a_failed_score(script: str, word: str) -> None:
    outcome = score(script)
    assert outcome.failed and outcome.total is None and word in outcome.message


def test_the_end_of_a_long_output_counts() -> None:
    script = """
import json, sys
for _ in range(40):
    sys.stdout.write("noise " * 1000 + "\\n")
    sys.stdout.flush()
print(json.dumps({"total": 7}))
"""
    assert score(script).total == 7.0


def test_links_of_a_tasks_folder_stay_inside(tmp_path: Path) -> None:
    folder, outside = tmp_path / "references", tmp_path / "outside"
    (folder / "deep").mkdir(parents=True)
    outside.mkdir()
    for path in (folder / "deep" / "a", outside / "secret"):
        path.write_bytes(b"x")
    (folder / "same").symlink_to("deep/a")
    assert {name: path.read_bytes() for name, path in list_folder(folder)} == {"deep/a": b"x", "same": b"x"}
    for target in (outside / "secret", outside, folder / "deep", folder / "gone", folder / "link"):
        (folder / "link").symlink_to(target)
        with pytest.raises(InvalidInput, match="link"):
            list_folder(folder)
        (folder / "link").unlink()


def test_an_endless_evaluator_is_ended_with_its_children(tmp_path: Path) -> None:
    script = f"""
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
while True: time.sleep(1)
"""
    outcome = score(script, timeout_s=2.0)
    assert outcome.failed and "within 2 s" in outcome.message
    status = Path(f"/proc/{(tmp_path / 'pid').read_text()}/stat")
    assert not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] == "Z"


def test_an_evaluator_that_ends_as_its_time_is_up_is_late_and_not_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system has ended it and nobody was told yet: its group is gone when it is to be killed."""
    def gone(group: int, number: int) -> None:
        raise ProcessLookupError(3, "No such process")

    monkeypatch.setattr(os, "killpg", gone)
    outcome = score("import os, time; os.close(1); os.close(2); time.sleep(1)", timeout_s=0.3)
    assert outcome.failed and "within 0.3 s" in outcome.message


def test_a_score_may_follow_much_noise() -> None:
    assert read_score(b"x" * 500 + b'\n{"total": 7.5}\n\n').total == 7.5


@pytest.fixture
def host(tmp_path: Path) -> LocalSandbox:
    sandbox = LocalSandbox("s", Host(name="main", disk_mb=2), tmp_path)
    Path(sandbox.workspace).mkdir(parents=True)
    return sandbox


def on(host: LocalSandbox, work: Callable[[], Awaitable[None]]) -> None:
    """Do the work while the sandbox runs."""
    async def main() -> None:
        await host.start()
        try:
            await work()
        finally:
            await host.stop()

    asyncio.run(main())


def test_a_submission_is_regular_files_only(host: LocalSandbox, tmp_path: Path) -> None:
    root = Path(host.workspace)
    (root / "out" / "deep").mkdir(parents=True)
    (root / "out" / "a").write_bytes(b"1")
    (root / "out" / "deep" / "b").write_bytes(b"2")
    (tmp_path / "secret").write_text("secret")
    (root / "out" / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(root / "out" / "pipe")
    (root / "single").write_bytes(b"3")
    files: dict[str, bytes] = {}

    async def work() -> None:
        found = await collect(host, ["out", "single"], tmp_path / "handed")
        files.update({name: path.read_bytes() for name, path in found})

    on(host, work)
    assert files == {"out/a": b"1", "out/deep/b": b"2", "single": b"3"}
    with tarfile.open(fileobj=io.BytesIO(pack(files))) as tar:
        assert tar.getnames() == ["out/a", "out/deep/b", "single"]
    assert pack(files) == pack(dict(reversed(files.items()))), "the same bytes for the same files"


def test_what_cannot_be_a_submission_is_refused(host: LocalSandbox, tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(4):
        (Path(host.workspace) / f"f{n}").write_bytes(b"x" * 10)

    async def work() -> None:
        for name in ("../secret", "/etc/passwd", "a/../../b"):
            with pytest.raises(InvalidInput):
                await collect(host, [name], tmp_path / "a")
        with pytest.raises(NotFound) as missing:
            await collect(host, ["f1", "missing"], tmp_path / "b")
        assert missing.value.code == "not_handed_in" and "missing" in missing.value.sentence
        monkeypatch.setattr(submission, "MAX_FILES", 3)
        with pytest.raises(LimitReached):
            await collect(host, ["."], tmp_path / "c")
        monkeypatch.setattr(submission, "MAX_FILES", 100)
        (Path(host.workspace) / "large").write_bytes(bytes((host.host.disk_mb << 20) + 1))
        with pytest.raises(LimitReached) as large:
            await collect(host, ["."], tmp_path / "d")
        assert large.value.code == "submission_too_large" and "2 MiB" in large.value.sentence

    on(host, work)


def test_an_older_python_takes_no_module_of_the_folder_that_it_begins_in(tmp_path: Path) -> None:
    guard, left = tmp_path / "guard", tmp_path / "left by the agent"
    guard.mkdir()
    left.mkdir()
    (guard / "sitecustomize.py").write_text(SAFE_PATH.replace("(3, 11)", "(4,)"))
    (left / "timeit.py").write_text("raise SystemExit('the agent')")
    (left / "own.py").write_text("import timeit; print('own', timeit.__file__)")
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(guard)}

    def ran(*argv: str) -> str:
        done = subprocess.run([sys.executable, *argv], cwd=left, env=env, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    assert "the agent" in subprocess.run([sys.executable, "-m", "timeit"], cwd=left, capture_output=True, text=True,
                                         check=False).stderr
    assert "best of" in ran("-B", "-m", "timeit", "-n", "1", "-r", "1")
    assert "the agent" not in ran("-c", "import timeit")
    assert "the agent" in ran("own.py"), "a script's own folder is the script's to choose"
