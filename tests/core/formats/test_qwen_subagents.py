"""Subagents of Qwen Code: their files bear the id of the session that called them, and are sessions of their own.

The records are as qwen-code 0.24 wrote them.
"""

from __future__ import annotations

import json
from pathlib import Path

from core.domain.events import Branched, GuidanceQueued, StepAdded, decode_event
from core.formats import registry

SESSION = "944030f7-21b6-4713-8e48-1b729747bc08"
COUNTS = {"usageMetadata": {"promptTokenCount": 104, "totalTokenCount": 124}}


def line(kind: str, *parts: dict, **more: object) -> str:
    """One record."""
    message = {"role": "model" if kind == "assistant" else "user", "parts": list(parts)}
    return json.dumps({"uuid": str(len(parts)), "sessionId": SESSION, "timestamp": "2026-11-26T14:27:42Z", "type": kind,
                       "message": message, **more}) + "\n"


def call(name: str, id: str) -> dict:
    return {"functionCall": {"id": id, "name": name, "args": {"prompt": "Probe"}}}


def answer(id: str) -> dict:
    return {"functionResponse": {"id": id, "name": "x", "response": {"output": "done"}}}


def written(path: Path, *lines: str, **note: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines))
    if note:
        path.with_name(f"{path.stem}.meta.json").write_text(json.dumps(note))
    return path


def project(folder: Path) -> list[Path]:
    """A session whose second answer calls a subagent that calls one too: the files of all three."""
    own = {"isSidechain": True, "agentId": "a-1"}
    below = folder / "subagents" / SESSION
    return [
        written(folder / "chats" / f"{SESSION}.jsonl", line("user", {"text": "Port it"}),
                line("assistant", call("run_shell_command", "c1"), **COUNTS), line("tool_result", answer("c1")),
                line("assistant", call("agent", "c2"), **COUNTS), line("tool_result", answer("c2")),
                line("user", {"text": "<task-notification>"}, subtype="notification", provenance="system"),
                line("assistant", {"text": "Done."}, **COUNTS),
                line("user", {"text": "And now?"}, subtype="mid_turn_user_message")),
        written(below / "agent-a-1.jsonl", line("user", {"text": "Probe"}, **own),
                line("assistant", **own, **COUNTS, agentRound=1), line("assistant", call("agent", "c3"), **own),
                line("tool_result", answer("c3"), **own), line("assistant", {"text": "Report."}, **own, **COUNTS),
                toolUseId="c2", parentAgentId=None),
        written(below / "agent-a-2.jsonl", line("user", {"text": "Deeper"}, isSidechain=True, agentId="a-2"),
                line("assistant", {"text": "Here."}, isSidechain=True, agentId="a-2", **COUNTS),
                toolUseId="c3", parentAgentId="a-1")]


def facts(path: Path) -> tuple[str, list]:
    (session,) = registry.read(path)
    return session.session, [decode_event(body).fact for body in session.bodies]


def test_each_is_a_session_of_its_own_below_the_step_that_called_it(tmp_path):
    main, upper, lower = map(facts, project(tmp_path))
    assert len({main[0], upper[0], lower[0]}) == 3
    assert [f for f in upper[1] if isinstance(f, Branched)] == [Branched(parent=main[0], step=2, is_call=True)]
    assert [f for f in lower[1] if isinstance(f, Branched)] == [Branched(parent=upper[0], step=1, is_call=True)]
    assert list(registry.files(tmp_path)) == project(tmp_path), "notes are read with the records"


def test_an_answer_that_stands_in_two_lines_is_one_step(tmp_path):
    _, found = facts(project(tmp_path)[1])
    steps = [f.head for f in found if isinstance(f, StepAdded)]
    assert [(s.title, s.usage.input_tokens) for s in steps] == [("agent Probe", 104), ("Report.", 104)]


def test_what_the_program_says_is_nobodys_turn(tmp_path):
    _, found = facts(project(tmp_path)[0])
    assert [f.text for f in found if isinstance(f, GuidanceQueued)] == ["And now?"]


def test_names_that_are_paths_lead_nowhere(tmp_path):
    path = project(tmp_path)[1]
    path.with_name("agent-a-1.meta.json").write_text(json.dumps(
        {"toolUseId": "c2", "parentAgentId": f"../../chats/{SESSION}"}))
    path.write_text(path.read_text().replace(SESSION, f"x/../{SESSION}"))
    assert next(f.step for f in facts(path)[1] if isinstance(f, Branched)) == 0
