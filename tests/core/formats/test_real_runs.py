"""Real files of agents' runs against values worked out without the importer: by hand, or by a few lines of its own."""

import json
import zipfile
from collections import Counter
from datetime import datetime

import pytest
from support.imported import bodies, context, trajectory
from support.real_data import real

from core.domain.events import NoteAdded, decode_event
from core.formats import registry


def only(path):
    (session,) = registry.read(real(path))
    return session


def lines(path):
    return [json.loads(line) for line in real(path).read_text().splitlines() if line.startswith("{")]


def notes(session):
    return [f.text for b in session.bodies if isinstance(f := decode_event(b).fact, NoteAdded)]


# file, steps, failed steps, first thought and last (both begin so)
MINI = [("github_issue", 10, 2, "I'll help you solve this issue.", "Now let's verify that the updated file"),
        ("local", 2, 0, "Here be some dummy command:", "OK, now let me end this run.")]


@pytest.mark.parametrize(("name", "steps", "errors", "first", "last"), MINI)
def test_mini_swe_agent(name, steps, errors, first, last) -> None:
    session = only(f"mini-swe-agent/{name}.traj.json")
    raw = json.loads(real(f"mini-swe-agent/{name}.traj.json").read_text())
    folded, read = trajectory(session), bodies(session)
    assert (session.format, session.steps, session.errors) == ("mini-swe-agent", steps, errors)
    failed = [m["content"].startswith("<returncode>") and not m["content"].startswith("<returncode>0") for m in raw]
    assert session.errors == sum(failed)
    assert read[0].thought.startswith(first) and read[-1].thought.startswith(last)
    assert [m.content for m in context(session, steps)] == [m["content"] for m in raw[: 2 * steps]]
    assert (folded.row.tokens, folded.row.cost_usd, folded.row.state) == (None, None, "stopped")


# file, steps, tokens, cost, guidance, summaries, first and last thought
ATIF = [
    ("harbor_openhands", 2, 220 + 80, 0.00135, 0, 0, "I edited the file /app/hello.txt.", "All done!"),
    ("harbor_terminus2_continuation", 3, 2252 + 160, 0.00723, 0, 1, '{\n  "analysis": "Terminal is ready.',
     '{\n  "analysis": "Created file1.txt.'),
    ("harbor_terminus2_continuation_cont1", 4, 4250 + 530, 0.015925, 0, 0,
     '{\n  "analysis": "Based on the handoff', '{\n  "analysis": "Yes, confirming'),
    ("harbor_terminus2_invalid_json", 4, 2417 + 200, 0.0080425, 0, 0, "The task is straightforward",
     "The task was already marked as complete"),
    ("harbor_terminus2_summarization", 7, 6502 + 690, 0.023155, 0, 1, "Analysis: Terminal is ready.",
     "Analysis: Yes, confirming task completion."),
    ("multimodal_trajectory", 2, 2600 + 125, 0.013, 0, 0, "The image shows two dice", "The image contains two dice"),
    ("parallel_tools_mixed_results", 2, 1200 + 105, 0.005, 0, 0, "Let me fetch all three at once.",
     "Here is what I found"),
    ("simple_trajectory", 2, 1120 + 124, 0.00078, 0, 0, "User wants current stock price", "Alphabet (GOOGL)"),
]


@pytest.mark.parametrize(("name", "steps", "tokens", "cost", "guided", "summaries", "first", "last"), ATIF)
def test_atif(name, steps, tokens, cost, guided, summaries, first, last) -> None:
    session = only(f"atif/phoenix_{name}.json")
    folded, read = trajectory(session), bodies(session)
    raw = json.loads(real(f"atif/phoenix_{name}.json").read_text())["steps"]
    assert session.steps == steps == sum(s["source"] == "agent" and not s.get("is_copied_context") for s in raw)
    assert (folded.row.tokens, session.errors) == (tokens, 0)
    assert folded.row.cost_usd == pytest.approx(cost)
    assert (len(folded.guidance), len(folded.summaries)) == (guided, summaries)
    assert read[0].thought.startswith(first) and read[-1].thought.startswith(last)
    assert {bool(e.head.started_at) for e in folded.steps} == {"timestamp" in raw[-1]}


def test_atif_subagents_are_sessions_of_their_own() -> None:
    parent, child = registry.read(real("atif/phoenix_v17_embedded_subagents.json"))
    assert (parent.steps, child.steps) == (2, 1)
    assert (trajectory(parent).row.tokens, trajectory(child).row.tokens) == (42 + 12, 25 + 9)
    assert trajectory(parent).row.cost_usd is None
    branched = decode_event(child.bodies[1]).fact
    assert (branched.parent, branched.step) == (parent.session, 1)
    (summary,) = trajectory(parent).summaries.values()
    assert summary.text.startswith("Compacted context: the user asked")
    assert [a.tool for a in bodies(parent)[0].actions] == ["delegate_research"]


