"""SWE-agent files: real ones against figures counted by hand, and a small one for what the real ones lack."""

import json
from pathlib import Path

import pytest
from support.imported import bodies, context, trajectory
from support.real_data import real

from core.domain.errors import InvalidInput
from core.domain.events import NoteAdded, SubmissionMade
from core.formats import registry

FILES = Path(__file__).parent / "files"
MARSHMALLOW = "marshmallow-code__marshmallow-1867.traj"

# file, steps, contexts that the file tells, refused edits, first thought and last action (both begin so), submission's
# first line
FLAG = "HTB{l00k_47_y0u_r3v3rs1ng_3qu4710n5_c0ngr475}"
FIELDS = "diff --git a/src/marshmallow/fields.py b/src/marshmallow/fields.py"
REAL = [
    ("crypto__BabyEncryption.traj", 16, 15, 3, "We are given a python file called `chall.py`.",
     f"submit '{FLAG}'\n", FLAG),
    (f"default_sys-env_window100__install-1__{MARSHMALLOW}", 11, 11, 1,
     "Let's first start by reproducing the results", "submit\n", FIELDS),
    (f"function_calling_replace_from_source__{MARSHMALLOW}", 13, 13, 0,
     "Let's list out some of the files", "submit", FIELDS),
    ("function_calling_simple.traj", 5, 5, 0, "The `SyntaxError` in `missing_colon.py`", "submit", ""),
    ("gpt4__swe-agent-test-repo__default_from_url__t-0.0__6e44b9__sweagenttestrepo-1c2844.traj", 5, 5, 0,
     "To start addressing this issue, I will first search", "submit",
     "diff --git a/tests/missing_colon.py b/tests/missing_colon.py"),
    ("human_thought__swe-bench-HumanEvalFix-python__lcb___humanevalfix-python-0.traj", 5, 5, 0,
     "To begin addressing the issue, we need more details", "submit\n", "diff --git a/main.py b/main.py"),
]


@pytest.mark.parametrize(("name", "steps", "contexts", "errors", "thought", "action", "submission"), REAL)
def test_real_files_give_the_steps_that_they_hold(name, steps, contexts, errors, thought, action, submission) -> None:
    path = real("swe-agent") / name
    raw = json.loads(path.read_bytes())
    (session,) = registry.read(path)
    folded, read = trajectory(session), bodies(session)
    assert (session.format, session.steps, len(read), session.errors) == ("swe-agent", steps, steps, errors)
    assert read[0].thought.startswith(thought)
    assert sum(bool(context(session, n)) for n in range(1, steps + 1)) == contexts
    assert folded.row.state == ("stopped" if not raw.get("info") else "finished")
    assert folded.row.tokens is None, "the format counts tokens per run only"
    assert folded.row.cost_usd is None
    assert {e.head.started_at for e in folded.steps} == {None}, "the format has no times"
    steps = [(s["thought"], s["observation"]) for s in raw.get("trajectory", [])]
    assert [(b.thought, b.observations[0].output.text) for b in read][: len(steps)] == steps
    last = read[-1].actions[-1]
    assert last.tool == "submit"
    assert last.family == "control"
    if "command" in last.arguments:
        assert last.arguments["command"] == action
    handed = [session.blobs[f.blob].decode() for f in _facts(session) if isinstance(f, SubmissionMade)]
    assert [h.strip().splitlines()[0] for h in handed] == ([submission] if submission else [])


def test_totals_of_a_real_run_are_noted_and_not_given_to_a_step() -> None:
    (session,) = registry.read(real("swe-agent") / REAL[4][0])
    (note,) = [f.text for f in _facts(session) if isinstance(f, NoteAdded)]
    assert "tokens_sent 7141" in note
    assert "tokens_received 243" in note
    assert "api_calls 5" in note


def test_function_calls_keep_their_names_and_arguments() -> None:
    (session,) = registry.read(real("swe-agent") / REAL[2][0])
    first = bodies(session)[0]
    assert first.actions[0].tool == "bash"
    assert first.actions[0].arguments == {"command": "ls -F"}
    assert first.actions[0].call_id == first.observations[0].call_id == "call_9diWc1DYm4RLmPfHgIaP2wd"
    assert "\r\n" in first.observations[0].output.text, "line ends stay as they were"


def test_a_query_is_the_exact_context() -> None:
    (session,) = registry.read(FILES / "with_query.traj")
    assert [m.content for m in context(session, 1)] == ["You are careful.", "Fix the sum."]
    assert [m.role for m in context(session, 2)] == ["system", "user", "assistant", "tool"]
    assert {r.source for r in trajectory(session).context(2)} == {""}
    assert session.warnings == ()


