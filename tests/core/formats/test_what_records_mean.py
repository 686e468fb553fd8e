"""Single records that say who broke off, who failed and who spoke, of which the whole files beside this have few."""

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from support.imported import bodies, context, trajectory

from core.domain.errors import InvalidInput
from core.domain.events import NoteAdded, decode_event
from core.formats import registry
from core.formats.imported import Imported, SessionBuilder
from core.formats.values import usage_of

FILES = Path(__file__).parent / "foreign"


def read(path: Path, *records: object) -> Imported:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    (session,) = registry.read(path)
    return session


def read_list(path: Path, *events: object) -> Imported:
    path.write_text(json.dumps(events))
    (session,) = registry.read(path)
    return session


def notes(session: Imported) -> list[str]:
    return [f.text for b in session.bodies if isinstance(f := decode_event(b).fact, NoteAdded)]


def line(kind: str, content: object, **more: object) -> dict[str, object]:
    """A line of Claude Code."""
    message = {"role": kind, "content": content, **({"id": more["uuid"]} if kind == "assistant" else {})}
    return {"type": kind, "sessionId": "s", "message": message, **more}


CALL = [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}]
RESULT = [{"type": "tool_result", "tool_use_id": "t1", "content": "…"}]


@pytest.mark.parametrize(("result", "data", "status"), [
    ({"stdout": "…", "stderr": "", "interrupted": False, "isImage": False}, {}, "finished"),
    ({"stdout": "", "stderr": "…", "interrupted": False, "isImage": False}, {}, "finished"),
    ({"stdout": "", "stderr": "late", "interrupted": False, "isImage": False}, {"stderr": "late"}, "finished"),
    ({"stdout": "…", "stderr": "", "interrupted": True, "isImage": True}, {"isImage": True}, "killed"),
    ({"type": "text", "file": {"filePath": "/a"}}, {}, "finished"),
    ({"filePath": "/a", "edits": [], "userModified": False}, {}, "finished"),
    ({"filePath": "/a", "edits": [], "userModified": True}, {"userModified": True}, "finished"),
    ({"filenames": ["a"], "numFiles": 1, "truncated": True}, {"numFiles": 1, "truncated": True}, "finished")])
def test_a_result_of_claude_code_has_only_fields_that_say_something(tmp_path, result, data, status):
    session = read(tmp_path / "x.jsonl", line("user", "Build it.", uuid="u"), line("assistant", CALL, uuid="a"),
                   line("user", RESULT, uuid="r", toolUseResult=result))
    (observation,) = bodies(session)[0].observations
    assert (observation.data, observation.status) == (data, status)


def test_claude_code_tells_what_was_interrupted_what_the_service_refused_and_what_was_typed_meanwhile(tmp_path):
    queued = {"type": "attachment", "sessionId": "s", "uuid": "q",
              "attachment": {"type": "queued_command", "prompt": "Use the other split."}}
    session = read(
        tmp_path / "x.jsonl", line("user", "Build it.", uuid="u"), line("assistant", CALL, uuid="a"),
        line("user", RESULT, uuid="r", toolUseResult={"interrupted": True}), queued,
        line("user", "<local-command-stdout>ok</local-command-stdout>", uuid="l"),
        line("user", "What the program adds.", uuid="m", isMeta=True),
        line("assistant", [{"type": "text", "text": "API Error: overloaded"}], uuid="e", isApiErrorMessage=True))
    first, second = bodies(session)
    assert [(o.status, o.error.kind) for o in first.observations] == [("killed", "interrupted")]
    assert [o.error.kind for o in second.observations] == ["api_error"]
    assert [(g.text, g.delivered_step) for g in trajectory(session).guidance.values()] == [("Use the other split.", 2)]
    assert session.errors == 2


def queue(operation: str, content: str = "") -> dict[str, object]:
    return {"type": "queue-operation", "operation": operation, "sessionId": "s", "content": content}


