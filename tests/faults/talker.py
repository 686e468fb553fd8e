"""A headless client of a run: the real client on a real replica, which sends guidance, notes, edits and withdrawals.

After each `send` that returned — the moment when a person's box would be cleared — it writes a line into NAME.sent,
outside the program's own files: whatever stands there must never be lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
from collections import deque
from pathlib import Path
from typing import Any

from core.aio import TaskScope
from core.client.client import Client
from core.client.replica import Replica
from core.domain.errors import Unavailable
from core.domain.session import FINAL_STATES, SessionRow
from core.domain.task import AgentSettings, Limits, ModelSettings, Task
from core.protocol.operations import AddNote, AnyOp, ChangeGuidance, CreateSession, GiveVerdict, Guide
from core.store import outbox
from core.store.sqlite import connect, scalar


def settings(plan: dict[str, Any], session: str) -> tuple[Task, AgentSettings]:
    """The task of a session, answered by the endpoint."""
    port = Path(plan["folder"], "endpoint.port").read_text()
    model = ModelSettings(kind="openai", name="fake", base_url=f"http://127.0.0.1:{port}/{session}/v1")
    task = Task(id="t", title="T", description="Do it.", limits=Limits(steps=None))
    sandbox = plan["sandbox"] or "local"
    return task, AgentSettings(model=model, sandbox=sandbox, confirmed_unconfined=True, context_tokens=10_000_000)


def note_refusals(folder: Path, name: str) -> None:
    """Write down what was refused before a renewed outbox forgets it: a restored server knows nothing of it either."""
    renew = outbox.renew

    def noted(conn: Any, *keep: Any) -> str:
        with (folder / f"{name}.refused").open("a") as file:
            for id_, reply in conn.execute("SELECT id, reply FROM outbox WHERE state = 'refused'").fetchall():
                file.write(json.dumps({"command": id_, "reply": json.loads(reply)}) + "\n")
        return renew(conn, *keep)

    outbox.renew = noted


class Talker:
    """One incarnation of a client."""

    def __init__(self, name: str, plan: dict[str, Any]) -> None:
        self.name, self.plan = name, plan
        self.folder = Path(plan["folder"])
        self.replica = Replica(self.folder / f"{name}.db")
        token = (Path(plan["home"]) / "admin.token").read_text().strip()
        self.client = Client(self.replica, plan["url"], token)
        self._sent = os.open(self.folder / f"{name}.sent", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        lives = self.folder / f"{name}.lives"
        while True:
            with contextlib.suppress(OSError), lives.open("a") as file:
                file.write(".")
                break
        self._life = lives.stat().st_size
        self._count = 0
        self._chance = random.Random(f"{plan['seed']} {name} {self._life}")
        self._made = ""
        self._sayings: deque[tuple[str, str]] = deque(maxlen=40)

    @property
    def is_quiet(self) -> bool:
        """Whether the run wants no more messages."""
        return (self.folder / "quiet").exists()

    def token(self) -> str:
        """A name that no other message has; a client's names sort by the order of their sending."""
        self._count += 1
        return f"{self.name}.{self._life:05d}.{self._count:06d}"

    async def send(self, kind: str, session: str, op: AnyOp, token: str, of: str = "") -> None:
        """Send, then write down that it was sent."""
        try:
            command = await self.client.send(session, op)
        except Unavailable:  # the disk: the person sees that it was not sent
            return
        line = {"token": token, "kind": kind, "session": session, "command": command, "of": of}
        with contextlib.suppress(OSError):  # the broken disk of this process is the witness's too; the outbox has it
            os.write(self._sent, json.dumps(line).encode() + b"\n")

    def follow(self) -> list[SessionRow]:
        """Watch what lives; gives the sessions that may be talked to."""
        living = []
        for row in self.replica.rows():
            if not self._is_near(row.session):
                continue
            if row.state not in FINAL_STATES:
                self.client.watch(row.session)
                living.append(row)
            elif self.replica.head(row.session) >= row.seq:
                self.client.unwatch(row.session)
            else:
                self.client.watch(row.session)
        return [r for r in living if r.steps < self.plan["steps"] - self.plan["margin"]]

    def _is_near(self, session: str) -> bool:
        """Whether the session was made by this client or one of the next few."""
        other, me = (int(name.partition("-")[0].removeprefix("client")) for name in (session, self.name))
        return (other - me) % self.plan["clients"] < self.plan["following"]

    async def say_something(self) -> None:
        """A burst of messages of some kind, each to some session."""
        living = self.follow()
        mine = [r for r in living if r.session.startswith(f"{self.name}-")]
        if len(mine) < self.plan["sessions"] and not self._is_making():
            session = f"{self.name}-{self._life}-{self._count}{self.plan['tag']}"
            task, agent = settings(self.plan, session)
            self._made = session
            await self.send("create", session, CreateSession(task=task, agent=agent), self.token())
        elif living and self._backlog() < self.plan["backlog"]:
            for _ in range(self._chance.randint(1, 2 * self.plan["burst"] - 1)):
                await self._talk(self._chance.choice(living))

    def _backlog(self) -> int:
        with contextlib.closing(connect(self.replica.path, readonly=True)) as conn:
            return int(scalar(conn, "SELECT count(*) FROM outbox WHERE state = 'queued'"))

    def _is_making(self) -> bool:
        if self._made and self.replica.row(self._made) is None:
            return True
        return any(isinstance(c.op, CreateSession) for c in self.replica.waiting())

    async def _talk(self, row: SessionRow) -> None:
        session, token, dice = row.session, self.token(), self._chance.random()
        if dice < 0.05:
            await self.send("note", session, AddNote(step=0, text=f"«{token}»"), token)
        elif dice < 0.08 and row.steps:
            verdict = GiveVerdict(step=self._chance.randint(1, row.steps), value="mask", reason=f"«{token}»")
            await self.send("verdict", session, verdict, token)
        elif dice < 0.16 and self._sayings:
            guidance, where = self._sayings[self._chance.randrange(len(self._sayings))]
            self._sayings.remove((guidance, where))
            text = f"«{guidance}~e» other advice" if self._chance.random() < 0.5 else None
            op = ChangeGuidance(guidance=guidance, text=text)
            await self.send("withdraw" if text is None else "edit", where, op, token, guidance)
        else:
            mode = "interrupt" if self._chance.random() < 0.05 else "note"
            await self.send("guide", session, Guide(guidance=token, text=f"«{token}» advice", mode=mode), token)
            self._sayings.append((token, session))

    async def recite(self) -> None:
        """One session of three steps, from where an earlier life was killed: one command after the other."""
        session = f"{self.name}-session"
        self.client.watch(session)
        task, agent = settings(self.plan, session)
        names = [f"{self.name}.00001.{n:06d}" for n in range(8)]
        lines: list[tuple[int, str, AnyOp, str]] = [
            (0, "create", CreateSession(task=task, agent=agent), ""),
            *((0, "guide", Guide(guidance=names[n], text=f"«{names[n]}» advice"), "") for n in (1, 2)),
            (0, "note", AddNote(step=0, text=f"«{names[3]}»"), ""),
            (0, "edit", ChangeGuidance(guidance=names[2], text=f"«{names[2]}~e» other advice"), names[2]),
            (1, "guide", Guide(guidance=names[5], text=f"«{names[5]}» advice"), ""),
            (1, "withdraw", ChangeGuidance(guidance=names[5]), names[5]),
            (2, "guide", Guide(guidance=names[7], text=f"«{names[7]}» advice"), ""),
        ]
        for n, (step, kind, op, of) in list(enumerate(lines))[len(self.replica.commands()) :]:
            while step > (((row := self.replica.row(session)) and row.steps) or 0):
                await asyncio.sleep(0.005)
            await self.send(kind, session, op, names[n], of)
        await asyncio.Event().wait()

    async def talk(self) -> None:
        """Send until told to be quiet; then only follow."""
        while True:
            await asyncio.sleep(min(0.5, self._chance.expovariate(self.plan["rate"])))
            if self.is_quiet:
                self.follow()
                await asyncio.sleep(0.1)
            else:
                await self.say_something()


async def run(name: str, plan: dict[str, Any]) -> None:
    """Talk until killed."""
    note_refusals(Path(plan["folder"]), name)
    talker = Talker(name, plan)
    async with TaskScope("talker") as scope:
        scope.spawn(talker.client.run(), name="link")
        await (talker.recite() if plan.get("recite") else talker.talk())
