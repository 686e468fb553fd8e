"""Real agents that a person attaches, and advises: the session's export is, message by message, what the endpoint was
sent by its own record. Read here from the makers' dialects anew, by none of the product's code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conformance.agents import AGENTS
from support.gateway_stand import FILES, KEY, TASK
from support.scripted_upstream import ADVICE, Received, Script, serve
from support.tiny_model import make_tokenizer, trl_template

ROOT = Path(__file__).parents[2]
COMMANDS = {
    "claude-code": ("claude", "-p", TASK, "--dangerously-skip-permissions", "--model", "scripted"),
    "codex-cli": ("codex", "exec", "-m", "scripted", "--dangerously-bypass-approvals-and-sandbox",
                  "--skip-git-repo-check", TASK),
}
Said = tuple[str, str, Any]
"""Role, words without the space between their blocks, calls or the id of the call that is answered."""

pytestmark = pytest.mark.timeout(600)
here = pytest.mark.parametrize("agent", [
    pytest.param(a, id=a.name, marks=[] if a.is_here else pytest.mark.skip(reason="not installed"))
    for a in AGENTS if a.name in COMMANDS])


def words(content: Any) -> str:
    blocks = [content] if isinstance(content, str) else [b["text"] for b in content if "text" in b]
    return "".join("".join(blocks).split())


def anthropic(body: dict[str, Any]) -> list[Said]:
    found: list[Said] = [("system", words(body["system"]), [])]
    for message in body["messages"]:
        blocks = message["content"]
        blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
        found += [("tool", words(b["content"]), b["tool_use_id"]) for b in blocks if b["type"] == "tool_result"]
        calls = [(b["id"], b["name"], b["input"]) for b in blocks if b["type"] == "tool_use"]
        if calls or any(b["type"] == "text" for b in blocks):
            found.append((message["role"], words(blocks), calls))
    return found


def responses(body: dict[str, Any]) -> list[Said]:
    found: list[Said] = [("system", words(body["instructions"]), [])] if body.get("instructions") else []
    for item in body["input"]:
        match item.get("type", "message"):
            case "message":
                role = "system" if item["role"] == "developer" else item["role"]
                found.append((role, words(item["content"]), []))
            case "function_call":
                call = (item["call_id"], item["name"], json.loads(item["arguments"]))
                if found[-1][0] != "assistant":
                    found.append(("assistant", "", []))
                found[-1][2].append(call)
            case "function_call_output":
                found.append(("tool", words(item["output"]), item["call_id"]))
            case other:
                assert other == "reasoning"
    return found


def exported(message: dict[str, Any]) -> Said:
    if message["role"] == "tool":
        return "tool", words(message["content"]), message["tool_call_id"]
    return message["role"], words(message["content"] or ""), [
        (c["id"], c["function"]["name"], json.loads(c["function"]["arguments"])) for c in message.get("tool_calls", [])]


@here
def test_an_attached_agents_export_is_what_its_endpoint_was_sent(agent, tmp_path: Path) -> None:
    work, person = tmp_path / "work", tmp_path / "person"
    work.mkdir()
    person.mkdir()
    for name, text in FILES.items():
        (work / name).write_text(text)
    env = {**os.environ, "HOME": str(person), "PYTHONPATH": str(ROOT), "END_KEY": KEY, "IS_SANDBOX": "1",
           "PATH": f"{agent.path}{os.pathsep}{os.environ['PATH']}"}

    def tiphys(*given: object) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "core.cli", "--home", str(tmp_path / "home"), *map(str, given)]
        done = subprocess.run(argv, cwd=work, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              check=False, timeout=400)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def advise(got: Received) -> None:
        if not spoken and len(upstream.main) == 2:
            spoken.append(json.loads(tiphys("sessions", "--json").stdout.splitlines()[0])["session"])
            tiphys("guide", spoken[0], f"Please {ADVICE}, not plain.txt.")

    spoken: list[str] = []
    for upstream in serve(Script(before=advise, subagents=False)):
        tiphys("attach", "--base-url", upstream.url + agent.base, "--key-env", "END_KEY", "--", *COMMANDS[agent.name])
        sent = upstream.main[-1]
        tiphys("export", *spoken, "--to", "chat", "--balance", "none", "--unjudged", "keep", "--out", "data",
               "--model", make_tokenizer(tmp_path / "model", template=trl_template("qwen2_5")))  # it knows tools
        assert {r.headers.get("authorization") or r.headers["x-api-key"] for r in upstream.received} <= {
            KEY, f"Bearer {KEY}"}
    assert (work / "guided.txt").exists() and not (work / "plain.txt").exists()
    (row,) = [json.loads(line) for line in (work / "data" / "data.jsonl").read_text().splitlines()]
    *before, answer = map(exported, row["messages"])
    read = anthropic if sent.dialect == "anthropic" else responses
    assert before == read(json.loads(sent.raw))
    assert answer == ("assistant", "Alldone.", []) and words(ADVICE) in "".join(text for _, text, _ in before)