def test_what_a_person_typed_while_claude_code_worked_is_theirs_once_wherever_it_is_written(tmp_path):
    attached = {"type": "attachment", "sessionId": "s", "uuid": "q",
                "attachment": {"type": "queued_command", "prompt": "And the docs."}}
    session = read(
        tmp_path / "x.jsonl", line("user", "Build it.", uuid="u"), line("assistant", CALL, uuid="a"),
        queue("enqueue", "Never sent."), queue("popAll"), queue("enqueue", "Use clang."),
        queue("enqueue", "And the docs."), queue("enqueue", "<task-notification>It ended.</task-notification>"),
        queue("enqueue", "Then stop."), line("user", RESULT, uuid="r"), queue("remove"), queue("remove"), attached,
        queue("remove"), line("assistant", CALL, uuid="b"), queue("dequeue"),
        line("user", "Then stop.", uuid="v"), line("assistant", "Yes.", uuid="c"))
    told = [(g.text, g.delivered_step) for g in trajectory(session).guidance.values()]
    assert told == [("Use clang.", 2), ("And the docs.", 2), ("Then stop.", 3)]
    assert [m.content for m in context(session, 2)][-3:] == [
        "Use clang.", "And the docs.", "<task-notification>It ended.</task-notification>"]


def test_a_session_of_claude_code_is_named_by_its_own_summary_or_request_and_by_no_other(tmp_path):
    other = {"type": "summary", "summary": "Another session", "leafUuid": "elsewhere"}
    own = {"type": "summary", "summary": "How it is built", "leafUuid": "a"}
    talk = [line("user", [{"type": "text", "text": "[Request interrupted by user for tool use]"}], uuid="i"),
            line("user", "<bash-input>pwd</bash-input>", uuid="p"),
            line("user", "<bash-stdout>/w</bash-stdout><bash-stderr></bash-stderr>", uuid="o"),
            line("user", "Build it.", uuid="u"), line("assistant", CALL, uuid="a"),
            line("user", "<bash-stdout>/w</bash-stdout><bash-stderr></bash-stderr>", uuid="o2"),
            line("user", f"<task-notification>{'x' * 30_000}</task-notification>", uuid="n"),
            line("user", "Operation stopped by hook: no.", uuid="h"), line("assistant", "Done.", uuid="b")]
    asked = read(tmp_path / "x.jsonl", other, *talk)
    assert (asked.title, trajectory(asked).created.task.description) == ("Build it.", "Build it.")
    assert not trajectory(asked).guidance, "what programs add is nobody's words"
    assert read(tmp_path / "y.jsonl", other, own, *talk).title == "How it is built"


def test_an_answer_whose_line_was_never_ended_is_read_like_what_stands_behind_it(tmp_path):
    told = [line("user", "Build it.", uuid="u"), line("assistant", "I build.", uuid="a"),
            line("user", "Go on.", uuid="v"), line("assistant", "Done.", uuid="b")]
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, told[:2])) + "".join(map(json.dumps, told[2:])) + "\n")
    (session,) = registry.read(path)
    assert ([b.thought for b in bodies(session)], session.warnings) == (["I build.", "Done."], ())


