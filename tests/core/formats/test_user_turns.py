"""Turns of a user between the steps: rows at their place, and nobody's advice where no person is known to speak."""

import json
from pathlib import Path

import pytest
from support.imported import bodies, trajectory
from support.real_data import real

from core.domain.step import decode_body
from core.export.rebuild import rebuilt_context
from core.formats import registry
from core.formats.page.document import page
from core.supervision.gather import gather
from core.supervision.turns import guided_windows, in_force, turn_text

FILES = Path(__file__).parent / "foreign"
CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def chat(tmp_path, answer, key="messages"):
    talk = [{"role": "user", "content": "Find it."}, answer, {"role": "user", "content": "And there?"},
            {"role": "assistant", "content": "Nothing."}, {"role": "user", "content": "Thanks."}]
    path = tmp_path / "chat.jsonl"
    path.write_text(json.dumps({key: talk}) + "\n")
    return next(registry.read(path))


@pytest.mark.parametrize(("answer", "key", "by", "left"), [
    ({"role": "assistant", "content": None, "tool_calls": [CALL]}, "messages", "person", "queued"),
    ({"role": "assistant", "content": "ls /srv"}, "messages", "user", None),
    ({"role": "assistant", "content": None, "tool_calls": [CALL]}, "traj", "simulated user", None)])
def test_who_speaks_between_the_steps_of_a_chat(tmp_path, answer, key, by, left) -> None:
    read = trajectory(chat(tmp_path, answer, key))
    assert [i.kind for i in read.items if i.kind != "score"] == ["step", "guidance", "step"]
    first, *rest = read.guidance.values()
    assert (first.text, first.author, first.delivered_step, first.state) == ("And there?", by, 2, "answered")
    assert [one.state for one in rest] == ([left] if left else []), "nobody waits for an answer to a file's last words"
    assert read.row.guidance_waiting == len(rest)
    assert [one.author for one in read.advice] == ["person"] * (2 if by == "person" else 0)


def test_a_simulated_user_of_real_runs_is_nobodys_advice() -> None:
    turns = [g for s in registry.read(real("openai-chat/tau_bench_airline_few_shot.jsonl"))
             for g in trajectory(s).guidance.values()]
    assert len(turns) > 60
    assert not any(g.by_person for g in turns)


def test_rules_judge_samples_and_page_take_a_simulated_user_for_no_person() -> None:
    session = next(registry.read(FILES / "tau2.json"))
    read = trajectory(session)
    (turn,) = read.guidance.values()
    step = turn.delivered_step

    def body_of(name):
        return decode_body(session.blobs[name])

    assert gather(read, body_of).guidance == []
    assert not list(guided_windows(read, body_of, 1000))
    assert in_force(read, step + 1, 1000) == ""
    shown = turn_text(read, bodies(session)[step - 1])
    assert f"User: {turn.text}" in shown
    assert "<real_user>" not in shown
    asked = [p.message.content for p in rebuilt_context(read, step - 1, body_of) if p.message.role == "user"]
    assert asked[-1] == turn.text
    assert "<b>user</b>" in page(read, session.blobs.__getitem__)
