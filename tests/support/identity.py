"""Files of one session in many states, what a few lines read straight from them, and a home that is asked what became
of them. Nothing here knows how sessions are imported."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from core.cli.import_paths import import_all
from core.cli.log_access import reading, trajectory, writing
from core.domain.errors import ReportableError
from core.domain.step import decode_body
from core.formats import archive
from core.protocol.operations import AddNote, GiveVerdict
from core.store import blobs, log
from core.store.home import Home

Part = tuple[str, object]
"""A text of the agent, or a call: its id and its name."""

Own = tuple[str, tuple[tuple[str, str, str], ...]]
"""A step's thought, and its calls: id, tool, arguments."""


# ---- what a file says ------------------------------------------------------------------------------


def parts_in(path: Path) -> list[Part]:
    """All that the agent says and calls in a file, in order, for formats that name their sessions or steps."""
    try:
        value = json.loads(path.read_text())
    except ValueError:
        return [part for line in path.read_text().splitlines() for part in _line(_json(line))]
    if isinstance(value, dict) and "steps" in value:
        return list(_atif(value))
    items = value if isinstance(value, list) else value.get("messages", [value])
    return [part for item in items for part in _line(item)]


def _json(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _atif(run: dict[str, Any]) -> Iterator[Part]:
    for step in run["steps"]:
        if step["source"] == "agent" and not step.get("is_copied_context"):
            if isinstance(step.get("message"), str):
                yield "text", step["message"].strip()
            for call in step.get("tool_calls") or []:
                yield "call", (call["tool_call_id"], call["function_name"])


def _line(record: dict[str, Any]) -> Iterator[Part]:
    if record.get("type") == "assistant" or (record.get("role") == "assistant" and "ts" in record):
        record = record if "message" in record else {"message": record}
        content = record["message"]["content"]
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            if block.get("type") == "text":
                yield "text", block["text"].strip()
            elif block.get("type") == "tool_use":
                yield "call", (block["id"], block["name"])
    yield from _event(record)
    payload = record.get("payload", record) if record.get("type") != "event_msg" else {}
    if payload.get("type") == "message" and payload.get("role") == "assistant":
        for part in payload["content"]:
            yield "text", part.get("text", "").strip()
    elif payload.get("type") in ("function_call", "custom_tool_call"):
        yield "call", (payload["call_id"], payload["name"])
    item = record.get("item") or {}
    if record.get("type") == "item.completed" and item.get("type") == "agent_message":
        yield "text", item["text"].strip()
    elif record.get("type") == "item.completed" and item.get("type") == "command_execution":
        yield "text", item["command"]


def _event(record: dict[str, Any]) -> Iterator[Part]:
    """Events of OpenHands, old and new, and messages of Gemini."""
    if record.get("kind") == "ActionEvent":
        yield "call", (record["tool_call_id"], record["tool_name"])
        yield from (("text", part["text"].strip()) for part in record.get("thought") or [])
    elif record.get("source") == "agent" and record.get("action") == "run":
        yield "text", record["args"]["command"]
    elif record.get("type") == "gemini":
        yield "text", record["content"].strip() if isinstance(record.get("content"), str) else ""
        yield from (("call", (call["id"], call["name"])) for call in record.get("toolCalls") or [])


# ---- states of a file ------------------------------------------------------------------------------


def states(path: Path, chance: random.Random) -> list[bytes]:
    """A file whole and in states of another kind each: cut, excerpted, gone on with, rolled back, forked, redacted."""
    text = path.read_text()
    try:
        value = json.loads(text)
    except ValueError:
        return _of_lines(text.splitlines(keepends=True), chance)
    if isinstance(value, dict) and "steps" in value:
        return _of_steps(value, chance)
    items = value if isinstance(value, list) else value.get("messages", [])
    made = _of_lines([json.dumps(item) + "\n" for item in items], chance)
    lists = [[json.loads(line) for line in one.splitlines()] for one in made]
    return [json.dumps(one if isinstance(value, list) else {**value, "messages": one}).encode() for one in lists]


def _of_steps(run: dict[str, Any], chance: random.Random) -> list[bytes]:
    steps = run["steps"]
    first, second = sorted(chance.choices(range(1, len(steps) + 1), k=2))
    agents = [n for n, s in enumerate(steps) if s["source"] == "agent" and not s.get("is_copied_context")]
    at = chance.choice(agents)
    forked = [*copy.deepcopy(steps[: at + 1])]
    forked[at]["message"] = f"Something else altogether, {chance.random()}."
    one = steps[chance.choice(agents)]
    made = [steps, steps[:first], steps[:second], steps[first:], steps[first:second], [one], forked,
            [*forked, *steps[at + 1 :]]]
    return [json.dumps({**run, "steps": s}).encode() for s in made
            if any(x["source"] == "agent" and not x.get("is_copied_context") for x in s)]


def _of_lines(lines: list[str], chance: random.Random) -> list[bytes]:
    head = [line for line in lines[:1] if _json(line).get("type") in ("session_meta", "thread.started")]
    rest = lines[len(head) :]
    first, second = sorted(chance.choices(range(1, len(rest) + 1), k=2))
    at = chance.choice([n for n, line in enumerate(rest) if list(_line(_json(line)))])
    forked = [*rest[:at], _other(rest[at], chance)]
    made = [rest, rest[:first], rest[:second], rest[first:], rest[first:second], [rest[at]], forked,
            [*forked, *rest[at + 1 :]], [*rest, _other(rest[at], chance)]]
    return ["".join([*head, *m]).encode() for m in made if any(list(_line(_json(x))) for x in m)]


def _other(line: str, chance: random.Random) -> str:
    """A line of the same kind that says something else, under ids of its own."""
    mark = f"{chance.randrange(10**12):012}"
    record = json.loads(line)
    record.pop("tool_call_metadata", None)  # it says the old thing again
    inner = (record[key] for key in ("message", "payload", "item", "args") if isinstance(record.get(key), dict))
    payload = next(inner, record)
    for block in payload["content"] if isinstance(payload.get("content"), list) else [payload]:
        for key in ("text", "content", "command", "thought"):
            if isinstance(block.get(key), str):
                block[key] = f"Another thing, {mark}."
        if "name" in block:
            block["name"] = f"tool_{mark}"
        for key in ("id", "call_id"):
            if key in block:
                block[key] = mark
    if isinstance(record.get("thought"), list):
        record["thought"] = [{"type": "text", "text": f"Another thing, {mark}."}]
    for holder, key in ((payload, "id"), (record, "uuid")):
        if key in holder:
            holder[key] = mark
    return json.dumps(record) + "\n"


# ---- what became of it -----------------------------------------------------------------------------


class Library:
    """A home into which files come one after the other, and people's opinions in between."""

    def __init__(self, folder: Path, name: Callable[[int], str] = lambda n: f"run-{n}") -> None:
        self.home = Home(folder / "home")
        self._folder, self._name = folder, name
        self.given: dict[str, Own] = {}
        self._judged: set[tuple[str, int, Own]] = set()
        self._files: dict[Path, list[str]] = {}
        self._archived: list[str] = []

    def take(self, content: bytes) -> list[str]:
        """Import a file of this content; gives the sessions that it went into."""
        path = self._folder / self._name(len(self._files))
        path.write_bytes(content)
        failures: list[ReportableError] = []
        self._files[path] = [line.session for line in import_all(self.home, [path], failures)]
        assert not failures, [f.sentence for f in failures]
        return self._files[path]

    def sessions(self) -> list[str]:
        """The names of all sessions."""
        with reading(self.home) as conn:
            return sorted(row.session for row in log.rows(conn))

    def archives(self) -> list[Path]:
        """All sessions, each in an archive."""
        made = []
        with reading(self.home) as conn:
            for row in log.rows(conn):
                made.append(self._folder / f"{row.session}.tiphys")
                events = [placed.body for placed in log.read_all(conn, row.session)]
                archive.write(made[-1], row.session, row.title, events, partial(blobs.get, conn))
        return made

    def take_archives(self, other: Library) -> None:
        """Import all sessions of another home, and what was said there."""
        self.given |= other.given
        for path in other.archives():
            failures: list[ReportableError] = []
            self._archived += [line.session for line in import_all(self.home, [path], failures)]
            assert not failures, [f.sentence for f in failures]
        self._files |= dict.fromkeys(other._files, self._archived)

    def judge(self, session: str, chance: random.Random) -> None:
        """A person masks one step that nobody judged as it is, and writes a note on it."""
        steps = [(s, n, own) for s, n, own in self._steps() if s == session and (s, n, own) not in self._judged]
        if not steps:
            return
        _, number, own = chance.choice(steps)
        self._judged.add((session, number, own))
        self._judge(session, number, own, f"because-{len(self.given)}-{chance.randrange(10**9)}")

    def judge_step(self, session: str, number: int, mark: str) -> None:
        """A person masks a step for the reason `mark`, and writes a note on it."""
        self._judge(session, number, next(own for s, n, own in self._steps() if (s, n) == (session, number)), mark)

    def _judge(self, session: str, number: int, own: Own, mark: str) -> None:
        self.given[mark] = own

        async def say(authority: Any) -> None:
            await authority.do(session, GiveVerdict(step=number, value="mask", reason=mark))
            await authority.do(session, AddNote(step=number, text=f"note-{mark}"))

        writing(self.home, say)

    def thoughts(self, session: str) -> dict[int, str]:
        """What the agent thought in each step of a session."""
        return {number: own[0] for name, number, own in self._steps() if name == session}

    def harm(self) -> list[str]:
        """What is wrong: an opinion on another text, one that is nowhere, or a part of a file that is nowhere."""
        found: list[str] = []
        seen: set[str] = set()
        with reading(self.home) as conn:
            for row in log.rows(conn):
                told = trajectory(conn, row.session)
                remarks = " ".join(note.text for note in told.notes)
                for entry in told.steps:
                    own = _own(decode_body(blobs.get(conn, entry.body)))
                    said = [v.reason for v in entry.verdicts.values()] + [note.text for note in entry.notes]
                    marks = [mark for text in said if (mark := text.removeprefix("note-")) in self.given]
                    found += [f"{m} moved to step {entry.head.number} of {row.session}" for m in marks
                              if self.given[m] != own]
                    seen.update(marks)
                seen.update(mark for mark in self.given if f"({mark})" in remarks and f"note-{mark}”" in remarks)
        found += [f"{mark} is nowhere" for mark in self.given if mark not in seen]
        steps = self._steps()
        for path, sessions in self._files.items():
            lacking = self._lacking(path, [own for session, _, own in steps if session in sessions])
            found += [f"{path.name}: {part} is not in {sessions}" for part in lacking]
        return found

    def _lacking(self, path: Path, steps: Sequence[Own]) -> list[Part]:
        texts = "\n".join(text for text, _ in steps) + "\n".join(c[2] for _, calls in steps for c in calls)
        calls = {(call, tool) for _, found in steps for call, tool, _ in found}
        return [p for p in parts_in(path) if (p[1] not in calls if p[0] == "call" else str(p[1]) not in texts)]

    def _steps(self) -> list[tuple[str, int, Own]]:
        with reading(self.home) as conn:
            return [(row.session, entry.head.number, _own(decode_body(blobs.get(conn, entry.body))))
                    for row in log.rows(conn) for entry in trajectory(conn, row.session).steps]


def _own(body: Any) -> Own:
    return body.thought, tuple((a.call_id, a.tool, json.dumps(a.arguments, ensure_ascii=False)) for a in body.actions)
