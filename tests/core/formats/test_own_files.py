"""Small files of our own, one per format, that hold what the real ones lack; for checkouts without the real ones."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from support.imported import bodies, context, trajectory

from core.domain.errors import InvalidInput
from core.domain.events import Placed, TerminalOutput, decode_event
from core.domain.trajectory import fold
from core.formats import registry, reimport, zipped

FILES = Path(__file__).parent / "foreign"

# file, format, per session: steps, failed steps, tokens, cost, score, state, guidance, summaries
TABLE = [
    ("mini.traj.json", "mini-swe-agent", [(2, 2, 15, 0.03, None, "finished", 1, 0)]),
    ("atif.json", "atif", [(3, 0, 284, 0.5, None, "finished", 1, 1), (1, 0, None, None, None, "finished", 0, 0)]),
    ("atif.cont-1.json", "atif", [(1, 0, 54, None, None, "finished", 0, 0)]),
    ("claude.jsonl", "claude-code", [(3, 1, 126, None, None, "finished", 1, 1),
                                     (1, 0, 42, None, None, "finished", 0, 0)]),
    ("claude_rewound.jsonl", "claude-code", [(3, 1, 209, None, None, "finished", 2, 0)]),
    ("codex.jsonl", "codex-cli", [(3, 1, 56, None, None, "finished", 1, 1)]),
    ("codex_long.jsonl", "codex-cli", [(6, 4, 216204, None, None, "finished", 2, 1)]),
    ("codex_lead.jsonl", "codex-cli", [(4, 1, 1026, None, None, "finished", 1, 1)]),
    ("codex_exec.jsonl", "codex-exec", [(3, 1, None, None, None, "finished", 0, 0)]),
    ("gemini.json", "gemini-cli", [(2, 1, 108, None, None, "finished", 1, 0)]),
    ("cline.json", "cline", [(3, 1, 44, 0.25, None, "finished", 1, 0)]),
    ("cline_titled.json", "cline", [(4, 2, 34, 0.25, None, "finished", 1, 0)]),
    ("cline_sdk.json", "cline", [(2, 1, 79, 0.5, None, "finished", 0, 0)]),
    ("cline_ui.json", "cline", [(3, 1, 60, 0.75, None, "finished", 1, 1)]),
    ("cline_task/api_conversation_history.json", "cline", [(3, 1, 60, 0.75, None, "finished", 1, 0)]),
    ("harbor/agent/trajectory.json", "atif", [(2, 0, 33, None, 50.0, "finished", 0, 0)]),
    ("openhands.json", "openhands", [(3, 2, 48, None, None, "finished", 1, 1)]),
    ("openhands_output.jsonl", "openhands-output", [(2, 1, None, 0.5, None, "finished", 0, 0),
                                                    (1, 0, None, None, None, "failed", 0, 0)]),
    ("sdk.jsonl", "openhands-sdk", [(3, 2, 110, None, None, "finished", 1, 1)]),
    ("conversation/base_state.json", "openhands-sdk", [(3, 2, 110, None, None, "finished", 1, 1)]),
    ("inspect.json", "inspect", [(2, 1, 47, None, 25.0, "stopped", 1, 1)]),
    ("sharegpt.json", "sharegpt", [(4, 0, None, None, None, "finished", 1, 0)]),
    ("llamafactory.jsonl", "sharegpt", [(2, 0, None, None, None, "finished", 1, 0)]),
    ("agentgym.json", "agentgym", [(2, 0, None, None, 50.0, "finished", 0, 0)]),
    ("webshop.jsonl", "agentgym", [(3, 0, None, None, 25.0, "finished", 0, 0)]),
    ("nebius.json", "nebius", [(2, 0, None, None, 100.0, "finished", 0, 0)]),
    ("adp.json", "agent-data-protocol", [(4, 0, None, None, None, "finished", 1, 0)]),
    ("endless.json", "endless-terminals", [(3, 1, None, None, 100.0, "finished", 0, 0),
                                           (1, 0, None, None, 0.0, "finished", 0, 0)]),
    ("innovator.json", "innovatorbench", [(2, 1, 104, None, None, "stopped", 0, 0)]),
    ("qwen.jsonl", "qwen-code", [(3, 1, 324, None, None, "finished", 1, 1)]),
    ("copilot.jsonl", "copilot-cli", [(3, 2, 123, None, None, "finished", 1, 1),
                                      (1, 0, None, None, None, "finished", 0, 0)]),
    ("opencode.json", "opencode", [(3, 1, 288, 0.03, None, "finished", 1, 1)]),
    ("opencode.db", "opencode", [(3, 1, 288, 0.03, None, "finished", 1, 1),
                                 (1, 0, 11, 0.01, None, "finished", 0, 0)]),
    ("chatgpt.json", "chatgpt", [(4, 1, None, None, None, "finished", 1, 0)]),
    ("chatgpt_2025.json", "chatgpt", [(3, 2, None, None, None, "finished", 0, 0)]),
    ("claude_ai.json", "claude-ai", [(4, 1, None, None, None, "finished", 1, 0)]),
    ("responses.jsonl", "openai-responses", [(3, 0, 453, None, None, "failed", 1, 0)]),
    ("responses_items.json", "openai-responses", [(2, 0, None, None, None, "finished", 0, 0)]),
    ("otel.jsonl", "otel", [(2, 1, 265, None, None, "finished", 1, 0)]),
    ("otel_events.json", "otel", [(2, 1, 11, None, None, "finished", 0, 0)]),
    ("langfuse.json", "langfuse", [(2, 1, 254, 0.75, 100.0, "finished", 1, 0)]),
    ("langsmith.jsonl", "langsmith", [(2, 1, 254, 0.25, 50.0, "finished", 1, 0)]),
    ("langsmith_graph.jsonl", "langsmith", [(3, 1, 219, None, None, "finished", 0, 0)]),
    ("tau2.json", "tau2-bench", [(3, 1, 263, 0.03, 50.0, "finished", 1, 0),
                                 (1, 0, None, None, 0.0, "failed", 0, 0)]),
    ("goose.jsonl", "goose", [(2, 1, None, None, None, "finished", 1, 0)]),
    ("goose.db", "goose", [(2, 1, None, None, None, "finished", 1, 0)]),
    ("kimi_wire.jsonl", "kimi-cli", [(3, 1, 120, None, None, "finished", 2, 1),
                                     (2, 0, 34, None, None, "finished", 0, 0)]),
    ("kimi_context.jsonl", "kimi-cli", [(2, 1, None, None, None, "finished", 1, 0)]),
    ("trial/results.json", "terminal-bench", [(2, 0, None, None, 0.0, "failed", 0, 0)]),
    ("trial/sessions/agent.cast", "terminal-bench", [(2, 0, None, None, None, "finished", 0, 0)]),
]


@pytest.mark.parametrize(("name", "format", "sessions"), TABLE, ids=[t[0] for t in TABLE])
def test_what_a_file_tells(name, format, sessions) -> None:
    read = list(registry.read(FILES / name))
    assert [s.format for s in read] == [format] * len(sessions)
    for session, (steps, errors, tokens, cost, score, state, guided, summaries) in zip(read, sessions, strict=True):
        folded = trajectory(session)
        assert (session.steps, session.errors, folded.row.tokens, folded.row.score) == (steps, errors, tokens, score)
        assert folded.row.cost_usd == (None if cost is None else pytest.approx(cost))
        assert (folded.row.state, len(folded.guidance), len(folded.summaries)) == (state, guided, summaries)
        assert {(g.author, g.by_person) for g in folded.guidance.values()} <= {
            ("person", True) if format != "tau2-bench" else ("simulated user", False)}
        assert {g.state for g in folded.guidance.values()} <= {"answered"}
        assert [b.number for b in bodies(session)] == list(range(1, steps + 1))


@pytest.mark.parametrize("name", [t[0] for t in TABLE if "/" not in t[0]])
def test_the_name_does_not_matter(tmp_path, name) -> None:
    known = registry.recognise(FILES / name)
    copy = tmp_path / "x.pdf"
    shutil.copy(FILES / name, copy)
    assert registry.recognise(copy) == known
    before, after = list(registry.read(FILES / name)), list(registry.read(copy))
    assert {s.session for s in after} <= {s.session for s in before} or name == "atif.json"


@pytest.mark.parametrize("name", ["mini.traj.json", "claude.jsonl", "codex.jsonl", "gemini.json", "openhands.json",
                                  "sdk.jsonl", "inspect.json", "atif.json", "cline.json", "cline_ui.json"])
def test_a_grown_file_is_the_same_session_and_keeps_its_events(tmp_path, name) -> None:
    """The first steps of a run that goes on are the first steps of the run: same session, same events."""
    whole = next(iter(registry.read(FILES / name)))
    value = FILES.joinpath(name).read_text()
    young = tmp_path / name
    if name.endswith("l"):
        young.write_text("".join(value.splitlines(keepends=True)[:-2]))
    else:
        young.write_text(json.dumps(_younger(json.loads(value))))
    before = next(iter(registry.read(young)))
    assert before.session == whole.session
    ids = [[decode_event(b).id for b in s.bodies] for s in (before, whole)]
    steps = [[i for i in held if "-step-" in i] for held in ids]
    assert steps[0] == steps[1][: len(steps[0])]
    assert ids[0][0] == ids[1][0]


def _younger(value):
    if isinstance(value, list):
        return value[:-1]
    for key in ("messages", "steps"):
        if key in value:
            return {**value, key: value[key][:-1]}
    return {**value, "samples": [{**s, "events": s["events"][:-2]} for s in value["samples"]]}


def test_a_late_result_takes_the_place_of_none_and_counts_no_token_twice(tmp_path) -> None:
    lines = (FILES / "codex.jsonl").read_text().splitlines(keepends=True)
    young = tmp_path / "codex.jsonl"
    young.write_text("".join(lines[: next(n for n, x in enumerate(lines) if "function_call_output" in x)]))
    (before,), (after,) = registry.read(young), registry.read(FILES / "codex.jsonl")
    held = reimport.HeldRun(lambda: before.bodies)
    added = reimport.missing_events(after, held, before.blobs.__getitem__)
    folded = fold(after.session, [Placed(session=after.session, seq=n, body=b)
                                for n, b in enumerate([*before.bodies, *added], 1)])
    whole = trajectory(after)
    assert [(e.head.number, e.body) for e in folded.steps] == [(e.head.number, e.body) for e in whole.steps]
    assert [folded.context(n) for n in (1, 2, 3)] == [whole.context(n) for n in (1, 2, 3)]
    assert (folded.row.tokens, folded.row.errors) == (whole.row.tokens, whole.row.errors) == (56, 1)
    assert folded.steps[0].head.usage == whole.steps[0].head.usage
    held.add(added)
    assert reimport.missing_events(after, held, after.blobs.__getitem__) == []


@pytest.mark.parametrize(("name", "finals"), [("agentgym.json", ["mask", "keep"]), ("nebius.json", ["keep", "mask"]),
                                              ("llamafactory.jsonl", ["keep", "mask"]),
                                              ("sharegpt.json", ["undecided"] * 4)])
def test_losses_and_masks_are_verdicts_of_the_import(name, finals) -> None:
    (session,) = registry.read(FILES / name)
    folded = trajectory(session)
    assert [e.outcome for e in folded.steps] == finals
    assert {k for e in folded.steps for k in e.verdicts} <= {f"import:{session.format}"}


def test_a_folder_and_its_lines_are_one_session() -> None:
    (folder,), (lines,) = registry.read(FILES / "conversation/base_state.json"), registry.read(FILES / "sdk.jsonl")
    assert folder.session == lines.session


def test_reasoning_calls_and_results_of_a_step() -> None:
    first = bodies(next(iter(registry.read(FILES / "claude.jsonl"))))[0]
    assert first.thought == "Look.\n\nI look."
    assert [(a.tool, a.call_id) for a in first.actions] == [("Bash", "t1"), ("Task", "t2")]
    assert [(o.call_id, o.exit_code, bool(o.error)) for o in first.observations] == [("t2", None, False),
                                                                                     ("t1", 2, True)]


def test_results_that_are_texts_meet_their_calls() -> None:
    (session,) = registry.read(FILES / "cline.json")
    one, two, three = bodies(session)
    assert [(o.call_id, bool(o.error)) for o in one.observations] == [("q1", True)]
    assert (two.actions[0].arguments, two.observations[0].output.text[:16]) == ({"command": "ls"}, "[execute_command")
    assert (three.thought, three.actions[0].call_id, three.observations[0].call_id) == ("Now read.", "q2", "q2")
    assert three.observations[0].output.text.endswith("sum = 1")


def test_subagents_name_the_step_that_called_them() -> None:
    for name, step in (("claude.jsonl", 1), ("atif.json", 1)):
        parent, child = registry.read(FILES / name)
        fact = decode_event(child.bodies[1]).fact
        assert (fact.parent, fact.step) == (parent.session, step)


def test_a_continuation_beside_a_file_is_joined_and_not_read_twice(tmp_path) -> None:
    parent = next(iter(registry.read(FILES / "atif.json")))
    assert [b.thought for b in bodies(parent)][-1] == "Five files."
    assert [m.content for m in context(parent, 3)] == ["Count the files.", "Counting."]
    for name in ("atif.json", "atif.cont-1.json"):
        shutil.copy(FILES / name, tmp_path / name)
    assert [p.name for p in registry.files(tmp_path)] == ["atif.json"]
    (tmp_path / "atif.cont-1.json").unlink()
    alone = next(iter(registry.read(tmp_path / "atif.json")))
    assert alone.steps == 2
    assert "not beside it" in alone.warnings[0]


@pytest.mark.parametrize("ref", ["../atif.cont-1.json", "/etc/passwd", "sub/x.json", "link.json", "atif.json"])
def test_a_continuation_never_leads_out_of_the_folder(tmp_path, ref) -> None:
    run = json.loads((FILES / "atif.json").read_text())
    inner = tmp_path / "in"
    (inner / "sub").mkdir(parents=True)
    for place in (tmp_path / "atif.cont-1.json", inner / "sub" / "x.json"):
        shutil.copy(FILES / "atif.cont-1.json", place)
    (inner / "link.json").symlink_to(tmp_path / "atif.cont-1.json")
    (inner / "atif.json").write_text(json.dumps({**run, "continued_trajectory_ref": ref}))
    assert next(iter(registry.read(inner / "atif.json"))).steps == 2


def test_folders_give_each_session_once() -> None:
    found = [p.relative_to(FILES).as_posix() for p in registry.files(FILES)]
    assert [n for n in found if "/" in n] == [
        "cline_task/api_conversation_history.json", "conversation/base_state.json", "harbor/result.json",
        "harbor/agent/trajectory.json", "trial/commands.txt", "trial/results.json"]


def test_a_cast_is_replayed_byte_for_byte() -> None:
    (session,) = registry.read(FILES / "trial/results.json")
    folded = trajectory(session)
    stream = folded.terminals["main/agent"]
    assert b"".join(t.data for t in stream).decode() == "$ 文\r\n$ bye\r\n"
    assert [t.offset for t in stream] == [0, 2, 9]
    assert [(t.columns, t.rows) for t in stream] == [(80, 24), (0, 0), (0, 0)]
    assert [e.terminals for e in folded.steps] == [{"main/agent": 9}, {"main/agent": 14}]
    at = [decode_event(b).at.timestamp() for b in session.bodies if isinstance(decode_event(b).fact, TerminalOutput)]
    assert [round(t - 1750000000, 1) for t in at] == [0.1, 0.7, 2.1]
    assert folded.scores[0].parts == {"test_a": 100.0, "test_b": 0.0}


def test_commands_of_a_trial_without_typed_keys(tmp_path) -> None:
    shutil.copytree(FILES / "trial", tmp_path / "t")
    cast = tmp_path / "t/sessions/agent.cast"
    cast.write_text("\n".join(line for line in cast.read_text().splitlines() if '"i"' not in line))
    (session,) = registry.read(tmp_path / "t/results.json")
    assert [b.actions[0].arguments["command"] for b in bodies(session)] == ["'echo hi'Enter"]


def archived(tmp_path, compression, chunked=False):
    log = json.loads((FILES / "inspect.json").read_text())
    sample = log.pop("samples")[0]
    path = tmp_path / "log.eval"
    with zipped.zipfile.ZipFile(path, "w", compression) as file:
        file.writestr("header.json", json.dumps(log))
        if not chunked:
            file.writestr("samples/s1_epoch_1.json", json.dumps(sample))
            return path
        parts = {k: sample.pop(k) for k in ("events", "messages", "attachments")}
        del sample["events_data"]
        text = json.dumps(parts["messages"]).replace("attachment://00ff", "attachment://0")
        file.writestr("samples/s1_epoch_1/sample.json", json.dumps({**sample, "message_refs": [[0, 5]]}))
        file.writestr("samples/s1_epoch_1/messages/0.json", json.dumps(json.loads(text)[:2]))
        file.writestr("samples/s1_epoch_1/messages/2.json", json.dumps(json.loads(text)[2:]))
        file.writestr("samples/s1_epoch_1/events/0.json", json.dumps(parts["events"]))
        file.writestr("samples/s1_epoch_1/events/stats.json", "{}")
        file.writestr("samples/s1_epoch_1/attachments/0.json", json.dumps(list(parts["attachments"].values())))
    return path


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("compression", [zipped.zipfile.ZIP_STORED, zipped.zipfile.ZIP_DEFLATED,
                                         zipped.zipfile.ZIP_ZSTANDARD])
def test_inspect_archives_are_the_same_session_however_they_are_packed(tmp_path, compression, chunked) -> None:
    (json_,), (eval_,) = registry.read(FILES / "inspect.json"), registry.read(archived(tmp_path, compression, chunked))
    assert eval_.session == json_.session
    assert bodies(eval_) == bodies(json_)
    assert [m.content for m in context(eval_, 1)] == ["A very long system prompt.", "Run it."]


def test_a_damaged_sample_is_named_beside_the_others(tmp_path) -> None:
    path = archived(tmp_path, zipfile.ZIP_STORED)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("samples/s2_epoch_1.json", '{"id": 2, "events": [{"event": "model", ')
    (session,) = registry.read(path)
    assert any("samples/s2_epoch_1.json" in w and "byte" in w for w in session.warnings)


@pytest.mark.parametrize("name", ["../x.json", "/etc/x", "a/../../b", "C:/x", "..\\x"])
def test_archives_with_strange_members_are_refused(tmp_path, name) -> None:
    path = archived(tmp_path, zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(zipfile.ZipInfo(name), "x")
    with pytest.raises(InvalidInput):
        list(registry.read(path))


def test_links_and_bombs_are_refused(tmp_path) -> None:
    path = archived(tmp_path, zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(path, "a") as file:
        link = zipfile.ZipInfo("samples/link.json")
        link.external_attr = 0o120777 << 16
        file.writestr(link, "/etc/passwd")
    with pytest.raises(InvalidInput):
        list(registry.read(path))
    bomb = archived(tmp_path, zipfile.ZIP_DEFLATED)
    with zipped.zipfile.ZipFile(bomb, "a", zipped.zipfile.ZIP_ZSTANDARD) as file:
        file.writestr("samples/b_epoch_1.json", bytes(64 * 1024 * 1024))
    with pytest.raises(InvalidInput):
        list(registry.read(bomb))


@pytest.mark.parametrize(("name", "steps"), [("claude.jsonl", 2), ("codex.jsonl", 2), ("sdk.jsonl", 2)])
def test_a_line_that_is_being_written_is_named(tmp_path, name, steps) -> None:
    data = (FILES / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(data[: data.rstrip().rfind(b"\n") + 20])
    session = next(iter(registry.read(path)))
    assert session.steps >= steps
    assert any("The file ends inside this line" in w and "byte" in w for w in session.warnings)


def test_a_folder_with_a_file_per_event_is_one_session(tmp_path) -> None:
    events = json.loads((FILES / "openhands.json").read_text())
    folder = tmp_path / "sessions/abc/events"
    folder.mkdir(parents=True)
    for event in events:
        (folder / f"{event['id']}.json").write_text(json.dumps(event))
    (first,) = registry.files(tmp_path)
    assert first.name == "0.json"
    (gathered,), (whole,) = registry.read(first), registry.read(FILES / "openhands.json")
    assert gathered.session == whole.session
    assert bodies(gathered) == bodies(whole)


def test_the_output_stream_of_claude_code(tmp_path) -> None:
    rows = [json.loads(line) for line in (FILES / "claude.jsonl").read_text().splitlines()]
    path = tmp_path / "out.jsonl"
    for row in rows:
        if "sessionId" in row:
            row["session_id"] = row.pop("sessionId")
            row["parent_tool_use_id"] = "t2" if row.pop("isSidechain", False) else None
    end = {"type": "result", "subtype": "success", "is_error": False, "total_cost_usd": 0.25, "session_id": "own-s"}
    path.write_text("\n".join(map(json.dumps, [*rows, end])))
    main, helper = registry.read(path)
    assert (main.steps, helper.steps) == (3, 1)
    assert main.session == next(iter(registry.read(FILES / "claude.jsonl"))).session
    assert (trajectory(main).row.state, trajectory(main).row.reason) == ("finished", "success")
    assert decode_event(helper.bodies[1]).fact.step == 1


def test_a_recording_beside_a_trajectory_is_replayed_step_by_step(tmp_path) -> None:
    (session,) = registry.read(FILES / "harbor/agent/trajectory.json")
    folded = trajectory(session)
    stream = folded.terminals["main/agent"]
    assert b"".join(t.data for t in stream).decode() == "$ echo 你\r\n你\r\n$ bye\r\n"
    before = len("$ echo 你\r\n你\r\n$ ".encode())
    assert [e.terminals for e in folded.steps] == [{"main/agent": before}, {"main/agent": before + 5}]
    assert folded.scores[0].message == 'rewards: {"reward": 0.5}'
    shutil.copytree(FILES / "harbor", tmp_path / "t")
    run = json.loads((tmp_path / "t/agent/trajectory.json").read_text())
    for step in run["steps"]:
        del step["timestamp"]
    (tmp_path / "t/agent/trajectory.json").write_text(json.dumps(run))
    (tmp_path / "t/result.json").write_text(json.dumps({"task_name": "a", "trial_name": "b", "exception_info": {
        "exception_type": "AgentTimeoutError", "exception_message": "after 9 s"}}))
    (late,) = registry.read(tmp_path / "t/agent/trajectory.json")
    folded = trajectory(late)
    assert [e.terminals for e in folded.steps] == [{}, {}]
    assert len(b"".join(t.data for t in folded.terminals["main/agent"])) == before + 5
    assert (folded.row.state, folded.row.reason, folded.row.score) == ("failed", "AgentTimeoutError", None)
    assert any("recording stands at the end" in w for w in late.warnings)


def test_times_and_costs_of_the_window_join_the_conversation(tmp_path) -> None:
    (session,) = registry.read(FILES / "cline_task/api_conversation_history.json")
    folded = trajectory(session)
    assert [e.head.usage.input_tokens for e in folded.steps] == [46, None, 9]
    assert [e.head.started_at.timestamp() for e in folded.steps] == [1750000001.0, 1750000003.0, 1750000004.0]
    assert folded.row.model == "own-model"
    shutil.copytree(FILES / "cline_task", tmp_path / "t")
    messages = json.loads((tmp_path / "t/ui_messages.json").read_text())
    (tmp_path / "t/ui_messages.json").write_text(json.dumps(messages[:-2]))
    (session,) = registry.read(tmp_path / "t/api_conversation_history.json")
    assert (trajectory(session).row.tokens, session.warnings[0][:40]) == (
        None, "ui_messages.json tells of 2 requests, an")


def test_the_window_alone_gives_steps_outputs_and_what_a_person_wrote() -> None:
    (session,) = registry.read(FILES / "cline_ui.json")
    one, two, three = bodies(session)
    assert (one.thought, one.actions[0].tool, one.actions[0].arguments) == (
        "Where is it?\n\nReading.", "readFile", {"path": "s.py"})
    assert (two.actions[0].arguments, two.observations[0].output.text) == ({"command": "ls"}, "src\ndoc")
    assert three.actions[0].tool == "attempt_completion"
    folded = trajectory(session)
    assert [(g.text, g.delivered_step) for g in folded.guidance.values()] == [("It is in src.", 2)]
    assert [(s.first, s.last, s.text) for s in folded.summaries.values()] == [(1, 2, "It is in src.")]


def test_the_text_of_an_inspect_compaction_is_taken_from_the_next_input(tmp_path) -> None:
    log = json.loads((FILES / "inspect.json").read_text())
    pool = log["samples"][0]["events_data"]["messages"]
    pool[1] = {**pool[1], "content": "Summary: it ran.", "metadata": {"summary": True}}
    path = tmp_path / "x.json"
    path.write_text(json.dumps(log))
    (session,) = registry.read(path)
    assert [s.text for s in trajectory(session).summaries.values()] == ["Summary: it ran."]


def test_contents_of_files_are_taken_where_the_format_holds_them_whole(tmp_path) -> None:
    rows = [json.loads(line) for line in (FILES / "claude.jsonl").read_text().splitlines()]
    place = next(n for n, r in enumerate(rows) if r["type"] == "user" and "t2" in json.dumps(r["message"]["content"]))
    edit = {"structuredPatch": [], "filePath": "/w/a.py"}
    path = tmp_path / "x.jsonl"
    for result, before, after in (
            ({"type": "create", "content": "one\n"}, None, b"one\n"),
            ({"originalFile": "one one\n", "oldString": "one", "newString": "two"}, b"one one\n", b"two one\n"),
            ({"originalFileContents": "a b", "edits": [{"old_string": "a", "new_string": "c", "replace_all": True},
                                                       {"old_string": "b", "new_string": "d"}]}, b"a b", b"c d")):
        rows[place]["toolUseResult"] = {**edit, **result}
        path.write_text("\n".join(map(json.dumps, rows)))
        session = next(iter(registry.read(path)))
        (change,) = trajectory(session).files
        assert (change.path, change.step, change.size) == ("/w/a.py", 1, len(after))
        assert (session.blobs.get(change.before), session.blobs[change.after]) == (before, after)
    for result in ({"type": "update", "content": "x", "originalFile": None}, {"oldString": "q", "newString": "r"},
                   {"originalFile": "one", "oldString": "absent", "newString": "r"}):
        rows[place]["toolUseResult"] = {**edit, **result}
        path.write_text("\n".join(map(json.dumps, rows)))
        assert trajectory(next(iter(registry.read(path)))).files == [], "a content that is not told is not made up"


def test_one_moment_tells_no_duration() -> None:
    (session,) = registry.read(FILES / "cline_ui.json")
    assert [e.head.ended_at is not None for e in trajectory(session).steps] == [True, True, True]
    one = next(iter(registry.read(FILES / "claude.jsonl")))
    heads = [e.head for e in trajectory(one).steps]
    assert all(h.ended_at is None or h.ended_at > h.started_at for h in heads)