def test_atif_calls_meet_their_results_and_errors_are_not_guessed() -> None:
    first = bodies(only("atif/phoenix_parallel_tools_mixed_results.json"))[0]
    assert [(o.call_id, o.output.text[:12]) for o in first.observations] == [
        ("call_weather", "NYC: 42°F, c"), ("call_stock", "Error: API r"), ("call_news", "")]
    assert not any(o.is_error for o in first.observations)


CLAUDE = ["cclog_edge_cases", "cclog_representative_messages", "ccviewer_5c0375b4-57a5-4f26-b12d-d022ee4e51b7",
          "scout_agent_session", "scout_compaction_session", "scout_simple_conversation",
          "scout_tool_call_conversation", "simonw_sample_session"]


@pytest.mark.parametrize("name", CLAUDE)
def test_claude_code_totals(name) -> None:
    """Steps, errors and tokens of all sessions of a file, counted over its lines by message id."""
    path = f"claude-code/{name}.jsonl"
    answers, errors = {}, set()
    for row in lines(path):
        message = row.get("message") if isinstance(row.get("message"), dict) else {}
        if row.get("type") == "assistant":
            answers[message.get("id") or row["uuid"]] = message.get("usage") or {}
        if isinstance(message.get("content"), list):
            errors |= {b["tool_use_id"] for b in message["content"] if isinstance(b, dict) and b.get("is_error")}
    sessions = list(registry.read(real(path)))
    texts: dict[str, list[str]] = {}
    for row in lines(path):
        if row.get("type") == "assistant" and not row.get("isSidechain"):
            paragraphs = [b["text"] for b in row["message"]["content"] if b["type"] == "text"]
            texts.setdefault(row["message"].get("id") or row["uuid"], []).extend(paragraphs)
    written = list(texts.values())
    main = bodies(sessions[0])
    assert main[0].thought.endswith("\n\n".join(written[0])) and main[-1].thought.endswith("\n\n".join(written[-1]))
    kinds = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    assert sum(s.steps for s in sessions) == len(answers)
    assert sum(o.is_error for s in sessions for b in bodies(s) for o in b.observations) == len(errors)
    tokens = sum(u.get(k, 0) or 0 for u in answers.values() for k in kinds)
    assert sum(trajectory(s).row.tokens or 0 for s in sessions) == tokens


def test_claude_code_subagents_and_parallel_calls() -> None:
    main, one, two = registry.read(real(f"claude-code/{CLAUDE[2]}.jsonl"))
    assert [s.steps for s in (main, one, two)] == [10, 3, 7]
    assert [s.errors for s in (main, one, two)] == [2, 0, 1]
    assert [decode_event(s.bodies[1]).fact.step for s in (one, two)] == [3, 4], "the steps with the two Task calls"
    assert [a.tool for a in bodies(main)[2].actions] == ["Task", "Task", "TodoWrite"]
    assert bodies(main)[0].thought.startswith("I'll help you update the CLAUDE.md file")
    assert bodies(main)[-1].thought.startswith("CLAUDE.mdファイルを最新の状態にアップデートしました")
    raw = next(r for r in lines(f"claude-code/{CLAUDE[2]}.jsonl") if r["type"] == "assistant")
    assert trajectory(main).steps[0].head.started_at == datetime.fromisoformat(raw["timestamp"])
    assert trajectory(main).row.cost_usd is None
    result = next(r["toolUseResult"] for r in lines(f"claude-code/{CLAUDE[2]}.jsonl")
                if "originalFileContents" in (r.get("toolUseResult") or {}))
    (change,) = trajectory(main).files
    assert main.blobs[change.before].decode() == result["originalFileContents"]
    added = {line[1:] for p in result["structuredPatch"] for line in p["lines"] if line.startswith("+")}
    assert added <= set(main.blobs[change.after].decode().splitlines())


def test_claude_code_compaction_and_damage() -> None:
    folded = trajectory(only("claude-code/scout_compaction_session.jsonl"))
    (summary,) = folded.summaries.values()
    assert (summary.first, summary.last) == (1, 1)
    assert summary.text.startswith("Summary of previous conversation:")
    (guided,) = folded.guidance.values()
    assert (guided.text, guided.delivered_step) == ("Continue where we left off", 2)
    edge = only("claude-code/cclog_edge_cases.jsonl")
    assert [w.split(" (")[0] for w in edge.warnings] == ["Line 13", "Line 15", "Line 16"]


