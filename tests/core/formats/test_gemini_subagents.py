"""Subagents of Gemini CLI: a recording in a folder named as the session that called it (gemini-cli 0.61)."""

from __future__ import annotations

import json
from pathlib import Path

from core.domain.events import Branched, GuidanceQueued, StepAdded, decode_event
from core.formats import registry

MAIN, UPPER, LOWER = "e5363746-4315-4298-8d47-963d5a1f6a8e", "4ef3e7c5-031f-4851-bad6-689372c6d5e3", "0a-lower"


def written(path: Path, name: str, kind: str, *messages: tuple[str, str, list[dict]]) -> Path:
    """A recording of these messages: their kind, their words, their calls."""
    lines = [{"sessionId": name, "projectHash": "x", "kind": kind}]
    lines += [{"id": str(n), "type": of, "content": [{"text": words}], "toolCalls": calls}
              for n, (of, words, calls) in enumerate(messages)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def call(agent: str) -> dict:
    return {"id": f"c-{agent}", "name": "invoke_agent", "args": {"prompt": "Probe"}, "status": "success",
            "agentId": agent}


def project(folder: Path) -> list[Path]:
    """A session whose second answer calls a subagent, which calls one too."""
    chats = folder / "chats"
    return [written(chats / f"session-2026-11-26T14-38-{MAIN[:8]}.jsonl", MAIN, "main", ("user", "Port it", []),
                    ("gemini", "I look.", []), ("gemini", "", [call(UPPER)]), ("user", "And now?", [])),
            written(chats / MAIN / f"{UPPER}.jsonl", UPPER, "subagent", ("user", "Probe", []),
                    ("gemini", "", [call(LOWER)]), ("user", "You have one last chance.", []), ("gemini", "Here.", [])),
            written(chats / UPPER / f"{LOWER}.jsonl", LOWER, "subagent", ("user", "Deeper", []),
                    ("gemini", "Yes.", []))]


def facts(path: Path) -> tuple[str, list]:
    (session,) = registry.read(path)
    return session.session, [decode_event(body).fact for body in session.bodies]


def test_it_is_below_the_step_that_called_it(tmp_path):
    main, upper, lower = map(facts, project(tmp_path))
    assert [f for f in upper[1] if isinstance(f, Branched)] == [Branched(parent=main[0], step=2, is_call=True)]
    assert [f for f in lower[1] if isinstance(f, Branched)] == [Branched(parent=upper[0], step=1, is_call=True)]
    assert not [f for f in main[1] if isinstance(f, Branched)]


def test_nobody_speaks_to_a_subagent_but_its_caller_and_the_program(tmp_path):
    main, upper, _ = map(facts, project(tmp_path))
    assert [f.text for f in main[1] if isinstance(f, GuidanceQueued)] == ["And now?"]
    assert not [f for f in upper[1] if isinstance(f, GuidanceQueued)]
    assert len([f for f in upper[1] if isinstance(f, StepAdded)]) == 2


def test_a_folder_that_is_no_sessions_name_is_no_caller(tmp_path):
    path = written(tmp_path / "what I found [*]" / "a.jsonl", UPPER, "subagent", ("user", "Probe", []),
                   ("gemini", "Here.", []))
    assert not [f for f in facts(path)[1] if isinstance(f, Branched)]