def test_what_claude_code_tells_of_a_subagent_as_progress_is_the_subagent_at_the_step_that_called_it(tmp_path):
    call = [{"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "Look.", "description": "A look"}}]
    own = [line("user", "Look.", uuid="s1"), line("assistant", CALL, uuid="s2"), line("user", RESULT, uuid="s3"),
           line("assistant", "There.", uuid="s4")]
    progress = [{"type": "progress", "sessionId": "s", "uuid": f"p{n}", "parentToolUseID": "t1", "data": {
        "type": "agent_progress", "agentId": "a1", "prompt": "Look.", "message": {
            k: v for k, v in one.items() if k != "sessionId"}}} for n, one in enumerate(own)]
    talk = [line("user", "Build it.", uuid="u"), line("assistant", call, uuid="a"), *progress,
            line("user", RESULT, uuid="r", toolUseResult={"agentId": "a1"}), line("assistant", "Done.", uuid="b")]
    path = tmp_path / "x.jsonl"
    for found in (talk, [*talk, *({**one, "isSidechain": True, "agentId": "a1"} for one in own)]):
        path.write_text("".join(json.dumps(one) + "\n" for one in found))
        lead, called = registry.read(path)
        assert [b.thought for b in bodies(lead)] == ["", "Done."]
        assert [b.thought for b in bodies(called)] == ["", "There."]
        branched = trajectory(called).branched
        assert (branched.parent, branched.step, called.title) == (lead.session, 1, "Look.")


def test_what_a_person_went_back_from_is_in_no_later_context():
    (session,) = registry.read(FILES / "claude_rewound.jsonl")
    assert [b.thought for b in bodies(session)] == ["I look.", "Deleted.", "a b"]
    before = ["Sort the list.", "I look.", "b a", "Exit code 2\nno wc"]
    assert [m.content for m in context(session, 2)] == [*before, "Delete it."]
    assert [m.content for m in context(session, 3)] == [*before, "Sort it by hand."]
    assert notes(session) == [
        "A person went back to an earlier place: later contexts hold nothing of what came after it."]


def test_a_stream_of_claude_code_ends_as_its_result_says(tmp_path):
    for number, (broken, state) in enumerate(((False, "finished"), (True, "failed"))):
        lines = [{**line("user", "Go.", uuid="u"), "session_id": "s"}, {**line("assistant", CALL, uuid="a"),
                                                                      "session_id": "s"}]
        end = {"type": "result", "subtype": "success", "is_error": broken, "total_cost_usd": 0.5, "session_id": "s"}
        session = read(tmp_path / f"{number}.jsonl", *lines, end)
        assert trajectory(session).row.state == state
        assert notes(session) == ["Recorded for the whole run: total_cost_usd 0.5."]


def test_copilot_gives_a_subagent_its_request_and_a_person_only_what_they_typed(tmp_path):
    def event(kind: str, agent: str = "", **data: object) -> dict[str, object]:
        return {"type": kind, "id": "e", "timestamp": "2026-01-02T03:04:05Z", "data": data} | (
            {"agentId": agent} if agent else {})

    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (
        event("session.start", sessionId="s"), event("system.message", content="Old rules."),
        event("user.message", content="Mend it."),
        event("user.message", content="<system_reminder>Search tools first.</system_reminder>", source="system"),
        event("assistant.message", content="I ask.", toolRequests=[{"toolCallId": "t", "name": "task"}]),
        event("user.message", "t", content="Look into it.", source="agent-s"),
        event("assistant.message", "t", content="I look.", parentToolCallId="t"),
        event("system.notification", content="The agent is idle."), event("system.message", content="New rules."),
        event("user.message", content="Go on."), event("assistant.message", content="Mended."))))
    lead, called = registry.read(path)
    assert [g.text for g in trajectory(lead).guidance.values()] == ["Go on."]
    assert [m.content for m in context(lead, 2)] == [
        "New rules.", "Mend it.", "<system_reminder>Search tools first.</system_reminder>", "I ask.",
        "The agent is idle.", "Go on."]
    assert (called.title, trajectory(called).created.task.description) == ("Look into it.", "Look into it.")
    assert [m.content for m in context(called, 1)] == ["Look into it."]


def test_the_messages_of_opencode_alone_are_the_session_that_it_exports(tmp_path):
    exported = FILES / "opencode.json"
    messages = json.loads(exported.read_text())["messages"]
    (whole,) = registry.read(exported)
    for session in (read_list(tmp_path / "x.json", *messages), read(tmp_path / "x.jsonl", *messages)):
        assert (session.session, bodies(session)) == (whole.session, bodies(whole))


