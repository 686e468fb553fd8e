"""What a panel needs, over a real replica that holds a made session; and a session whose every part is known."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject
from support.logs import PERSON, RULE, Maker, fill

from app.desk.actions import Actions
from app.desk.cursor import Cursor
from app.desk.desk import Desk
from app.desk.desks import Desks
from app.desk.in_sight import InSight
from app.desk.notices import Notices
from app.desk.offline_copies import OfflineCopies
from app.desk.queue_book import QueueBook
from app.desk.run_book import RunBook
from app.desk.sender import Sender
from app.desk.servers import Servers
from app.desk.settings import Settings
from app.desk.watermarks import Watermarks
from app.desk.workplace import Workplace
from core.aio import TaskScope
from core.client.client import Client
from core.client.replica import Replica
from core.domain.events import FileChanged, SearchMade, SearchResult, StepStarted, TerminalOutput, VerdictGiven
from core.store.home import Home


def told_session() -> Maker:
    """Ten steps. Step N prints "output of step N"; steps 2, 4, 6 write a.py (N lines), step 5 deletes b.txt;
    step 3 searches, step 4 visits the first result; a rule masks step 2, a person keeps step 3."""
    maker = Maker(1)
    offset = 0
    for number in range(1, 11):
        maker.step = number
        maker._enter_observation()
        maker.say(StepStarted(number=number))
        data = f"output of step {number}\r\n".encode()
        maker.say(TerminalOutput(host="main", terminal="sh", offset=offset, size=len(data), data=data))
        offset += len(data)
        if number in (2, 4, 6):
            text = "".join(f"line {i}\n" for i in range(number)).encode()
            before, after = maker._files.get("a.py", ""), maker.keep(text)
            maker.say(FileChanged(host="main", path="src/a.py", before=before, after=after, size=len(text),
                                  step=number))
            maker._files["a.py"] = after
        if number == 5:
            maker.say(FileChanged(host="main", path="b.txt", before=maker.keep(b"gone\n"), after="", step=number))
        if number == 3:
            found = tuple(SearchResult(title=f"Result {i} <b>", link=f"https://example.org/{i}") for i in (1, 2))
            maker.say(SearchMade(query="masked loss", engine="web", step=3, results=found))
        if number == 4:
            maker.say(SearchMade(query="https://example.org/1", engine="page", step=4))
        fact = maker._step_fact(maker._body("run_command", fails=False))
        maker.say(msgspec.structs.replace(fact, terminals={"main/sh": offset}))
    maker.say(VerdictGiven(step=2, value="mask", reason="looked at nothing"), RULE)
    maker.say(VerdictGiven(step=3, value="keep", reason="well done"), PERSON)
    return maker


@contextlib.contextmanager
def workplace(
    folder: Path, *sessions: Maker, client: Client | None = None, scope: TaskScope | None = None,
    replica: Replica | None = None
) -> Iterator[tuple[Workplace, Replica]]:
    """A workplace without a server, whose sessions are s1, s2, …; or one with a running client."""
    home = Home(folder)
    replica = client.replica if client else replica or Replica(home.replicas / "r.db")
    for number, maker in enumerate(sessions, 1):
        replica._writer.do_blocking(lambda conn, n=number, m=maker: fill(conn, f"s{n}", m.bodies, m.blobs))
    parent = QObject()
    desks, notices, scope = Desks(Desk(replica, client, parent), parent), Notices(parent), scope or TaskScope("panels")
    cursor = Cursor(parent)
    sight, settings = InSight(desks, cursor, parent), Settings(home.path / "settings.toml", parent=parent)
    sender = Sender(desks, scope, notices, parent)
    runs = RunBook(desks, cursor, notices, parent)
    try:
        yield Workplace(home=home, desks=desks, cursor=cursor, sight=sight, scope=scope,
                        notices=notices, settings=settings, runs=runs,
                        queues=QueueBook(desks, cursor, sight, settings, sender, notices, parent),
                        servers=Servers(home.path / "servers.json", parent),
                        watermarks=Watermarks(home.path / "looked.json"),
                        offline_copies=OfflineCopies(home.path / "kept.json"),
                        sender=sender, actions=Actions(parent)), replica
    finally:
        runs.close()
        desks.local.close()
        if client is None:
            replica.close()
