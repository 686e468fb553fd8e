"""A file that names no session and has grown: known again by its steps, unless its run had ended or is another one;
and the bounds of what travels in one event."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.imported import context, trajectory

from core.domain.bounds import EVENT_TEXT
from core.domain.context import MOST_PARTS
from core.formats import registry
from core.formats.imported import Imported
from core.formats.reimport import is_same_run


def run(folder: Path, *steps: tuple[str, str], status: str = "") -> Imported:
    """A run of mini-swe-agent without times, of (command, result) pairs."""
    messages = [{"role": "system", "content": "Use bash."}, {"role": "user", "content": "Count."}]
    for command, result in steps:
        messages.append({"role": "assistant", "content": f"So:\n```mswea_bash_command\n{command}\n```"})
        messages += [{"role": "user", "content": result}] if result else []
    path = folder / "run.traj.json"
    path.write_text(json.dumps({"trajectory_format": "mini-swe-agent-1", "messages": messages,
                                "info": {"exit_status": status} if status else {}}))
    (session,) = registry.read(path)
    assert not session.is_named and session.steps == len(steps)
    return session


ONE, TWO, THREE = ("ls", "a b"), ("cat a", "1"), ("cat b", "2")


@pytest.mark.parametrize(("before", "status", "after", "same"), [
    ([ONE, TWO], "", [ONE, TWO, THREE], True),
    ([ONE, ("cat a", "")], "", [ONE, TWO, THREE], True),  # its last result came late
    ([ONE, ("cat b", "")], "Submitted", [ONE, TWO, THREE], False),
    ([ONE, TWO], "Submitted", [ONE, TWO, THREE], False),  # that run had ended
    ([ONE, TWO], "Submitted", [ONE, TWO], True),
    ([("ls", "c"), TWO], "", [ONE, TWO, THREE], False),
    ([("ls", "c")], "", [ONE, TWO], False),
    ([ONE, TWO, THREE], "", [ONE, TWO], False),
])
def test_a_state_of_the_same_run_is_known_again(tmp_path, before: Sequence, status: str, after: Sequence, same: bool):
    before_run = run(tmp_path, *before, status=status)
    assert is_same_run(before_run.bodies, run(tmp_path, *after), before_run.blobs.__getitem__) is same


def chat(folder: Path, *messages: tuple[str, str]) -> Imported:
    path = folder / "chat.json"
    path.write_text(json.dumps({"messages": [{"role": role, "content": text} for role, text in messages]}))
    (session,) = registry.read(path)
    return session


def test_words_that_no_event_could_carry_are_shown_in_part_and_kept_whole_in_the_context(tmp_path):
    long = "x" * (EVENT_TEXT + 7)
    path = tmp_path / "talk.jsonl"
    messages = [("user", "Go."), ("assistant", "Yes."), ("user", long), ("assistant", "I see.")]
    path.write_text("".join(json.dumps({"type": role, "sessionId": "s", "uuid": str(number), "message": {
        "role": role, "content": text, "id": str(number)}}) + "\n" for number, (role, text) in enumerate(messages)))
    (session,) = registry.read(path)
    (guided,) = trajectory(session).guidance.values()
    assert len(guided.text) == EVENT_TEXT and context(session, 2)[-1].content == long
    assert any("is shown up to its character" in warning for warning in session.warnings)


def test_a_context_of_more_messages_than_an_event_could_carry_is_unknown(tmp_path):
    many = [("user", str(number)) for number in range(MOST_PARTS + 1)]
    session = chat(tmp_path, *many, ("assistant", "Yes."), ("user", "And?"), ("assistant", "No."))
    assert context(session, 1) == []
    assert next(w for w in session.warnings if "too long to be kept" in w).startswith("The context of step 1 ")