def test_codex() -> None:
    session = only("codex-cli/codex-rollout.sample.jsonl")
    folded, read = trajectory(session), bodies(session)
    assert (session.steps, session.errors, folded.row.tokens) == (2, 0, 82396)
    assert [a.call_id for a in read[0].actions] == ["call_aAEAfn1zt6Z8LnW8B89hDtUF", "call_bBFBgo2yu7A9MoX9C90iEuVG"]
    assert [o.exit_code for o in read[0].observations] == [0, 0]
    assert read[0].observations[1].output.text == "# Example Project\nA small demo repo."
    assert read[0].thought.endswith("Inspecting the directory.")
    assert read[1].thought.startswith("The repo root has a README.md")
    assert [e.head.usage.cached_tokens for e in folded.steps] == [4992, 40000]
    assert folded.created.task.description.startswith("List the files in the repo root")
    assert (folded.row.model, len(folded.guidance)) == ("gpt-5.5", 0)


INSPECT = ["2025-05-12T20-28-13-04-00_popularity.json", "log_message_deduplication.eval", "log_streaming.eval",
           "vivaria_small.eval"]


def samples(name):
    path = real(f"inspect/{name}")
    if name.endswith(".json"):
        return json.loads(path.read_text())["samples"]
    with zipfile.ZipFile(path) as file:
        return [json.loads(file.read(n)) for n in file.namelist() if n.startswith("samples/")]


@pytest.mark.parametrize("name", INSPECT)
def test_inspect(name) -> None:
    """Every sample against its own events, and against the usage that the log sums up itself."""
    sessions = list(registry.read(real(f"inspect/{name}")))
    letters = {"C": 100.0, "I": 0.0, 0.0: 0.0, 1: 100.0}
    for session, sample in zip(sessions, samples(name), strict=True):
        folded, read = trajectory(session), bodies(session)
        kinds = Counter(e["event"] for e in sample["events"])
        assert session.steps == kinds["model"]
        assert sum(len(b.observations) for b in read) == kinds["tool"]
        used = sum(u["total_tokens"] for u in sample["model_usage"].values())
        assert (folded.row.tokens or 0) == used
        answers = [e["output"]["choices"][0]["message"] for e in sample["events"] if e["event"] == "model"]
        opening = answers[0]["content"]
        start = opening if isinstance(opening, str) else opening[0].get("reasoning", opening[0].get("text"))
        assert read[0].thought.startswith(start)
        last = sample["output"]["choices"][0]["message"]["content"]
        answer = last if isinstance(last, str) else "".join(p.get("text", "") for p in last)
        assert read[-1].thought.strip().endswith(answer)
        assert folded.row.score == letters[next(iter(sample["scores"].values()))["value"]]
        assert session.errors == sum(bool(e.get("error")) for e in sample["events"] if e["event"] == "tool")
        assert all(e.head.started_at and e.head.ended_at for e in folded.steps) == (name != "log_streaming.eval")


def test_inspect_prompts_are_exact() -> None:
    for session, sample in zip(registry.read(real("inspect/vivaria_small.eval")), samples("vivaria_small.eval"),
                               strict=True):
        inputs = [e["input"] for e in sample["events"] if e["event"] == "model"]
        for number, given in enumerate(inputs, 1):
            messages = context(session, number)
            assert [m.role for m in messages] == [m["role"] for m in given]
            texts = [(m.content, g["content"]) for m, g in zip(messages, given, strict=True)]
            assert all(mine == theirs for mine, theirs in texts if isinstance(theirs, str))
        assert {r.source for r in trajectory(session).context(1)} == {""}
    (pooled,) = registry.read(real("inspect/log_message_deduplication.eval"))
    assert [len(context(pooled, n)) for n in range(1, 7)] == [1, 3, 5, 7, 9, 11]
    assert context(pooled, 6)[2].content.startswith("bin\nboot\ndev")


def test_inspect_errors_of_calls() -> None:
    session = only("inspect/log_tool_call_error.json")
    (body,) = bodies(session)
    raw = json.loads(real("inspect/log_tool_call_error.json").read_text())["samples"][0]["messages"]
    assert [o.error.kind for o in body.observations] == [m["error"]["type"] for m in raw]
    assert body.observations[1].status == "timeout"
    assert "not in the file" in session.warnings[0]


# file, steps, errors, tokens, state, first and last thought
HANDS = [("basic", 2, 0, 4621 + 4823, "finished", "I'll help you create a simple 2048 game", "I've created a simple"),
         ("basic_gui_mode", 5, 1, 3543 + 4743 + 5462 + 5573, "stopped", "I'll help you create a Vue.js application",
          "I've created a complete Vue.js todo application")]