def test_facts_of_the_format_and_nothing_more() -> None:
    (session,) = registry.read(FILES / "with_query.traj")
    folded, (first, last) = trajectory(session), bodies(session)
    assert first.observations[0].data == {"working_dir": "/w", "open_file": "sum.py", "execution_time_s": 0.25}
    assert first.observations[0].exit_code is None
    assert last.actions[0].malformed
    assert last.actions[0].arguments == {"text": "{not json"}
    assert last.observations[0].output.text == "\x1b[1mdiff\x1b[0m"
    assert (folded.row.state, folded.row.reason) == ("finished", "submitted (exit_cost)")
    assert folded.created.task.description == "Fix the sum.", "a demonstration is not the task"
    assert folded.created.task.hosts == ()


def test_the_same_content_is_the_same_session(tmp_path) -> None:
    copy = tmp_path / "another name.json"
    copy.write_bytes((FILES / "with_query.traj").read_bytes())
    (one,), (two,) = registry.read(FILES / "with_query.traj"), registry.read(copy)
    assert one.session == two.session
    copy.write_bytes(copy.read_bytes().replace(b"Done.", b"Gone."))
    (other,) = registry.read(copy)
    assert other.session != one.session


def test_a_cut_file_gives_the_steps_before_the_cut(tmp_path) -> None:
    data = (real("swe-agent") / REAL[0][0]).read_bytes()
    steps = json.loads(data)["trajectory"]
    at = data.index(json.dumps(steps[9]["observation"]).encode()) + 5
    cut = tmp_path / "cut.traj"
    cut.write_bytes(data[:at])
    (session,) = registry.read(cut)
    assert [b.thought for b in bodies(session)] == [s["thought"] for s in steps[:9]]
    (warning, *_) = [w for w in session.warnings if "damaged" in w]
    assert "line " in warning
    assert "byte " in warning
    assert "9 steps" in warning


def test_a_file_cut_before_its_first_step_is_refused(tmp_path) -> None:
    cut = tmp_path / "cut.traj"
    cut.write_text('{"history": [{"role": "system", "agent": "main", "content": "x"}], "trajectory": [{"action": "l')
    with pytest.raises(InvalidInput, match=r"no step.*byte \d+") as error:
        list(registry.read(cut))
    assert error.value.code == "no_steps"


def _facts(session):
    from core.domain.events import decode_event

    return [decode_event(b).fact for b in session.bodies]


def test_an_answer_that_it_refused_as_it_stood_does_not_part_later_steps_from_their_calls(tmp_path: Path) -> None:
    def call(n: int, command: str) -> dict[str, object]:
        return {"id": f"c{n}", "type": "function", "function": {
            "name": "bash", "arguments": json.dumps({"command": command})}}

    steps = [{"action": command, "observation": "out", "response": "r", "thought": "t", "state": {}}
             for command in ("ls", "", "pwd")]  # two calls at once: history holds nothing of that answer
    history = [{"role": "user", "content": "Do it."}]
    for n, command in enumerate(("ls", "pwd"), 1):
        history += [{"role": "assistant", "content": "t", "action": command, "tool_calls": [call(n, command)]},
                    {"role": "tool", "content": "out", "tool_call_ids": [f"c{n}"]}]
    path = tmp_path / "session.traj"
    path.write_text(json.dumps({"trajectory": steps, "history": history, "info": {"exit_status": "submitted"}}))
    (session,) = registry.read(path)
    assert [[(a.tool, a.arguments) for a in body.actions] for body in bodies(session)] == [
        [("bash", {"command": "ls"})], [], [("bash", {"command": "pwd"})]]


@pytest.mark.parametrize(("steps", "heard", "known"), [
    ("abcde", "abde", [1, 3, None, 5, 7]),
    ("abbc", "abc", [1, None, None, 5]),  # which of two equal answers was left out nobody can tell
    ("abc", "ab", [1, 3, 5]),
    ("abcd", "axcd", [1, None, None, None]),
])
def test_answers_that_the_history_leaves_out_take_no_other_steps_context(tmp_path: Path, steps, heard, known) -> None:
    history: list[dict[str, object]] = [{"role": "user", "content": "Do it."}]
    for one in heard:
        history += [{"role": "assistant", "content": one, "action": one}, {"role": "user", "content": f"out of {one}"}]
    path = tmp_path / "session.traj"
    path.write_text(json.dumps({"history": history, "info": {"exit_status": "submitted"}, "trajectory": [
        {"action": one, "observation": f"out of {one}", "response": one, "thought": one} for one in steps]}))
    (session,) = registry.read(path)
    assert [len(context(session, n)) or None for n in range(1, len(steps) + 1)] == known