def test_what_codex_adds_in_the_persons_name_is_no_guidance(tmp_path):
    def item(**payload: object) -> dict[str, object]:
        return {"timestamp": "2026-01-02T03:04:05Z", "type": "response_item", "payload": payload}

    def words(role: str, text: str) -> dict[str, object]:
        return item(type="message", role=role, content=[{"type": "input_text", "text": text}])

    session = read(
        tmp_path / "x.jsonl", {"type": "session_meta", "payload": {"id": "s"}},
        words("user", "<environment_context>here</environment_context>"), words("user", "Do it."),
        item(type="function_call", call_id="c", name="shell", arguments="{}"),
        item(type="function_call_output", call_id="c", output="done"),
        words("user", "<turn_aborted>by the person</turn_aborted>"), words("user", "Go on."),
        words("assistant", "Yes."))
    folded = trajectory(session)
    assert folded.created.task.description == "Do it."
    assert [g.text for g in folded.guidance.values()] == ["Go on."]


def test_a_chat_of_gemini_in_which_nobody_spoke_is_known_and_has_no_answer(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"sessionId": "g", "projectHash": "p", "messages": [
        {"id": "1", "type": "warning", "content": "A hook failed."}]}))
    with pytest.raises(InvalidInput, match="no answer of the model"):
        list(registry.read(path))


def test_gemini_records_what_was_cancelled_gone_back_from_and_complained_of(tmp_path):
    cancelled = {"id": "c", "name": "run", "args": {}, "status": "cancelled", "resultDisplay": "stopped"}
    session = read(
        tmp_path / "x.jsonl", {"sessionId": "g", "projectHash": "p"}, {"id": "1", "type": "user", "content": "Go."},
        {"id": "2", "type": "gemini", "content": "First.", "toolCalls": [cancelled],
         "tokens": {"input": 10, "tool": 5, "output": 2, "thoughts": 1, "cached": 3}},
        {"id": "3", "type": "error", "content": "No quota."}, {"id": "4", "type": "gemini", "content": "A wrong way."},
        {"id": "5", "type": "user", "content": "Not so."}, {"$rewindTo": "4"},
        {"id": "6", "type": "gemini", "content": "The right way."})
    steps = bodies(session)
    assert [b.thought for b in steps] == ["First.", "The right way."]
    assert [(o.status, o.error.kind) for o in steps[0].observations] == [("killed", "cancelled")]
    usage = trajectory(session).steps[0].head.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (15, 3, 3)
    assert notes(session) == ["error: No quota."] and not trajectory(session).guidance


def test_a_part_of_gemini_may_be_bare_text(tmp_path):
    chat = {"sessionId": "g", "messages": [{"id": "1", "type": "user", "content": ["Look ", {"inlineData": {}}]},
                                           {"id": "2", "type": "gemini", "content": [{"text": "At"}, "what?"]}]}
    path = tmp_path / "x.json"
    path.write_text(json.dumps(chat))
    (session,) = registry.read(path)
    assert trajectory(session).created.task.description == "Look \n[inlineData]"
    assert [b.thought for b in bodies(session)] == ["At\nwhat?"]


def test_a_custom_tool_of_the_chat_api_is_called_with_text(tmp_path):
    call = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}
    session = read_list(tmp_path / "x.json", {"messages": [
        {"role": "user", "content": "Ask it."}, {"role": "assistant", "tool_calls": [call]}]})
    (action,) = bodies(session)[0].actions
    assert (action.tool, action.arguments, action.malformed) == ("sql", {"input": "SELECT 1"}, "")


