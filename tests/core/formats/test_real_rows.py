"""Real files of training rows against values worked out without the importer."""

import json
import re

import pytest
from support.imported import bodies, context, trajectory
from support.real_data import real

from core.domain.errors import InvalidInput
from core.formats import registry


def rows(path):
    text = real(path).read_text()
    try:
        found = json.loads(text)
        return found if isinstance(found, list) else [found]
    except ValueError:
        return [json.loads(line) for line in text.splitlines()]


def unique(found):
    return list({json.dumps(r, sort_keys=True): r for r in found}.values())


SHAREGPT = [("axolotl_conversation.json", 1, 6), ("glaive_toolcall_en_demo.json", 265, 845)]


@pytest.mark.parametrize(("name", "count", "steps"), SHAREGPT)
def test_sharegpt(name, count, steps) -> None:
    path = f"sharegpt-llamafactory/{name}"
    raw = unique(rows(path))
    sessions = list(registry.read(real(path)))
    assert len(sessions) == len(raw) == count
    assert sum(s.steps for s in sessions) == steps
    for session, row in zip(sessions, raw, strict=True):
        answers = [t for t in row["conversations"] if t["from"] in ("gpt", "function_call")]
        read = bodies(session)
        assert [b.thought for b in read if not b.actions] == [t["value"] for t in answers if t["from"] == "gpt"]
        calls = [json.loads(t["value"]) for t in answers if t["from"] == "function_call"]
        assert [(b.actions[0].tool, b.actions[0].arguments) for b in read if b.actions] == [
            (c["name"], c["arguments"]) for c in calls]
        seen = [t["value"] for t in row["conversations"] if t["from"] == "observation"]
        assert [o.output.text for b in read for o in b.observations] == seen
        assert (session.errors, trajectory(session).row.tokens) == (0, None)
        assert [m.content for m in context(session, len(read))] == [t["value"] for t in row["conversations"]][
            : len(context(session, len(read)))]


def test_repeated_rows_are_named() -> None:
    sessions = list(registry.read(real("sharegpt-llamafactory/glaive_toolcall_en_demo.json")))
    assert sum("repeats" in w for s in sessions for w in s.warnings) == 300 - 265


def test_llamafactory_v1() -> None:
    raw = unique(rows("sharegpt-llamafactory/v1_sft_demo.jsonl"))
    sessions = list(registry.read(real("sharegpt-llamafactory/v1_sft_demo.jsonl")))
    assert len(sessions) == len(raw) == 499
    assert [bodies(s)[0].thought for s in sessions] == [r["messages"][1]["content"][0]["value"] for r in raw]
    assert [s.steps for s in sessions] == [1] * 499
    assert {e.outcome for s in sessions for e in trajectory(s).steps} == {"keep"}
    assert all("person" not in v for s in sessions for e in trajectory(s).steps for v in e.verdicts)


@pytest.mark.parametrize(("name", "steps", "reward"), [("1_13", 7, 50.0), ("1_6", 15, 100 / 3)])
def test_webshop_demonstrations(name, steps, reward) -> None:
    path = f"agentgym/webshop_human_20220427_{name}.jsonl"
    raw = rows(path)
    (session,) = registry.read(real(path))
    folded, read = trajectory(session), bodies(session)
    assert session.steps == steps == len(raw)
    assert [b.actions[0].tool for b in read] == [r["page"] for r in raw]
    assert folded.row.score == pytest.approx(reward)
    assert (folded.row.state, folded.row.reason, session.errors) == ("finished", "done", 0)
    assert folded.created.task.description == raw[0]["goal"]["instruction_text"]
    made = [s.engine for s in folded.web_searches]
    assert len(made) - made.count("page") == sum(r["page"] == "search_results" for r in raw)
    assert made.count("page") == sum(r["page"] != "done" for r in raw), "each other row is a page that was visited"
    assert json.loads(read[-1].observations[0].output.text) == raw[-1]["content"]


def test_agent_instruct() -> None:
    raw = rows("agent-data-protocol/agenttuning_os__sample_raw.json")
    sessions = list(registry.read(real("agent-data-protocol/agenttuning_os__sample_raw.json")))
    assert [s.title for s in sessions] == [r["id"] for r in raw]
    assert [s.steps for s in sessions] == [7, 6, 6, 7, 8]
    assert [s.steps for s in sessions] == [sum(t["role"] == "assistant" for t in r["conversations"]) for r in raw]
    first = bodies(sessions[0])
    assert first[0].thought == "To count the files in /etc, I need to print all the files in it."
    assert (first[0].actions[0].tool, first[0].actions[0].arguments) == ("bash", {"command": "ls /etc"})
    assert (first[-1].actions[0].tool, first[-1].actions[0].arguments) == ("answer", {"text": "0"})
    acts = [t["content"] for r in raw for t in r["conversations"] if t["role"] == "assistant"]
    assert sum(bool(b.actions) for s in sessions for b in bodies(s)) == sum(bool(re.search(r"\nAct:", a)) for a in acts)
    assert {(s.errors, trajectory(s).row.tokens) for s in sessions} == {(0, None)}


def test_adp_standard_form() -> None:
    raw = rows("agent-data-protocol/agenttuning_alfworld__sample_std.json")
    sessions = list(registry.read(real("agent-data-protocol/agenttuning_alfworld__sample_std.json")))
    assert [s.steps for s in sessions] == [10, 31, 34, 8, 11]
    for session, row in zip(sessions, raw, strict=True):
        acts = [c for c in row["content"] if c["class_"] != "text_observation"]
        for body, act in zip(bodies(session), acts, strict=True):
            if act["class_"] == "api_action":
                assert (body.actions[0].tool, body.thought) == (act["function"], act["description"] or "")
            else:
                assert body.thought == "\n\n".join(t for t in (act["description"], act["content"]) if t)
        assert (session.title, session.errors) == (row["id"], 0)


def test_nebius() -> None:
    raw = rows("agent-data-protocol/nebius_SWE-agent-trajectories__sample_raw.json")
    sessions = list(registry.read(real("agent-data-protocol/nebius_SWE-agent-trajectories__sample_raw.json")))
    assert [s.steps for s in sessions] == [6, 14, 5, 8, 16]
    for session, row in zip(sessions, raw, strict=True):
        folded, read = trajectory(session), bodies(session)
        answers = [t["text"] for t in row["trajectory"] if t["role"] == "ai"]
        assert [b.actions[-1].arguments["command"] for b in read] == [
            re.findall(r"```[^\n]*\n(.*?)\n?```", t, re.DOTALL)[-1] for t in answers]
        seen = [t["text"] for t in row["trajectory"] if t["role"] == "user"][1:]
        assert [o.output.text for b in read for o in b.observations] == seen
        assert (folded.row.score, folded.row.model, folded.row.state) == (100.0, row["model_name"], "finished")
        assert [m.role for m in context(session, 1)] == ["system", "user"]


def test_tasks_of_endless_terminals_are_no_runs() -> None:
    found = list(registry.files(real("endless-terminals")))
    assert len(found) == 11
    for path in found:
        with pytest.raises(InvalidInput) as error:
            registry.recognise(path)
        assert error.value.code == "unknown_format"
