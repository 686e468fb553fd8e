"""A conversation by the Agent Client Protocol with an agent that means harm: nothing that it asks for is done here."""

from __future__ import annotations

import socketserver
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from core.agents.agent_process import acp_program
from core.gateway.acp.agent import LONGEST_LINE, AcpAgent, AcpError
from core.gateway.acp.program import converse, take_up

HOSTILE = '''
import json, sys
def send(**m): sys.stdout.write(json.dumps({"jsonrpc": "2.0", **m}) + "\\n"); sys.stdout.flush()
def update(**u): send(method="session/update", params={"sessionId": "s", "update": u})
def ask(i, method, params): send(id=i, method=method, params=params); return json.loads(sys.stdin.readline())
for line in sys.stdin:
    m = json.loads(line)
    if m["method"] == "initialize":
        print("not JSON"); print("[" * 100_000); print('"text"'); print('{"id": 1, "result": 5')
        send(id=m["id"], result={"protocolVersion": 1, "agentCapabilities": "all"})
    elif m["method"] == "session/new":
        send(id=99, result={"sessionId": "wrong"}); send(id=m["id"], result={"sessionId": "s"})
    else:
        outside = sys.argv[1]
        got = [ask(1, "fs/write_text_file", {"sessionId": "s", "path": outside, "content": "x"}),
               ask(2, "fs/read_text_file", {"sessionId": "s", "path": "/etc/passwd"}),
               ask(3, "terminal/create", {"sessionId": "s", "command": "touch", "args": [outside]}),
               ask(4, "session/request_permission", {
                   "options": [{"kind": "allow_always", "optionId": "ever"}],
                   "toolCall": {"title": "\\u001b[2Jx" * 9000, "rawInput": {"a": "b" * 10**6}}}),
               ask(5, "session/request_permission", {"options": "x", "toolCall": 7})]
        for n in range(300):
            update(sessionUpdate="tool_call", toolCallId="same", title="t", kind="execute", status="in_progress",
                   rawOutput="y" * 1000 * n)
        update(sessionUpdate="tool_call_update", toolCallId="same", status="completed", content=[
            {"type": "diff", "path": "../../../../.." + outside, "oldText": "\\ud800", "newText": "z\\ud800"},
            {"type": "diff", "path": 5, "newText": "z"},
            {"type": "diff", "path": "big", "newText": "z" * 3_000_000}, "x"])
        for _ in range(300):
            update(sessionUpdate="plan", entries=[{"content": "c" * 1000, "status": ["x"]}, 3])
        update(sessionUpdate="agent_message_chunk", content={"text": ["x"]})
        update(sessionUpdate={"x": 1}); send(method="session/update", params=3); send(method=5)
        send(id=m["id"], result={"stopReason": "end_turn", "got": 1})
        open(sys.argv[2], "w").write(json.dumps(got))
'''


def test_a_hostile_agent_gets_nothing_done_and_what_it_shows_is_bounded(tmp_path: Path) -> None:
    outside, got = tmp_path / "outside.txt", tmp_path / "got.json"
    told: list[tuple[str, object]] = []
    asked: list[str] = []

    def leave(what: str) -> bool:
        asked.append(what)
        return True

    def tell(what: str, body: object) -> dict[str, object]:
        told.append((what, body))
        return {}

    work = tmp_path / "work"
    work.mkdir()
    with AcpAgent([sys.executable, "-c", HOSTILE, str(outside), str(got)], {}, str(work), on_leave=leave,
                  on_words=lambda _: None, tell=tell) as agent:
        agent.begin()
        assert agent.conversation == "s" and converse(agent, tell, "Do it.", stays=False) == 0
    assert not outside.exists() and [*work.iterdir()] == []
    answers = got.read_text()
    assert answers.count("is not offered") == 3 and "ever" not in answers and answers.count("cancelled") == 2
    assert all(len(one) < 5000 for one in asked)
    printed = "".join(str(body) for what, body in told if what == "printed")
    assert len(printed) <= 400_000, "only what is new of an output is told"
    assert sum(what == "plan" for what, _ in told) == 1
    edits = [body for what, body in told if what == "edit"]
    assert [(e["path"], e["after"], e["too_large"]) for e in edits] == [
        (str(outside), "z?", False), (str(work / "big"), "", True)]