def test_chatgpt_reports_how_a_run_of_code_went_and_answers_without_words_are_no_steps():
    """As exports of 2025 are: an empty answer first, the person's standing instructions, a report of each run."""
    (session,) = registry.read(Path(__file__).parent / "foreign" / "chatgpt_2025.json")
    steps = bodies(session)
    assert [b.thought for b in steps] == ["Plan\n\nUse Python.", "", "It cannot be plotted."]
    assert [b.actions[0].arguments for b in steps[:2]] == [{"code": "plot(1)"}, {"code": "while True: pass"}]
    results = [o for b in steps[:2] for o in b.observations]
    assert [o.error.kind for o in results] == ["NameError", "timeout"]
    assert [o.ended_at.timestamp() % 100 for o in results] == [7.5, 69]
    assert [m.content for m in context(session, 1)] == ["Preferred name: Kim\n\nAnswer briefly.", "  Plot the sum"]


@pytest.mark.parametrize(("leaf", "answer"), [({}, "Two."), ({"current_leaf_message_uuid": "a1"}, "One.")])
def test_claude_ai_is_read_along_one_path_and_says_what_a_search_found(tmp_path, leaf, answer):
    """As exports of 2026 are: each message names the one before it, and results hold pages and documents."""
    search = [{"type": "tool_use", "id": "t", "name": "web_search", "input": {"query": "x"}, "start_timestamp": None},
              {"type": "tool_result", "tool_use_id": "t", "is_error": False, "content": [
                  {"type": "knowledge", "title": "Page", "url": "https://example.org", "text": "Found.", "links": None},
                  {"type": "rag_reference", "uri": "1L8", "extras": {"title": "Paper"}}, {"type": "image"}]}]

    def message(name, before, sender, second, *content):
        return {"uuid": name, "parent_message_uuid": before, "sender": sender, "text": "", "attachments": [],
                "files": [], "created_at": f"2026-02-15T00:53:{second}Z", "content": list(content)}

    def text(words):
        return {"type": "text", "text": words, "citations": [], "flags": None}

    root = "00000000-0000-4000-8000-000000000000"
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{"uuid": "c", "name": "Ask", **leaf, "chat_messages": [
        message("h", root, "human", 10, text("Look it up.")),
        message("a1", "h", "assistant", 11, *search, text("One.")),
        message("a2", "h", "assistant", 12, *search, text("Two."))]}]))
    (session,) = registry.read(path)
    first, last = bodies(session)
    assert last.thought == answer and notes(session) == [
        "Messages on other branches of the conversation, which are not among the steps: 1."]
    assert first.observations[0].output.text == "Page\nhttps://example.org\nFound.\n\nPaper\n1L8\n\n[image]"


@pytest.mark.parametrize(("rows", "tokens"), [(2, [(359, 2, 0.5), (400, 9, None)]), (1, [(None, None, None)] * 2)])
def test_goose_counts_the_tokens_of_each_answer_in_a_ledger(tmp_path, rows, tokens):
    """As its database is since 2026; a ledger with another number of rows than answers says nothing of a step."""
    path = tmp_path / "sessions.db"
    shutil.copy(Path(__file__).parent / "foreign" / "goose.db", path)
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        (name,) = base.execute("SELECT id FROM sessions").fetchone()
        base.execute("CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, "
                     "created_timestamp INTEGER, model TEXT, input_tokens INTEGER, output_tokens INTEGER, total_tokens "
                     "INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, cost REAL, cost_source TEXT, "
                     "is_compaction INTEGER DEFAULT 0)")
        used = [(name, 359, 2, 0.5, 0), (name, 9000, 90, 9.0, 1), (name, 400, 9, None, 0)][:2 * rows - 1]
        base.executemany("INSERT INTO usage_ledger (session_id, created_timestamp, input_tokens, output_tokens, cost, "
                         "is_compaction) VALUES (?, 1, ?, ?, ?, ?)", used)
    (session,) = registry.read(path)
    usages = [step.head.usage for step in trajectory(session).steps]
    assert [(u.input_tokens, u.output_tokens, u.cost_usd) for u in usages] == tokens
    assert len(notes(session)) == 2 - rows


