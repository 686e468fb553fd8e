"""Codex rollouts: whose the counts are, what a result says of itself, and what a compaction and a rollback leave."""

import base64
import json
from pathlib import Path

import pytest
from support.imported import bodies, context, trajectory

from core.domain.events import GuidanceWithdrawn, NoteAdded, decode_event
from core.formats import registry
from core.formats.imported import Imported

FILES = Path(__file__).parent / "foreign"


def read(name: str) -> Imported:
    (session,) = registry.read(FILES / name)
    return session


def tokens(session: Imported) -> list[tuple[int | None, int | None]]:
    return [(e.head.usage.input_tokens, e.head.usage.output_tokens) for e in trajectory(session).steps]


def said(session: Imported, number: int) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in context(session, number)]


def test_a_count_is_the_answers_before_it_and_neither_a_repetition_nor_a_compaction_takes_its_place():
    assert tokens(read("codex_long.jsonl")) == [(1000, 20), (209_950, 2184), (700, 12), (800, 9), (750, 11), (760, 8)]


def test_before_0_58_a_count_is_the_answers_after_it():
    session = read("codex_lead.jsonl")
    assert tokens(session) == [(100, 5), (200, 6), (300, 7), (400, 8)]
    assert [len(b.actions) for b in bodies(session)] == [2, 1, 0, 0]


def test_a_header_tells_the_exit_code_and_the_output_below_it_does_not():
    steps = bodies(read("codex_long.jsonl"))
    results = [(o.call_id, o.exit_code, o.error and o.error.kind, o.status) for b in steps for o in b.observations]
    assert results == [
        ("a", 1, "exit_code", "finished"), ("b", 0, None, "finished"), ("c", None, "tool_error", "finished"),
        ("d", None, "interrupted", "killed"), ("e", 4, "exit_code", "finished")]
    assert steps[0].observations[0].data == {"duration_s": 0.25}
    lead = [(o.exit_code, o.is_error) for b in bodies(read("codex_lead.jsonl")) for o in b.observations]
    assert lead == [(0, False), (2, True), (0, False)]


def test_a_result_finds_its_call_behind_what_the_program_says_meanwhile():
    session = read("codex_long.jsonl")
    assert [o.call_id for o in bodies(session)[0].observations] == ["a", "b"] and not session.warnings


def test_a_compaction_leaves_the_history_that_it_holds():
    session = read("codex_long.jsonl")
    assert said(session, 3) == [
        ("system", "Be brief."), ("user", "Make the tests pass."), ("user", "[encrypted summary]")]
    assert [s.text for s in trajectory(session).summaries.values()] == [
        "The context was compacted; its summary is encrypted."]


def test_a_compaction_without_a_history_leaves_a_persons_words_and_the_summary():
    assert said(read("codex_lead.jsonl"), 3) == [
        ("system", "Be brief."), ("user", "<environment_context>/w</environment_context>"),
        ("user", "Count the files."), ("user", "Two files were counted.")]


def test_turns_that_were_taken_back_leave_the_context_and_keep_their_steps():
    session = read("codex_long.jsonl")
    assert [b.thought for b in bodies(session)][3] == "I would rather not."
    assert said(session, 4)[-2:] == [("system", "<permissions>less</permissions>"), ("user", "Delete everything.")]
    assert said(session, 5)[-2:] == [("tool", "aborted by user after 1.5s"), ("user", "Only mend a.py.")]
    notes = [f.text for b in session.bodies if isinstance(f := decode_event(b).fact, NoteAdded)]
    assert notes == ["A person took back the last 1 turns: later contexts do not hold them."]


@pytest.mark.parametrize("turns", [0, 1, 2, 9])
def test_words_that_were_taken_back_unanswered_are_withdrawn(tmp_path, turns):
    lines = (FILES / "codex_lead.jsonl").read_text().splitlines()
    more = [{"type": "response_item", "payload": {"type": "message", "role": "user", "content": "Never mind."}},
            {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": turns}},
            {"type": "response_item", "payload": {"type": "message", "role": "user", "content": "Stop."}},
            {"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": "Stopped."}}]
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join([*lines, *map(json.dumps, more)]))
    (session,) = registry.read(path)
    last = [text for _, text in said(session, 5)]
    assert last[-1] == "Stop." and ("Never mind." in last) == (turns == 0)
    assert ("And folders?" in last, "Count the files." in last) == (turns < 2, turns < 9)
    withdrawn = [b for b in session.bodies if isinstance(decode_event(b).fact, GuidanceWithdrawn)]
    assert len(withdrawn) == (turns > 0)
    guided = [g.text for g in trajectory(session).guidance.values() if g.delivered_step == 5]
    assert guided == (["Never mind.", "Stop."] if turns == 0 else ["Stop."])


def test_results_without_a_call_are_named(tmp_path):
    path = tmp_path / "x.jsonl"
    lines = (FILES / "codex_lead.jsonl").read_text().splitlines()
    path.write_text("\n".join([*lines, json.dumps({"type": "response_item", "payload": {
        "type": "function_call_output", "call_id": "zz", "output": "?"}})]))
    (session,) = registry.read(path)
    assert session.warnings == ("1 results have no call before them and were left out.",)


def test_a_picture_that_a_person_shows_is_seen_by_the_next_step(tmp_path):
    lines = (FILES / "codex_lead.jsonl").read_text().splitlines()
    shown = {"type": "input_image", "image_url": "data:image/png;base64," + base64.b64encode(b"\x89PNG").decode()}
    more = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And this?"}, shown]},
            {"type": "message", "role": "assistant", "content": "A picture."}]
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join([*lines, *(json.dumps({"type": "response_item", "payload": one}) for one in more)]))
    (session,) = registry.read(path)
    *earlier, last = bodies(session)
    assert [p.media for p in last.pictures] == ["image/png"] and not any(body.pictures for body in earlier)
