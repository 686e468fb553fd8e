"""Chat messages as JSON Lines: tau-bench's real file, and a small one with every hazard."""

import json
import re
from pathlib import Path

import pytest
from support.imported import bodies, context, trajectory
from support.real_data import real

from core.domain.errors import InvalidInput
from core.formats import registry

FILES = Path(__file__).parent / "files"
TAU = "openai-chat/tau_bench_airline_few_shot.jsonl"

STEPS = [5, 3, 5, 9, 8, 9, 9, 7, 11, 9, 12, 17, 10, 19, 16, 16, 16, 21, 20]
"""Assistant turns per row, counted with grep -o '\\nassistant: ' on the decoded rows."""
CALLS = [2, 1, 2, 5, 3, 5, 3, 4, 6, 0, 5, 11, 1, 12, 8, 10, 2, 15, 10]
"""Results of tools per row, counted the same way."""


def test_the_real_file_gives_a_session_a_line() -> None:
    sessions = list(registry.read(real(TAU)))
    rows = [json.loads(line)["messages_display"] for line in real(TAU).read_text().splitlines()]
    assert [s.steps for s in sessions] == STEPS == [len(re.findall(r"(?m)^assistant: ", r)) for r in rows]
    unknown = [sum(a.tool == "unknown" for b in bodies(s) for a in b.actions) for s in sessions]
    assert unknown == CALLS
    assert {s.errors for s in sessions} == {0}, "the format marks nothing as failed"
    assert len({s.session for s in sessions}) == 19


def test_texts_of_the_real_file() -> None:
    first = next(registry.read(real(TAU)))
    steps = bodies(first)
    assert steps[0].thought.startswith("I can help you with that. Could you please provide your user ID")
    assert steps[1].thought == ""
    assert steps[1].observations[0].output.text == "Error: user not found"
    assert steps[1].observations[0].error is None
    assert steps[-1].observations[0].output.text == "Transfer successful"
    assert first.title.startswith("Hi, I need to cancel my flights from MCO to CLT")
    assert "names and arguments of 2 calls" in first.warnings[0]
    assert [m.role for m in context(first, 3)] == ["user", "assistant", "user", "assistant", "tool"]
    assert {r.source for r in trajectory(first).context(3)} == {"approximate"}


def test_calls_results_and_contexts_are_kept_exactly() -> None:
    first = next(registry.read(FILES / "chat.jsonl"))
    one, two = bodies(first)
    assert [(a.call_id, a.tool, bool(a.malformed)) for a in one.actions] == [("t1", "read_file", False),
                                                                             ("t2", "read_file", True)]
    assert one.actions[0].arguments == {"path": "文件"}
    assert [(o.call_id, o.output.text) for o in one.observations] == [("t2", "no such file"), ("t1", "four lines")]
    assert two.thought == "Four lines."
    assert [(m.role, m.content) for m in context(first, 1)] == [("system", "Be brief."), ("user", "What is in 文件?")]
    given = context(first, 2)
    assert [m.role for m in given] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert given[2].tool_calls[0].arguments == '{"path": "文件"}', "as the model wrote it"
    entered = [p for p in trajectory(first).steps[1].context.parts if hasattr(p, "hash")]
    assert len(entered) == 4, "a message that stays is stored once"


def test_weights_are_verdicts_of_the_import() -> None:
    first = next(registry.read(FILES / "chat.jsonl"))
    assert [e.outcome for e in trajectory(first).steps] == ["mask", "keep"]


def test_damaged_rows_are_named_and_the_others_whole() -> None:
    one, two = registry.read(FILES / "chat.jsonl")
    warnings = " ".join(one.warnings + two.warnings)
    assert [one.steps, two.steps] == [2, 1]
    for place in (r"Line 3 \(byte \d+\) was left out", r"Line 4 .* no chat messages", r"Line 6 .* repeats Line 1",
                  r"Line 7 .* left out.*ends inside this line"):
        assert re.search(place, warnings), place
    assert trajectory(two).row.score == 25.0


def test_a_file_without_any_whole_row_is_refused(tmp_path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"messages": [{"role": "user", "content": "only me"}]}\n')
    with pytest.raises(InvalidInput, match="Line 1") as error:
        list(registry.read(path))
    assert error.value.code == "no_sessions"


@pytest.mark.parametrize("indent", [None, 2])
def test_one_json_list_of_rows(tmp_path, indent) -> None:
    answer = {"role": "assistant", "content": "yes"}
    rows = [{"messages": [{"role": "user", "content": str(n)}, answer]} for n in (1, 2)]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows, indent=indent))
    assert [s.title for s in registry.read(path)] == ["1", "2"]


def test_values_that_our_encoding_cannot_hold(tmp_path) -> None:
    path = tmp_path / "odd.jsonl"
    call = {"id": "a", "function": {"name": "f", "arguments": '{"n": 99999999999999999999999, "x": NaN}'}}
    row = {"messages": [{"role": "user", "content": "half \ud83d"},
                        {"role": "assistant", "content": None, "tool_calls": [call]}], "k": 10**40}
    path.write_text(json.dumps(row))
    (session,) = registry.read(path)
    assert trajectory(session).created.task.description == "half \ufffd"
    assert bodies(session)[0].actions[0].arguments["n"] == "99999999999999999999999"


def test_a_log_of_one_request_tells_its_answer(tmp_path) -> None:
    path = tmp_path / "log.json"
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}
    calls = [{"id": "z", "function": {"name": "f", "arguments": "{}"}}]
    response = {"choices": [{"message": {"role": "assistant", "content": "", "tool_calls": calls}}], "usage": usage}
    tools = [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {}}}]
    path.write_text(json.dumps({"messages": [{"role": "user", "content": "Go."}], "tools": tools, "cost": 0.5,
                                "timestamp": 1750000000.5, "response": response}))
    (session,) = registry.read(path)
    (step,) = trajectory(session).steps
    assert (step.head.usage.input_tokens, step.head.usage.output_tokens, step.head.usage.cached_tokens) == (12, 3, 4)
    assert (step.head.usage.cost_usd, step.head.ended_at.timestamp()) == (0.5, 1750000000.5)
    assert [m.content for m in context(session, 1)] == ["Go."]
    assert json.loads(session.blobs[step.tools])[0]["name"] == "f"
