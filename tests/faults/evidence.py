"""What a run left behind: outboxes, the log of record, journals, the ledger of actions, what the model was shown."""

from __future__ import annotations

import contextlib
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from core.domain.events import Event, decode_event
from core.store import log
from core.store.sqlite import Connection, connect


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a client's person sent: `told` when the program said that it was sent."""

    token: str
    kind: str
    session: str
    command: str
    of: str = ""
    told: bool = True

    @property
    def client(self) -> str:
        return self.token.split(".")[0]


class Evidence:
    """Reads the files of a run; every party is dead or at rest."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.replicas = sorted(folder.glob("client*.db"))
        self.prompts = _by_session(_lines(folder / "prompts.jsonl"))
        self.acts = _lines(folder / "acts.jsonl")
        with self.server() as conn:
            self.replies = {id_: json.loads(reply) for id_, reply in conn.execute("SELECT id, reply FROM command")}
            for line in [line for path in sorted(folder.glob("*.refused")) for line in _lines(path)]:
                self.replies.setdefault(line["command"], line["reply"])
            self.rows = {row.session: row for row in log.rows(conn)}
            self.bodies = {s: [p.body for p in log.read_all(conn, s)] for s in self.rows}
        self.events = {s: [decode_event(b) for b in bodies] for s, bodies in self.bodies.items()}
        self.messages = self._messages()
        self.guides: dict[str, list[Message]] = defaultdict(list)
        for one in self.messages:
            if one.kind == "guide":
                self.guides[one.session].append(one)

    @contextlib.contextmanager
    def server(self) -> Iterator[Connection]:
        """The log of record, for reading."""
        with contextlib.closing(connect(self.home / "server.db", readonly=True)) as conn:
            yield conn

    def facts(self, session: str, *kinds: type) -> list[Any]:
        """The facts of some kinds in a session's log, in order."""
        return [e.fact for e in self.events.get(session, []) if isinstance(e.fact, kinds)]

    def journal(self, session: str) -> list[bytes]:
        """What the runner's journal tells; empty where there is none."""
        path = self.home / "sessions" / session / "journal.db"
        if not path.exists():
            return []
        with contextlib.closing(connect(path, readonly=True)) as conn:
            return [body for (body,) in conn.execute("SELECT body FROM entry ORDER BY n")]

    def agents_events(self, session: str) -> list[Event]:
        """What the log has from the agent."""
        return [e for e in self.events[session] if e.author.kind == "agent"]

    def outbox(self, replica: Path) -> list[tuple[Any, ...]]:
        """(cseq, id, session, op, state) of a client's outbox."""
        with contextlib.closing(connect(replica, readonly=True)) as conn:
            rows = conn.execute("SELECT cseq, id, session, op, state FROM outbox ORDER BY cseq").fetchall()
        return [(cseq, id_, session, json.loads(op), state) for cseq, id_, session, op, state in rows]

    def _messages(self) -> list[Message]:
        """Everything that was told as sent, and what is in an outbox though its sender died before it could tell."""
        found = {}
        for path in sorted(self.folder.glob("client*.sent")):
            for line in _lines(path):
                found[line["command"]] = Message(**line)
        for replica in self.replicas:
            for _, id_, session, op, _ in self.outbox(replica):
                token = op.get("guidance") or (op.get("text") or op.get("reason") or "")[1:-1]
                kind = {"guide": "guide", "add_note": "note", "give_verdict": "verdict"}.get(op["op"])
                if id_ not in found and kind:
                    found[id_] = Message(token=token, kind=kind, session=session, command=id_, told=False)
        return list(found.values())

    def logs(self) -> list[Path]:
        """What the parties printed."""
        return [*self.folder.glob("*.out"), *self.home.glob("sessions/*/runner.log")]


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]


def _by_session(lines: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        found[line["session"]].append(line)
    return found
