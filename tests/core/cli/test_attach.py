"""An agent that a person starts here, with everything of theirs around it, is watched and steered all the same."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import threading
import time
import tomllib
from contextlib import closing
from pathlib import Path

import pytest
from support.scripted_upstream import ADVICE, Script, serve

from core.domain.errors import Unavailable
from core.store import log
from core.store.sqlite import connect, scalar

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
        looks = "import os, sys; sys.exit(40 + ('END_KEY' in os.environ))"
        done = tiphys(tmp_path / "home", "attach", "--dialect", "chat", "--base-url", upstream.url, "--key-env",
                      "END_KEY", "--", sys.executable, "-c", looks, END_KEY=KEY)
        assert done.returncode == 40, "the agent is started without the endpoint's key"
    refused = tiphys(tmp_path / "home", "attach", "--", "false")
    assert refused.returncode == 2 and "[no_dialect]" in refused.stderr


ACP_AGENT = Path(__file__).parents[2] / "support" / "acp_agent.py"


def test_an_agent_of_the_client_protocol_asks_a_person_and_is_woken_by_advice(tmp_path: Path) -> None:
    """Refused by an advice, which begins its next turn; allowed by going on. Asked through the session alone."""
    home, spoken = tmp_path / "home", []

    def answer() -> None:
        for count, words in enumerate((("guide", "Mind the tests."), ("resume",)), 1):
            while not (session := asks_for_leave(home, count)):
                time.sleep(0.1)
            spoken.append(tiphys(home, words[0], session, *words[1:]))

    for upstream in serve(Script(subagents=False)):
        answering = threading.Thread(target=answer, daemon=True)
        answering.start()
        done = tiphys(home, "attach", "--dialect", "chat", "--base-url", upstream.url + "/v1", "--key-env", "END_KEY",
                      "--acp", "--prompt", "Do it.", "--permissions", "desktop", "--", sys.executable, str(ACP_AGENT),
                      END_KEY=KEY)
        answering.join(20)
        assert done.returncode == 0, done.stderr
        assert [one.returncode for one in spoken] == [0, 0], spoken
        (request,) = upstream.received
        assert request.text.count("Mind the tests.") == 1 and request.text.count("Do it.") == 1


def asks_for_leave(home: Path, times: int) -> str:
    """The session, once it has asked so often."""
    if not (home / "server.db").exists():
        return ""
    with closing(connect(home / "server.db", readonly=True)) as conn:
        if not scalar(conn, "SELECT 1 FROM sqlite_master WHERE name = 'session'"):
            return ""
        for row in log.rows(conn):
            facts = [placed.event.fact for placed in log.read_all(conn, row.session)]
            if sum(getattr(fact, "reason", "") == "asks_for_leave" for fact in facts) == times:
                return row.session
    return ""


def test_an_agent_of_another_protocol_version_is_refused(tmp_path: Path) -> None:
    for upstream in serve():
        done = tiphys(tmp_path / "home", "attach", "--dialect", "chat", "--base-url", upstream.url, "--acp", "--prompt",
                      "Do it.", "--", sys.executable, str(ACP_AGENT), ACP_VERSION="2")
        assert done.returncode != 0 and "[acp_version]" in done.stderr
        done = tiphys(tmp_path / "home", "attach", "--dialect", "chat", "--base-url", upstream.url, "--",
                      str(tmp_path / "nothing"))
        assert done.returncode != 0 and "[no_program]" in done.stderr
    with closing(connect(tmp_path / "home" / "server.db", readonly=True)) as conn:
        assert [row.state for row in log.rows(conn)] == ["failed", "failed"], "no runner goes on for nobody"
    refused = tiphys(tmp_path / "home", "attach", "--dialect", "chat", "--acp", "--", "false")
    assert refused.returncode == 2 and "[no_prompt]" in refused.stderr


def test_a_session_whose_gateway_does_not_open_ends_so_that_no_runner_waits_for_nobody(tmp_path: Path, monkeypatch
                                                                                      ) -> None:
    monkeypatch.setenv("TIPHYS_HOME", str(tmp_path / "home"))
    module = importlib.import_module("core.cli.attach")
    monkeypatch.setattr(module, "_OPENS_S", 0.0)  # none opens so soon
    for upstream in serve():
        with pytest.raises(Unavailable, match="did not open"):
            module.attach.main(["--dialect", "chat", "--base-url", upstream.url, "--", "true"], standalone_mode=False)
    with closing(connect(tmp_path / "home" / "server.db", readonly=True)) as conn:
        assert [(row.state, row.steps) for row in log.rows(conn)] == [("stopped", 0)]


def test_codex_is_pointed_to_the_session_by_its_words_as_it_reads_no_variable(tmp_path: Path) -> None:
    program = tmp_path / "codex"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > words\n')
    program.chmod(0o755)
    for upstream in serve():
        done = tiphys(tmp_path / "home", "attach", "--base-url", upstream.url + "/v1", "--", str(program), "exec", "do",
                      cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "endpoint from" not in done.stderr, "its own settings are overruled"
    words = (tmp_path / "words").read_text().splitlines()
    assert words[-2:] == ["exec", "do"] and words[::2][:2] == ["-c", "-c"]
    settings = tomllib.loads("\n".join(words[1:4:2]))
    provider = settings["model_providers"][settings["model_provider"]]
    assert provider["base_url"].startswith("http://127.0.0.1:") and upstream.url not in provider["base_url"]
    assert (provider["wire_api"], provider["env_key"]) == ("responses", "TIPHYS_GATEWAY_TOKEN")
