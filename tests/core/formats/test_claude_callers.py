"""Subagents of Claude Code in files beside their session's: each knows the step that called it."""

from __future__ import annotations

import json
from pathlib import Path

from core.domain.events import Branched, decode_event
from core.formats import registry
from core.formats.live_source import LiveSource

SESSION = "77b1b44d-0f13-4cca-84db-16582ec69878"


class Records:
    """Records as the program writes them, one after the other."""

    def __init__(self, agent: str = "") -> None:
        self.agent, self.lines = agent, list[str]()

    def person(self, text: str) -> Records:
        return self._add("user", {"role": "user", "content": text})

    def answer(self, name: str, *calls: tuple[str, str, dict]) -> Records:
        blocks = [{"type": "tool_use", "id": id, "name": tool, "input": given} for id, tool, given in calls]
        return self._add("assistant", {"id": name, "role": "assistant", "model": "claude-opus-4-6",
                                       "content": [{"type": "text", "text": f"Words of {name}."}, *blocks]})

    def result(self, call: str, **fields: object) -> Records:
        block = {"type": "tool_result", "tool_use_id": call, "content": "launched"}
        return self._add("user", {"role": "user", "content": [block]}, toolUseResult=fields)

    def _add(self, kind: str, message: dict, **more: object) -> Records:
        number = len(self.lines)
        name = f"{self.agent or 'main'}-{number}"
        self.lines.append(json.dumps({
            "type": kind, "message": message, "uuid": name, "sessionId": SESSION, "isSidechain": bool(self.agent),
            "parentUuid": f"{self.agent or 'main'}-{number - 1}" if number else None,
            "timestamp": f"2026-08-10T09:00:{number:02d}.000Z", **more,
            **({"agentId": self.agent} if self.agent else {})}) + "\n")
        return self

    def write(self, path: Path, **meta: object) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(self.lines))
        if meta:
            path.with_name(f"{path.stem}.meta.json").write_text(json.dumps(meta))
        return path


def main_file(folder: Path) -> Path:
    """A session that calls two subagents in its second answer and begins a workflow in its third."""
    records = Records().person("Port it").answer("m1", ("t1", "Bash", {"command": "ls"})).result("t1", stdout="a")
    records.answer("m2", ("t2", "Agent", {"description": "Distill", "prompt": "Distill it"}),
                   ("t3", "Agent", {"description": "Second", "prompt": "Second thing"}))
    records.result("t2", status="completed", agentId="a2").result("t3", status="async_launched", agentId="a3")
    records.answer("m3", ("t4", "Workflow", {"script": "export const meta = {}"}))
    records.result("t4", status="async_launched", runId="wf_8c58cff7-5df").answer("m4")
    return records.write(folder / f"{SESSION}.jsonl")


def called(agent: str, prompt: str) -> Records:
    """A subagent that calls one of its own."""
    records = Records(agent).person(prompt).answer(f"{agent}1", (f"n{agent}", "Agent", {"prompt": f"Below {agent}"}))
    return records.result(f"n{agent}", status="completed").answer(f"{agent}2")


def branch(path: Path) -> tuple[str, int, bool]:
    """The session and step that the only session of a file names as its caller."""
    (session,) = registry.read(path)
    return next((f.parent, f.step, f.is_call) for f in (decode_event(b).fact for b in session.bodies)
                if isinstance(f, Branched))


def test_each_file_of_a_subagent_knows_the_step_that_called_it(tmp_path):
    (main,) = registry.read(main_file(tmp_path))
    below = tmp_path / SESSION / "subagents"
    by_call = called("a2", "Distill it").write(below / "agent-a2.jsonl", toolUseId="t2", spawnDepth=1)
    by_id = called("a3", "Other words").write(below / "agent-a3.jsonl")
    by_run = called("a4", "Probe").write(below / "workflows" / "wf_8c58cff7-5df" / "agent-a4.jsonl",
                                         agentType="workflow-subagent", spawnDepth=1)
    old_place = called("a5", "Second thing").write(tmp_path / "agent-a5.jsonl")
    found = [branch(path) for path in (by_call, by_id, by_run, old_place)]
    assert found == [(main.session, 2, True), (main.session, 2, True), (main.session, 3, True), (main.session, 2, True)]


def test_a_subagent_of_a_subagent_is_a_session_below_that_ones_step(tmp_path):
    main_file(tmp_path)
    below = tmp_path / SESSION / "subagents"
    note = json.dumps({"type": "fork-context-ref", "sessionId": SESSION}) + "\n"
    upper = called("a2", "Distill it").write(below / "agent-a2.jsonl", toolUseId="t2", spawnDepth=1)
    lower = called("a6", "Below a2").write(below / "agent-a6.jsonl", toolUseId="na2", parentAgentId="a2")
    upper.write_text(note + upper.read_text())  # the program's notes bear no mark of a subagent
    (session,) = registry.read(upper)
    assert branch(lower) == (session.session, 1, True)


def test_without_the_sessions_file_the_caller_is_named_and_its_step_is_not_known(tmp_path):
    (main,) = registry.read(main_file(tmp_path / "elsewhere"))
    alone = called("a2", "Distill it").write(tmp_path / "agent-a2.jsonl", toolUseId="t2", spawnDepth="deep")
    assert branch(alone) == (main.session, 0, True)


def test_a_session_named_as_a_path_leads_to_no_other_file(tmp_path):
    main_file(tmp_path / "secret")
    lines = "".join(called("a2", "Distill it").lines).replace(SESSION, f"../secret/{SESSION}")
    path = tmp_path / "work" / "agent-a2.jsonl"
    path.parent.mkdir()
    path.write_text(lines)
    assert branch(path)[1] == 0
    path.with_name("agent-a2.meta.json").write_text(json.dumps({"parentAgentId": f"../../secret/{SESSION}"}))
    assert branch(path)[1] == 0


def test_the_notes_on_a_subagent_are_read_with_its_file(tmp_path):
    main_file(tmp_path)
    path = called("a2", "Distill it").write(tmp_path / "agent-a2.jsonl", toolUseId="t2")
    alone = tmp_path / "agent-a9.meta.json"
    alone.write_text("{}")
    assert list(registry.files(tmp_path)) == [tmp_path / f"{SESSION}.jsonl", path, alone]


def test_a_caller_that_grows_is_read_again(tmp_path):
    records = Records().person("Port it").answer("m1")
    main = records.write(tmp_path / f"{SESSION}.jsonl")
    path = called("a2", "Distill it").write(tmp_path / "agent-a2.jsonl", toolUseId="t2")
    assert branch(path)[1] == 0
    records.answer("m2", ("t2", "Agent", {"prompt": "Distill it"})).write(main)
    (session,) = registry.read(LiveSource(path))
    assert [f.step for b in session.bodies if isinstance(f := decode_event(b).fact, Branched)] == [2]