@pytest.mark.parametrize(("program", "code"), [
    ("", "acp_agent_gone"), (f"print('x' * {LONGEST_LINE + 5})", "acp_agent_gone"),
    ("""print('{"id": 1, "error": {"code": 1, "message": "log in"}}')""", "acp_refused"),
    ("""print('{"id": 1, "result": {"protocolVersion": 99}}')""", "acp_version")])
def test_an_agent_that_cannot_be_spoken_with_is_told_of_in_a_sentence(program: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(AcpError) as refused, AcpAgent([sys.executable, "-c", program], {}, str(tmp_path),
                                                      on_leave=lambda _: True, on_words=print,
                                                      tell=lambda *_: {}) as agent:
        agent.begin()
    assert refused.value.code == code


FORGETFUL = '''
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    answer = {"result": {"protocolVersion": 1, "agentCapabilities": {"loadSession": sys.argv[1] == "able"},
                         "sessionId": "new"}}
    if m["method"] == "session/load" and m["params"]["sessionId"] != "known":
        answer = {"error": {"code": -32603, "message": "No previous sessions found"}}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **answer}), flush=True)
'''


@pytest.mark.parametrize(("able", "before", "why"), [
    ("able", "lost", "No previous sessions found"), ("unable", "known", "does not take up"), ("able", "", "no name")])
def test_an_agent_that_lost_its_own_record_goes_on_in_a_new_conversation_with_what_the_session_knows(
        able: str, before: str, why: str, tmp_path: Path) -> None:
    told: list[object] = []

    def tell(what: str, body: object) -> dict[str, object]:
        told.append((what, body))
        return {"text": "You called bash with ls"}

    with AcpAgent([sys.executable, "-c", FORGETFUL, able], {}, str(tmp_path), on_leave=lambda _: True,
                  on_words=lambda _: None, tell=tell) as agent:
        words = take_up(agent, before, "Mend it.", tell)
        assert agent.conversation == "new"
    ((what, reason),) = told
    assert what == "before" and why in str(reason)
    assert words.startswith("Mend it.") and "You called bash with ls" in words


def test_an_agent_that_has_its_record_is_only_told_to_go_on(tmp_path: Path) -> None:
    with AcpAgent([sys.executable, "-c", FORGETFUL, "able"], {}, str(tmp_path), on_leave=lambda _: True,
                  on_words=lambda _: None, tell=lambda *_: {}) as agent:
        assert take_up(agent, "known", "Mend it.", lambda *_: {}) == "Go on."
        assert agent.conversation == "known"


def test_what_is_laid_into_a_sandbox_speaks_with_an_agent_where_nothing_of_ours_lies(tmp_path: Path) -> None:
    (tmp_path / "acp.pyz").write_bytes(acp_program())
    (tmp_path / ".tiphys").mkdir()
    agent = """
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    update = {"sessionUpdate": "agent_message_chunk", "content": {"text": "I did it."}}
    for one in ({"method": "session/update", "params": {"update": update}} if m["method"] == "session/prompt" else {},
                {"id": m["id"], "result": {"protocolVersion": 1, "sessionId": "s", "stopReason": "end_turn"}}):
        print(json.dumps(one), flush=True)
"""
    environ = {"TIPHYS_GATEWAY": "http://127.0.0.1:1", "TIPHYS_TOKEN": "t", "TIPHYS_TASK": "Do it.",
               "HOME": str(tmp_path)}
    command = [sys.executable, "-I", "acp.pyz", "allow", "new", sys.executable, "-c"]
    gone = subprocess.run([*command, ""], env=environ, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (gone.returncode, gone.stdout) == (1, "The agent ended in the middle of the conversation.\n")
    with socketserver.TCPServer(("127.0.0.1", 0), GoesOnForOneTurn) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        environ["TIPHYS_GATEWAY"] = f"http://127.0.0.1:{server.server_address[1]}"
        done = subprocess.run([*command, agent], env=environ, cwd=tmp_path, capture_output=True, text=True, check=False)
        server.shutdown()
    assert (done.returncode, done.stdout) == (0, "I did it.I did it."), done.stderr
    assert (tmp_path / ".tiphys/acp-conversation").read_text() == "s"


class GoesOnForOneTurn(BaseHTTPRequestHandler):
    """A session's gateway that gives one more turn."""

    turns = 0

    def do_POST(self) -> None:
        """One word of the program."""
        self.rfile.read(int(self.headers["Content-Length"]))
        GoesOnForOneTurn.turns += 1
        answer = b'{"goes_on": true}' if GoesOnForOneTurn.turns == 1 else b"{}"
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""
