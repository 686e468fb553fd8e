"""Every real file there is, against counts, texts and totals that a few lines of each format's description give.

The mini-readers below know nothing of the importers: they take JSON and zip files apart themselves.
"""

import json
import re
import zipfile

import pytest
from support.imported import bodies, trajectory
from support.real_data import DATA, real

from core.domain.message import decode_message
from core.formats import registry


def rows(path):
    text = path.read_text()
    try:
        value = json.loads(text)
        return value if isinstance(value, list) else [value]
    except ValueError:
        return [json.loads(x) for x in text.splitlines() if x.startswith("{")]


def unique(found):
    return list({json.dumps(r, sort_keys=True): r for r in found}.values())


def adp(path):
    """Standard form, AgentInstruct and Nebius rows: the agent's turns in order."""
    for row in unique(rows(path)):
        if "content" in row:
            actions = [c for c in row["content"] if c["class_"] != "text_observation"]
            yield [c.get("description") or c.get("content") or c.get("function") for c in actions], 0, None
        elif "conversations" in row:
            yield [t["content"].split("\n")[0].split(": ", 1)[-1] for t in row["conversations"]
                   if t["role"] == "assistant"], 0, None
        else:
            yield [t["text"].split("```")[0].strip() for t in row["trajectory"] if t["role"] == "ai"], 0, None


def agentgym(path):
    yield [r["page"] for r in rows(path)], 0, None


def atif(path):
    def run(value):
        agent_steps = [s for s in value["steps"] if s["source"] == "agent" and not s.get("is_copied_context")]
        used = [m for s in agent_steps if (m := s.get("metrics"))]
        tokens = sum(m.get(k) or 0 for m in used for k in ("prompt_tokens", "completion_tokens"))
        calls = [s.get("message") or s["tool_calls"][0]["function_name"] for s in agent_steps]
        yield [c if isinstance(c, str) else c[0]["text"] for c in calls], 0, tokens if used else None
        for child in value.get("subagent_trajectories") or []:
            yield from run(child)

    yield from run(json.loads(path.read_text()))


def claude_code(path):
    lines = [json.loads(x) for x in path.read_text().splitlines() if x.startswith("{")]
    chains = {}
    for line in lines:
        if line.get("type") in ("user", "assistant"):
            parent = chains.get(line.get("parentUuid"))
            root = parent if line.get("isSidechain") and parent not in (None, "main") else line["uuid"]
            chains[line["uuid"]] = root if line.get("isSidechain") else "main"
    for chain in dict.fromkeys(chains.values()):
        own = [x for x in lines if chains.get(x.get("uuid")) == chain]
        answers, usage, failed = {}, {}, set()
        for line in own:
            message = line["message"] if isinstance(line.get("message"), dict) else {}
            key = message.get("id") or line["uuid"]
            blocks = [b for b in message.get("content") or [] if isinstance(b, dict)]
            if line["type"] == "assistant":
                answers.setdefault(key, []).extend(b.get("text") or b.get("name") or "" for b in blocks)
                usage[key] = message.get("usage") or {}
            failed |= {b["tool_use_id"] for b in blocks if b.get("is_error")}
        kinds = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        counts = [u.get(k) for u in usage.values() for k in kinds if u.get(k) is not None]
        if answers:
            yield [next((t for t in texts if t), "") for texts in answers.values()], len(failed), (
                sum(counts) if counts else None)


def codex(path):
    """Up to each count of tokens is one answer."""
    steps, open_, tokens = [], [], 0
    for line in rows(path):
        payload = line["payload"]
        kind = payload.get("type")
        answers = kind in ("reasoning", "function_call") or payload.get("role") == "assistant"
        if line["type"] == "response_item" and answers:
            open_ += [p["text"] for p in payload.get("content") or payload.get("summary") or []]
        elif line["type"] == "event_msg" and kind == "token_count" and payload["info"]:
            tokens += sum(payload["info"]["last_token_usage"][k] for k in ("input_tokens", "output_tokens"))
            steps.append(open_[0])
            open_ = []
    yield steps, 0, tokens


def innovator(path):
    node = json.loads(path.read_text())
    calls = [m["tool_call"]["name"] for m in node["messages"] if m["tool_call"]] + [node["action"]["action_type"]]
    results = [json.loads(m["tool_result"]["content"]) for m in node["messages"] if m["tool_result"]]
    yield calls, sum(not t["success"] for t in [*results, node["observation"]]), 95344 + 88


