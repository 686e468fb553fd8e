"""Subagents of Codex: each rollout knows the step that called it, and nothing of its caller's is its own.

The lines are as codex-cli 0.145 wrote them: a subagent's rollout begins with its caller's messages and events.
"""

from __future__ import annotations

import json
from pathlib import Path

from core.domain.events import Branched, GuidanceQueued, SessionCreated, StepAdded, decode_event
from core.formats import registry
from core.formats.imported import Imported

ROOT, CHILD, BELOW = (f"019ff8{n}-995b-7bf0-a2b5-a7f941be16f9" for n in ("9e", "a1", "a5"))


def turn(number: int) -> str:
    """The id of a turn that begins after the thread of this number."""
    return f"019ff8{('9f', 'a2', 'a6')[number]}-26a2-75e2-8751-7ac8b2a966c5"


class Rollout:
    """A thread's lines, one after the other."""

    def __init__(self, thread: str, **meta: object) -> None:
        self.lines: list[str] = []
        self.thread = thread
        self.add("session_meta", id=thread, timestamp="2026-08-13T00:58:58.559Z", cwd="/workspace", **meta)

    def add(self, line: str, **payload: object) -> Rollout:
        at = f"2026-08-13T00:59:{len(self.lines):02d}.000Z"
        self.lines.append(json.dumps({"timestamp": at, "type": line, "payload": payload}) + "\n")
        return self

    def begins(self, name: str, **more: object) -> Rollout:
        return self.add("event_msg", type="task_started", turn_id=name, **more)

    def words(self, role: str, text: str, **more: object) -> Rollout:
        return self.add("response_item", type="message", role=role, content=[{"type": "input_text", "text": text}],
                        **more)

    def calls(self, call: str, name: str, **arguments: object) -> Rollout:
        return self.add("response_item", type="function_call", name=name, call_id=call,
                        arguments=json.dumps(arguments))

    def answers(self, call: str, output: str) -> Rollout:
        return self.add("response_item", type="function_call_output", call_id=call, output=output)

    def used(self, tokens: int) -> Rollout:
        usage = {"input_tokens": tokens, "output_tokens": 1}
        return self.add("event_msg", type="token_count", info={"last_token_usage": usage, "total_token_usage": usage})

    def started(self, call: str, thread: str) -> Rollout:
        return self.add("event_msg", type="sub_agent_activity", event_id=call, agent_thread_id=thread, kind="started")

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-2026-08-13T00-58-58-{self.thread}.jsonl"
        path.write_text("".join(self.lines))
        return path


def spawned(caller: str, name: str = "probe") -> dict:
    """What a subagent's first line says of its caller."""
    return {"forked_from_id": caller, "parent_thread_id": caller, "thread_source": "subagent", "source": {"subagent": {
        "thread_spawn": {"parent_thread_id": caller, "depth": 1, "agent_path": f"/root/{name}"}}}}


def root() -> Rollout:
    """A thread whose second answer begins another."""
    made = Rollout(ROOT).begins(turn(0)).words("user", "Port the program").calls("c1", "shell", command="ls")
    made.answers("c1", "a b").used(100).calls("c2", "spawn_agent", task_name="probe").started("c2", CHILD)
    return made.answers("c2", json.dumps({"task_name": "/root/probe"})).used(200).words("assistant", "Done.").used(300)


def child(*, encrypted: bool = False) -> Rollout:
    """That other: first what its caller's thread held, then its own two answers, the first of which calls one too."""
    made = Rollout(CHILD, **spawned(ROOT)).words("user", "Port the program")
    made.words("assistant", "An earlier answer.", phase="final_answer").begins(turn(0)).used(100)
    made.calls("c1", "shell", command="ls").answers("c1", "a b").calls("c2", "spawn_agent").begins(turn(1))
    heading = {"type": "input_text", "text": "Message Type: NEW_TASK\nSender: /root\nPayload:\n"}
    task = ({"type": "encrypted_content", "encrypted_content": "gAAAA"} if encrypted
            else {"type": "input_text", "text": "Probe every flag"})
    made.add("response_item", type="agent_message", author="/root", recipient="/root/probe", content=[heading, task])
    made.calls("d1", "spawn_agent", message="Deeper").answers("d1", json.dumps({"agent_id": BELOW})).used(50)
    return made.words("assistant", "The flags are -a and -b.").used(60)