@pytest.mark.parametrize(("name", "steps", "errors", "tokens", "state", "first", "last"), HANDS)
def test_openhands_events(name, steps, errors, tokens, state, first, last) -> None:
    session = only(f"openhands-events/{name}.json")
    raw = json.loads(real(f"openhands-events/{name}.json").read_text())
    folded, read = trajectory(session), bodies(session)
    assert session.steps == steps == sum("action" in e and e["source"] == "agent" for e in raw)
    assert (session.errors, folded.row.tokens, folded.row.state) == (errors, tokens, state)
    answers = {e["tool_call_metadata"]["model_response"]["id"]: e["tool_call_metadata"]["model_response"]["usage"]
               for e in raw if "tool_call_metadata" in e}
    assert tokens == sum(u["total_tokens"] for u in answers.values())
    assert read[0].thought.startswith(first) and read[-1].thought.startswith(last)
    assert folded.row.model == "claude-3-5-sonnet-20241022"
    failed = [(o.exit_code, o.error.kind) for b in read for o in b.observations if o.error]
    assert failed == [(-1, "not_finished")] * errors, "a server that is still running has not exited"
    edits = [e["extras"] for e in raw if e.get("observation") == "edit"]
    changed = [(f.path, session.blobs[f.after].decode()) for f in folded.files]
    assert changed == [(e["path"], e["new_content"]) for e in edits]
    first_act = next(e for e in raw if e["source"] == "agent")
    assert folded.steps[0].head.started_at.isoformat().startswith(first_act["timestamp"])


def test_openhands_output() -> None:
    sessions = list(registry.read(real("openhands-output-jsonl/resolver_mock_output.jsonl")))
    for session, row, steps in zip(sessions, lines("openhands-output-jsonl/resolver_mock_output.jsonl"), (4, 22),
                                   strict=True):
        folded, read = trajectory(session), bodies(session)
        acts = [e for e in row["history"] if "action" in e][1:]
        assert session.steps == steps == len(acts) == len(row["metrics"]["costs"])
        assert [b.thought for b in read] == [a["thought"] for a in acts]
        assert folded.row.cost_usd == pytest.approx(row["metrics"]["accumulated_cost"])
        codes = [e["exit_code"] for e in row["history"] if "exit_code" in e]
        assert [o.exit_code for b in read for o in b.observations if o.exit_code is not None] == codes
        refused = [e for e in row["history"] if "observation" in e and any(
            words in str(e.get("content")) for words in ("edit has introduced", "[No exact match found in"))]
        assert session.errors == sum(map(bool, codes)) + len(refused)
        assert (folded.row.tokens, folded.row.state) == (None, "finished")
        assert folded.steps[0].head.started_at is None


def test_openhands_sdk() -> None:
    session = only("openhands-sdk/goal_events.jsonl")
    folded, read = trajectory(session), bodies(session)
    assert (session.steps, session.errors) == (3, 3)
    assert [(o.error.kind, o.exit_code) for b in read for o in b.observations] == [
        ("tool_error", None), ("tool_error", None), ("exit_code", 1)]
    # the growth of the run's counts: 35895-596, 71474-35895, 107458-71474 in, 960-775, 1155-960, 1347-1155 out
    assert [(e.head.usage.input_tokens, e.head.usage.output_tokens) for e in folded.steps] == [
        (35299, 185), (35579, 195), (35984, 192)]
    assert read[0].thought.startswith("Let me analyze the task. I need to:")
    assert read[-1].thought.startswith("Let me chain these properly")
    assert "prompt_tokens 107458, completion_tokens 1347" in notes(session)[0]
    assert "8df85183 is not in the file" in session.warnings[0]
    assert folded.row.state == "stopped"


def test_innovatorbench() -> None:
    session = only("innovatorbench/sample_react_node.json")
    raw = json.loads(real("innovatorbench/sample_react_node.json").read_text())
    folded, read = trajectory(session), bodies(session)
    results = [json.loads(m["tool_result"]["content"]) for m in raw["messages"] if m["tool_result"]]
    assert session.steps == 69 == len(results) + 1
    assert session.errors == sum(not r["success"] for r in [*results, raw["observation"]])
    assert [b.actions[0].tool for b in read] == [
        m["tool_call"]["name"] for m in raw["messages"] if m["tool_call"]] + ["get_session_output"]
    assert folded.row.tokens == 95344 + 88
    assert [m.role for m in context(session, 69)] == [m["role"] for m in raw["messages"]]
    assert folded.steps[-1].head.started_at.isoformat() == "2025-09-08T15:38:36.604590+00:00"
    assert {e.head.started_at for e in folded.steps[:-1]} == {None}
    assert read[-1].observations[0].output.text == raw["observation"]["output"]