def test_messages_without_content_or_calls_are_no_chat(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"messages": [{"role": "user", "text": "Go."}, {
        "role": "assistant", "text": "Yes.", "tool_calls": [{"action_id": "1", "tool_name": "ls"}]}]}))
    with pytest.raises(InvalidInput):
        list(registry.read(path))


def test_a_sample_of_inspect_is_named_as_a_sample():
    assert [s.title for s in registry.read(FILES / "inspect.json")] == ["own_task, sample s/1, epoch 1"]


def test_an_inspect_log_of_2024_names_texts_and_tokens_otherwise(tmp_path):
    log = json.loads((FILES / "inspect.json").read_text())
    sample = log["samples"][0]
    model = next(e for e in sample["events"] if e["event"] == "model")
    model |= {"input": [{"role": "user", "content": "tc://0abc"}], "input_refs": None}
    model["output"]["usage"] = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
    sample["transcript"] = {"events": sample.pop("events"), "content": {"0abc": "The whole text."}}
    path = tmp_path / "x.json"
    path.write_text(json.dumps(log))
    session = next(registry.read(path))
    usage = trajectory(session).steps[0].head.usage
    assert (usage.input_tokens, usage.output_tokens) == (11, 3)
    assert [m.content for m in context(session, 1)] == ["The whole text."]


def test_an_evaluation_of_innovatorbench_is_a_score_at_its_step(tmp_path):
    node = json.loads((FILES / "innovator.json").read_text())
    metric = {"status": True, "eval_results": {"error": None, "score": 5.25, "message": "ROUGE-L score: 9.01 / 100"}}
    result = {"success": True, "message": "Eval finish!", "observation_type": "eval", "overall_score": 5.25,
              "already_eval_num": 1, "metric_0": metric}
    node["messages"][-1]["tool_result"]["content"] = json.dumps(result)
    node["observation"] = {**result, "overall_score": 250, "already_eval_num": 2}
    path = tmp_path / "x.json"
    path.write_text(json.dumps(node))
    (session,) = registry.read(path)
    scores = [(s.ordinal, s.step, s.total, s.parts, s.message) for s in trajectory(session).scores]
    said = "Eval finish! ROUGE-L score: 9.01 / 100"
    assert scores == [(1, 1, 5.25, {"metric_0": 5.25}, said), (2, 2, None, {"metric_0": 5.25}, said)]
    assert all("overall_score" in o.output.text for b in bodies(session) for o in b.observations)


@pytest.mark.parametrize("record", [{"record_type": "run", "id": "x"}, {"record_type": "step", "role": "assistant"}])
def test_records_of_another_kind_are_no_rollout(tmp_path, record):
    path = tmp_path / "x.jsonl"
    path.write_text(f"{json.dumps(record)}\n" * 3)
    with pytest.raises(InvalidInput):
        list(registry.read(path))


def test_nebius_runs_the_last_block_and_a_run_that_did_not_submit_has_failed(tmp_path):
    (row,) = json.loads((FILES / "nebius.json").read_text())
    session = read_list(tmp_path / "x.json", {**row, "exit_status": "early_exit"})
    first = bodies(session)[0]
    assert (first.actions[0].arguments["command"], "ignored" in first.thought) == ("ls src", True)
    assert (trajectory(session).row.state, trajectory(session).row.reason) == ("failed", "early_exit")


def test_an_answer_that_was_chosen_before_another_is_noted(tmp_path):
    row = [{"from": "human", "value": "Go."}, {"from": "gpt", "value": "Yes."}]
    session = read_list(tmp_path / "x.json", {"conversations": row, "chosen": row[1], "rejected": ""})
    assert notes(session) == ["The row also holds a chosen answer."]


def harbor_trial(folder: Path, **result: object) -> Imported:
    shutil.copytree(FILES / "harbor", folder)
    content = {**json.loads((folder / "result.json").read_text()), **result}
    (folder / "result.json").write_text(json.dumps(content))
    (session,) = registry.read(folder / "agent" / "trajectory.json")
    return session