def facts(session: Imported) -> list:
    return [decode_event(body).fact for body in session.bodies]


def branch(session: Imported) -> Branched:
    return next(f for f in facts(session) if isinstance(f, Branched))


def read(path: Path) -> Imported:
    (session,) = registry.read(path)
    return session


def test_a_subagent_is_below_the_step_that_called_it_also_of_another_day(tmp_path):
    main = read(root().write(tmp_path / "2026" / "07" / "31"))
    below = read(child().write(tmp_path / "2026" / "08" / "01"))
    lowest = Rollout(BELOW, **spawned(CHILD, "deeper")).begins(turn(2)).words("user", "Deeper").words(
        "assistant", "Here.").write(tmp_path / "2026" / "08" / "01")
    assert branch(below) == Branched(parent=main.session, step=2, is_call=True)
    assert branch(read(lowest)) == Branched(parent=below.session, step=1, is_call=True)


def test_what_it_has_from_its_caller_is_context_and_neither_step_nor_turn_nor_count(tmp_path):
    session = read(child().write(tmp_path))
    found = facts(session)
    steps = [f for f in found if isinstance(f, StepAdded)]
    assert [s.head.usage.input_tokens for s in steps] == [50, 60]
    assert not [f for f in found if isinstance(f, GuidanceQueued)]
    task = next(f.task for f in found if isinstance(f, SessionCreated))
    assert (task.title, task.description) == ("Probe every flag", "Probe every flag")
    shown = b"".join(session.blobs.values()).decode("utf-8", "replace")
    assert all(words in shown for words in ("Port the program", "An earlier answer.", "a b", "aborted"))


def test_a_version_that_tells_of_whole_items_names_the_thread_and_how_a_call_ended(tmp_path):
    made = Rollout(ROOT).begins(turn(0)).words("user", "Port the program").calls("c1", "mcp", place="x")
    made.add("event_msg", type="item_completed", item={"type": "McpToolCall", "id": "c1", "status": "failed"})
    made.answers("c1", "no such place").used(100).calls("c2", "spawn_agent")
    made.add("event_msg", type="item_completed", item={
        "type": "SubAgentActivity", "id": "c2", "kind": "started", "agent_thread_id": CHILD})
    main = read(made.answers("c2", "{}").used(200).write(tmp_path))
    assert [f.head.is_error for f in facts(main) if isinstance(f, StepAdded)] == [True, False]
    assert branch(read(child().write(tmp_path))).step == 2


def test_a_subagent_whose_task_is_encrypted_bears_its_own_name(tmp_path):
    task = next(f.task for f in facts(read(child(encrypted=True).write(tmp_path))) if isinstance(f, SessionCreated))
    assert (task.title, task.description) == ("probe", "")


def test_turns_without_an_order_in_their_ids_are_told_by_their_time(tmp_path):
    made = Rollout("old-thread", **spawned(ROOT)).words("user", "Port the program")
    made.begins("1", started_at=1786582700).begins("2", started_at=1786582738).words("user", "Probe it")
    session = read(made.words("assistant", "Probed.").write(tmp_path))
    assert next(f.task.title for f in facts(session) if isinstance(f, SessionCreated)) == "Probe it"


def test_a_caller_that_is_no_name_is_looked_for_nowhere(tmp_path):
    root().write(tmp_path / "secret")
    made = Rollout(CHILD, **spawned(f"../secret/*{ROOT}")).begins(turn(1)).words("assistant", "Here.")
    assert branch(read(made.write(tmp_path / "work"))).step == 0


def test_a_fork_of_a_person_is_no_call(tmp_path):
    made = Rollout(CHILD, forked_from_id=ROOT).begins(turn(1)).words("user", "Go on").words("assistant", "Here.")
    assert not branch(read(made.write(tmp_path))).is_call