def inspect(path):
    if path.suffix == ".json":
        samples = json.loads(path.read_text())["samples"]
    else:
        with zipfile.ZipFile(path) as file:
            samples = [json.loads(file.read(n)) for n in file.namelist() if n.startswith("samples/")]
    for sample in samples:
        models = [e["output"]["choices"][0]["message"] for e in sample.get("events", []) if e["event"] == "model"]
        tokens = sum(u["total_tokens"] for u in (sample.get("model_usage") or {}).values())
        if not models:  # the one file without events holds nothing but results
            yield [sample["messages"][0]["function"]], sum(bool(m.get("error")) for m in sample["messages"]), None
            continue
        texts = [m["content"] if isinstance(m["content"], str) else next(
            (p.get("text") or p.get("reasoning") for p in m["content"]), "") for m in models]
        calls = [(m.get("tool_calls") or [{"function": ""}])[0]["function"] for m in models]
        failed = {e["id"] for e in sample["events"] if e["event"] == "tool" and e.get("error")}
        yield [t or c for t, c in zip(texts, calls, strict=True)], len(failed), tokens or None


def mini(path):
    messages = rows(path)
    yield [m["content"] for m in messages if m["role"] == "assistant"], sum(
        bool(re.match(r"<returncode>[1-9]", m["content"])) for m in messages), None


def tau(path):
    for row in rows(path):
        texts = re.findall(r"(?ms)^assistant: ?(.*?)(?=^(?:user|assistant|tool|system): ?|\Z)", row["messages_display"])
        yield [t.strip().removeprefix("None") for t in texts], 0, None


def openhands(path):
    events = json.loads(path.read_text())
    acts = [e for e in events if "action" in e and e["source"] == "agent"]
    answers = {m["id"]: m["usage"]["total_tokens"] for e in events
               if (m := e.get("tool_call_metadata", {}).get("model_response"))}
    failed = [e for e in events if (e.get("extras") or {}).get("metadata", {}).get("exit_code", 0) not in (0, None)]
    yield [e["args"].get("thought") or e["args"].get("content") or e["args"].get("final_thought") or e["action"]
           for e in acts], len(failed), sum(answers.values())


def openhands_output(path):
    for row in rows(path):
        acts = [e for e in row["history"] if "action" in e][1:]
        yield [a["thought"] or a["action"] for a in acts], sum(
            bool(e.get("exit_code")) for e in row["history"]), None


def openhands_sdk(path):
    """A result whose call is not in the file is a step of its own."""
    known = {e["id"] for e in rows(path)} | {None}
    acts = [e for e in rows(path) if e["kind"] == "ActionEvent" or e.get("action_id") not in known]
    failed = [e for e in rows(path) if e["kind"] == "ObservationEvent" and (
        e["observation"].get("is_error") or e["observation"].get("exit_code"))]
    yield [e.get("reasoning_content") or e["tool_name"] for e in acts], len(failed), 107458 - 596 + 1347 - 775


def sharegpt(path):
    for row in unique(rows(path)):
        if "messages" in row:
            yield [m["content"][0]["value"] for m in row["messages"] if m["role"] == "assistant"], 0, None
            continue
        yield [t["value"] if t["from"] == "gpt" else json.loads(t["value"])["name"] for t in row["conversations"]
               if t["from"] in ("gpt", "function_call")], 0, None


def swe_agent(path):
    run = json.loads(path.read_text())
    steps = run.get("trajectory") or [h for h in run["history"] if h["role"] == "assistant" and not h.get("is_demo")]
    yield [s["thought"] for s in steps], 0, None


READERS = {"agent-data-protocol": adp, "agentgym": agentgym, "atif": atif, "claude-code": claude_code,
           "codex-cli": codex, "innovatorbench": innovator, "inspect": inspect, "mini-swe-agent": mini,
           "openai-chat": tau, "openhands-events": openhands, "openhands-output-jsonl": openhands_output,
           "openhands-sdk": openhands_sdk, "sharegpt-llamafactory": sharegpt, "swe-agent": swe_agent}
NO_RUNS = {"README.md", "endless-terminals"}
"""The list of the files, and tasks that nobody has run."""


def names():
    """Every real file; without the folder one that makes the test say so."""
    found = sorted(str(p.relative_to(DATA)) for p in DATA.rglob("*") if p.is_file())
    return [n for n in found if n.split("/")[0] not in NO_RUNS] or ["missing/file"]


def seen(session, body, entry):
    """All that a step says: its thought, its calls, its message."""
    completion = decode_message(session.blobs[entry.completion.hash]).content if entry.completion else ""
    return "\n".join([body.thought, completion, *(f"{a.tool} {json.dumps(a.arguments)}" for a in body.actions)])


@pytest.mark.parametrize("name", names())
def test_steps_first_and_last_text_errors_and_tokens(name) -> None:
    path = real(name)
    sessions = list(registry.read(path))
    expected = list(READERS[name.split("/")[0]](path))
    assert len(sessions) == len(expected)
    for session, (texts, errors, tokens) in zip(sessions, expected, strict=True):
        read, folded = bodies(session), trajectory(session)
        assert session.steps == len(read) == len(texts)
        assert str(texts[0]).strip() in seen(session, read[0], folded.steps[0])
        assert str(texts[-1]).strip() in seen(session, read[-1], folded.steps[-1])
        assert folded.row.tokens == tokens
        assert sum(o.is_error for b in read for o in b.observations) == errors