def test_a_reward_is_a_score_only_where_it_is_a_share(tmp_path):
    for number, (rewards, total, parts) in enumerate((
            ({"reward": 0.25, "speed": 3}, 25.0, {"reward": 0.25, "speed": 3.0}), ({"reward": 7}, None, {}),
            ({"reward": "high"}, "none", {}))):
        folded = trajectory(harbor_trial(tmp_path / str(number), verifier_result={"rewards": rewards}))
        assert [(s.total, s.parts) for s in folded.scores] == ([] if total == "none" else [(total, parts)])


def test_a_result_that_is_a_link_is_not_followed(tmp_path):
    trial = tmp_path / "trial"
    assert trajectory(harbor_trial(trial)).scores
    (trial / "result.json").rename(tmp_path / "elsewhere.json")
    (trial / "result.json").symlink_to(tmp_path / "elsewhere.json")
    (session,) = registry.read(trial / "agent" / "trajectory.json")
    assert not trajectory(session).scores and trajectory(session).row.reason == "end_not_recorded"


def event(id: int, **more: object) -> dict[str, object]:
    return {"id": id, "timestamp": "2026-01-02T03:04:05", "source": "agent", **more}


def test_openhands_tells_of_edits_that_failed_and_of_an_agent_that_broke(tmp_path):
    acted = [event(0, source="user", action="message", args={"content": "Do it."}),
             event(1, action="edit", args={"path": "a", "thought": "Write."}),
             event(2, observation="edit", cause=1, content="no such file", success=False, extras={})]
    over = event(3, source="environment", observation="agent_state_changed", extras={"agent_state": "error"})
    session = read_list(tmp_path / "x.json", *acted, over)
    (body,) = bodies(session)
    assert [o.error.kind for o in body.observations] == ["failed"]
    row = trajectory(session).row
    assert (row.state, row.reason) == ("failed", "agent_error")
    assert trajectory(read_list(tmp_path / "y.json", *acted)).row.state == "stopped"


def test_costs_are_given_to_steps_only_where_there_is_one_for_each(tmp_path):
    row = json.loads((FILES / "openhands_output.jsonl").read_text().splitlines()[0])
    row["metrics"]["costs"].append({"cost": 0.1})
    folded = trajectory(read(tmp_path / "x.jsonl", row))
    assert {e.head.usage.cost_usd for e in folded.steps} == {None}
    assert folded.row.cost_usd is None


def test_a_persons_words_are_no_result_of_the_step_before_them():
    (session,) = registry.read(FILES / "mini.traj.json")
    assert [len(b.observations) for b in bodies(session)] == [1, 1]
    (guided,) = trajectory(session).guidance.values()
    assert guided.text == "Look in src/ instead."


def test_numbers_that_cannot_be_are_unknown():
    usage = usage_of(input_tokens=-1, output_tokens=True, cached="7", cost=-0.5)
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.cost_usd) == (None,) * 4
    assert usage_of(cost=float("nan")).cost_usd is None and usage_of(cost=0).cost_usd == 0.0


def test_of_many_damaged_lines_the_first_few_are_named_and_the_others_counted(tmp_path):
    path = tmp_path / "x.jsonl"
    good = [json.dumps(line("user", "Go.", uuid="u")), json.dumps(line("assistant", CALL, uuid="a"))]
    path.write_text("\n".join([*good, *["{broken"] * 9]) + "\n")
    (session,) = registry.read(path)
    assert len(session.warnings) == 6 and session.warnings[0].startswith("Line 3 (byte ")
    assert session.warnings[-1] == "4 more lines could not be read."


def test_totals_that_a_file_does_not_hold_make_no_note() -> None:
    builder = SessionBuilder("own", "x.json", b"x")
    builder.totals({"tokens": None})
    builder.totals({"tokens": 7, "cost": None})
    notes = [decode_event(body).fact.text for body in builder.build().bodies]
    assert notes == ["Recorded for the whole run: tokens 7."]
