"""An agent that a person starts here, with everything of theirs around it, is watched and steered all the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from support.scripted_upstream import ADVICE, Script, serve

AGENT = Path(__file__).parents[2] / "support" / "scripted_agent.py"
KEY = "sk-of-the-endpoint-1234567890"


def tiphys(home: Path, *words: str, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "core.cli", "--home", str(home), *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=110, cwd=cwd, check=False,
                          env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), **variables})


def test_a_command_is_watched_steered_and_ends_its_session(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    (work / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (work / "check.py").write_text("from calc import add\nassert add(1, 2) == 3\n")

    def advise(got: object) -> None:
        """A person speaks when the second request is under way."""
        if len(upstream.received) == 2:
            session = json.loads(tiphys(home, "sessions", "--json").stdout)["session"]
            spoken.append(tiphys(home, "guide", session, f"Please {ADVICE}."))

    spoken: list[subprocess.CompletedProcess[str]] = []
    for upstream in serve(Script(subagents=False, before=advise)):
        done = tiphys(home, "attach", "--dialect", "chat", "--base-url", upstream.url + "/v1", "--key-env", "END_KEY",
                      "--model", "scripted", "--", sys.executable, str(AGENT), "chat", cwd=work, END_KEY=KEY,
                      TIPHYS_TASK="TASK-MAIN: repair calc.py", HOME=str(tmp_path))
        assert done.returncode == 0, done.stderr
        assert "UNCONFINED" in done.stderr and "finished (finished), 7 steps" in done.stdout
        assert [s.returncode for s in spoken] == [0], spoken
        assert (work / "guided.txt").exists() and not (work / "plain.txt").exists()
        assert {r.headers["authorization"] for r in upstream.received} == {f"Bearer {KEY}"}
        shown = tiphys(home, "sessions", "--json").stdout
        assert json.loads(shown)["state"] == "finished" and KEY not in shown


def test_the_status_of_the_command_is_the_status(tmp_path: Path) -> None:
    for upstream in serve():
        done = tiphys(tmp_path / "home", "attach", "--dialect", "chat", "--base-url", upstream.url, "--", "false")
        assert done.returncode == 1 and "failed (agent_died), 0 steps" in done.stdout, done.stderr
    refused = tiphys(tmp_path / "home", "attach", "--", "false")
    assert refused.returncode == 2 and "[no_dialect]" in refused.stderr
