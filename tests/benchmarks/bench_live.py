"""From the runner's journal to the painted row: steps a second, and how old a step is when it is on the screen.

Three processes: a runner (real journal with synchronous=FULL and spool), the server, and a desktop (real
replica, desk, item model and step list, offscreen). A step's time is its event's; the row's is the end of the
paint that first shows it.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import rig
from support.wire import raw_peer

from core.protocol.messages import Command
from core.protocol.operations import AddNote, ImportSession

LOADS = ((20, 200), (200, 2000))
BURST = 5000


async def _make(process: rig.ServerProcess, session: str, cseq: int) -> None:
    async with raw_peer(process.url, process.token, client="bench") as peer:
        await peer.ask(Command(id=f"make-{session}", cseq=cseq, session=session, op=ImportSession(origin="bench")))
        await peer.ask(Command(id=f"note-{session}", cseq=cseq + 1, session=session, op=AddNote(step=0, text="first")))


def main() -> None:
    """Paced loads, then a burst."""
    for number, (rate, count) in enumerate((*LOADS, (0, BURST)), 1):
        with tempfile.TemporaryDirectory() as folder, rig.server(Path(folder) / "home") as process:
            session = f"s{number}"
            asyncio.run(_make(process, session, 1))
            arguments = [process.url, process.token, session, str(rate), str(count), folder]
            env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "LANG": "C.UTF-8"}
            desktop = subprocess.Popen([sys.executable, __file__, "desktop", *arguments], stdout=subprocess.PIPE,
                                       text=True, env=env)
            assert desktop.stdout is not None
            desktop.stdout.readline()
            runner = subprocess.Popen([sys.executable, __file__, "runner", *arguments])
            figures = json.loads(desktop.stdout.readline())
            runner.wait(60)
            desktop.wait(60)
            rig.told("live", offered_per_s=rate or "as fast as it goes", steps=count, **figures)


async def runner(url: str, token: str, session: str, rate: int, count: int, folder: str) -> None:
    """Write steps into a journal at a pace; the spool carries them."""
    from core.agents.delivery import Inbox
    from core.agents.journal import Journal
    from core.agents.spool import Spool
    from core.aio import TaskScope
    from core.domain.blob import blob_hash
    from core.domain.events import StepAdded
    from core.domain.head import make_head
    from core.domain.step import Action, Observation, Output, StepBody, encode_body

    journal = Journal(Path(folder) / "journal.db", session)
    spool = Spool(journal, Inbox(journal), url, token, lambda _: None)
    async with TaskScope("runner") as scope:
        scope.spawn(spool.run(), name="spool")
        start = time.monotonic()
        for number in range(1, count + 1):
            action = Action(call_id=str(number), tool="run_command", arguments={"command": f"python train.py {number}"})
            output = Output(text=f"step {number} loss 0.83 " * 40, total_chars=900)
            body = StepBody(number=number, thought="Look at the loss.", actions=(action,),
                            observations=(Observation(call_id=str(number), output=output),))
            data = encode_body(body)
            with journal.transaction("step"):
                journal.put_blob(data)
                journal.put_slot("last_step", number)  # or the inbox takes its own steps for another journal's
                journal.add(StepAdded(head=make_head(body, ended_at=datetime.now(UTC)), body=blob_hash(data)))
            await asyncio.sleep(max(0.0, start + number / rate - time.monotonic()) if rate else 0)
        await spool.flushed(60)
    journal.close()


def desktop(url: str, token: str, session: str, rate: int, count: int, folder: str) -> None:
    """Show the session in the real step list and note when each row was first painted."""
    from PySide6.QtGui import QPaintEvent
    from PySide6.QtWidgets import QApplication
    from qasync import QEventLoop

    from app.desk.desk import Desk
    from app.trajectory.model import TrajectoryModel
    from app.trajectory.step_list import StepList
    from core.aio import TaskScope
    from core.client.client import Client
    from core.client.replica import Replica

    class Timed(StepList):
        """Tells when a paint is over."""

        def paintEvent(self, event: QPaintEvent) -> None:
            super().paintEvent(event)
            note()

    app = QApplication(sys.argv[:1])
    replica = Replica(Path(folder) / "replica.db")
    client = Client(replica, url, token)
    desk = Desk(replica, client)
    model = TrajectoryModel()
    view = Timed()
    view.setModel(model)
    view.resize(900, 800)
    model.show(desk.trajectory(session))
    view.show()
    view.follow()
    shown = [0]
    ages: list[float] = []
    times: list[float] = []

    def note() -> None:
        now = datetime.now(UTC)
        steps = desk.trajectory(session).steps
        for entry in steps[shown[0]:]:
            if entry.head.ended_at is not None:
                ages.append((now - entry.head.ended_at).total_seconds() * 1000)
                times.append(time.monotonic())
        shown[0] = len(steps)

    desk.trajectory_changed.connect(lambda _: model.refresh())

    async def main() -> None:
        async with TaskScope("desktop") as scope:
            scope.spawn(client.run(), name="client")
            client.watch(session)
            print("ready", flush=True)
            while shown[0] < count:
                await asyncio.sleep(0.005)
        replica.close()

    with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as loop:
        loop.run(main())
    figures = rig.quantiles(ages) if rate else {}
    seen = round((count - 1) / (times[-1] - times[0])) if times[-1] > times[0] else count
    print(json.dumps({"steps_per_s_on_screen": seen, **figures}), flush=True)


if __name__ == "__main__":
    part = sys.argv[1:2]
    if part == ["runner"]:
        url_, token_, session_, rate_, count_, folder_ = sys.argv[2:]
        asyncio.run(runner(url_, token_, session_, int(rate_), int(count_), folder_))
    elif part == ["desktop"]:
        url_, token_, session_, rate_, count_, folder_ = sys.argv[2:]
        desktop(url_, token_, session_, int(rate_), int(count_), folder_)
    else:
        main()
