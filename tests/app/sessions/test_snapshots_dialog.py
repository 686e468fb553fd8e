"""Snapshots in the window: one is taken by hand, they are listed with what they hold, restored from and branched."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtWidgets import QMainWindow, QMessageBox
from support.desktops import window
from support.eventually import eventually
from support.logs import Maker
from support.panels import workplace
from support.server_process import ServerProcess

from app.desk.session_key import key_of
from app.sessions.branch_dialog import BranchDialog
from app.sessions.panel import build
from app.sessions.snapshots_dialog import SnapshotsDialog
from core.agents.journal import Journal
from core.agents.progress import AgentProgress
from core.agents.saved_journal import save_journal
from core.agents.snapshot_store import Snapshot, SnapshotStore
from core.aio import TaskScope
from core.domain.events import NotSaved, SessionStateChanged, SnapshotFailed, SnapshotTaken, decode_event
from core.protocol.operations import Control
from core.store import log
from core.store.home import Home
from core.store.pieces import PieceWriter


def with_snapshots(state: str = "finished") -> Maker:
    """Three steps: one snapshot at the second that is no more, one that failed, one at the end."""
    maker = Maker(1, "Argo")
    maker.add_step()
    maker.add_step()
    maker.say(SnapshotTaken(step=2, id="gone", cause="steps", files=3, bytes=2_000_000))
    maker.add_step()
    maker.say(SnapshotFailed(step=3, cause="time", reason="The sandbox was lost."))
    maker.say(SnapshotTaken(step=3, id="last", cause="end", files=5_000, bytes=200_000_000, added=3_000_000,
                            seconds=1.5, not_saved=(NotSaved(kind="process", host="lab-1", what="sh: train.py"),)))
    if state:
        maker.say(SessionStateChanged(state=state))
    return maker


def put_snapshot(home: Home, maker: Maker, id: str, step: int, session: str = "s") -> None:
    """What a runner of that session had stored, without hosts; its journal is gone since."""
    journal = Journal(home.path / "runner.db", session)
    for body in maker.bodies:
        if decode_event(body).author.kind == "agent":
            journal.sql("INSERT INTO entry (body) VALUES (?)", (body,))
    journal.put_slot("progress", AgentProgress(state="finished", steps=step))
    with closing(SnapshotStore(home.path)) as store, PieceWriter(store.pieces) as writer:
        store.commit(writer, Snapshot(id=id, session=session, step=step, cause="end", at=datetime.now(UTC), hosts={},
                                      terminals=(), journal=save_journal(journal, writer)), {})
    journal.close()


async def test_the_list_says_what_each_holds_and_one_is_restored_where_it_may_be(qapp, tmp_path: Path) -> None:
    maker = with_snapshots()
    with ServerProcess(tmp_path / "lab", s=maker) as lab:
        put_snapshot(lab.home, maker, "last", 3)
        async with window(tmp_path / "desk") as made:
            entry = made.place.servers.add(lab.url, lab.token, "lab")
            key = key_of("s", entry.id)
            await eventually(lambda: made.desks.of(key).link.state == "online" and made.desks.of(key).row(key))
            made.cursor.move(key)
            notices: list[object] = []
            made.notices.posted.connect(notices.append)
            made.actions["session.snapshots"].trigger()
            dialog = made.window.findChildren(SnapshotsDialog)[0]
            await eventually(lambda: len(dialog.model.rows) == 3 and dialog.restore.isEnabled())
            await eventually(lambda: "removed meanwhile" in dialog.model.rows[2][1].spoken)  # asked of the server
            titles = [lines.spoken for _, lines in dialog.model.rows]
            assert titles[0].startswith("Step 3, at the end") and "Files: 5,000 · 190.73 MiB" in titles[0]
            assert "Not taken: The sandbox was lost." in titles[1]
            assert dialog.lost.text() == "Not in it: lab-1: program sh: train.py"
            dialog.list.setCurrentIndex(dialog.model.index(2))
            assert not dialog.restore.isEnabled() and not dialog.branch.isEnabled()
            assert "holds it no more" in dialog.why.text()
            dialog.list.setCurrentIndex(dialog.model.index(0))
            dialog.restore.click()
            await eventually(lambda: dialog.findChildren(QMessageBox))
            dialog.findChildren(QMessageBox)[0].buttons()[0].click()
            await eventually(lambda: any("as after step 3" in n.sentence for n in notices))
        folder = lab.home.sessions / "s"
        with closing(Journal(folder / "journal.db", "s")) as journal:
            assert journal.slot("restore", str) == "last"


async def test_what_is_taken_by_hand_is_told_when_it_is_there_and_one_branches_where_it_was(qtbot, tmp_path) -> None:
    async with TaskScope("test") as scope:
        with workplace(tmp_path, with_snapshots(""), scope=scope) as (place, replica):
            made = QMainWindow()
            qtbot.addWidget(made)
            made.setCentralWidget(build(place, made))
            made.show()
            place.cursor.move("s1")
            notices: list[object] = []
            place.notices.posted.connect(notices.append)
            place.actions["session.snapshot"].trigger()
            await eventually(lambda: not place.sender.storing)
            assert [one.op for one in replica.waiting()] == [Control(control="snapshot")]
            more = with_snapshots("")
            more.say(SnapshotTaken(step=3, id="own", cause="person", files=1, seconds=0.1))
            replica._writer.do_blocking(lambda conn: log.append(conn, "s1", more.bodies[-1:]))
            place.sight.grew.emit()
            await eventually(lambda: any("Snapshot after step 3: Files: 1" in n.sentence for n in notices))
            place.actions["session.snapshots"].trigger()
            dialog = made.findChildren(SnapshotsDialog)[0]
            await eventually(lambda: len(dialog.model.rows) == 4)
            assert dialog.branch.isEnabled() and "stop it first" in dialog.why.text()
            dialog.list.setCurrentIndex(dialog.model.index(3))
            dialog.branch.click()
            assert place.cursor.step == 2 and made.findChildren(BranchDialog)
