"""The real window on a real server: a queue is made, taken from by a key, judged, done; blind, and offline."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.desktops import window
from support.eventually import eventually
from support.queued import done as take
from support.queued import judge, sessions, steps
from support.wire import AGENT, account, fill, running_client, serving

from app.desk.queue_book import Shown
from app.desk.session_key import key_of
from app.queue.make_dialog import MakeQueueDialog
from app.queue.row import QueueRow, QueueRowRole
from app.window.bootstrap import Desktop
from core.client.client import Client
from core.domain.events import StepAdded, encode_event, make_event
from core.domain.head import make_head
from core.domain.queue import QueueItem, QueueWork, Reader
from core.domain.step import Action, StepBody
from core.protocol.operations import GiveBack, GiveVerdict, MakeQueue, TakeFromQueue
from core.server.serve import Server


@contextlib.asynccontextmanager
async def office(folder: Path) -> AsyncIterator[tuple[Server, Client, Desktop, str]]:
    """A server with three sessions of two steps, kim at it, and the reader's window in the Queue layout."""
    async with serving(folder / "lab") as server:
        await sessions(server, "s1", "s2", "s3")
        kim, me = (account(folder / "lab", who, "view", "review") for who in ("kim", "me"))
        async with running_client(folder / "kim.db", server.url, kim) as client, window(folder / "me") as made:
            made.window.resize(1440, 900)
            entry = made.place.servers.add(server.url, me)
            await eventually(lambda: made.place.queues.me(key_of("x", entry.id)) == "me")
            await eventually(lambda: len(made.desks.rows()) == 3)
            made.window.lay_out("queue")
            yield server, client, made, entry.id


def rows(made: Desktop) -> list[QueueRow]:
    model = made.window.docks["queue"].widget().list.model()  # type: ignore[attr-defined]
    return [model.index(at, 0).data(QueueRowRole) for at in range(model.rowCount())]


def item(client: Client, session: str) -> QueueItem:
    """Once the client has it."""
    return next((i for i in client.replica.queue_items() if i.session == session), QueueItem(queue="", session=session))


def show(made: Desktop, key: str) -> None:
    made.place.queues.show(Shown(queue=key, title="Q"))


def sees(made, step: int) -> bool:
    shown = made.cursor.list.shown()
    return shown is not None and step in shown.in_sight


async def test_a_queue_is_taken_from_judged_and_done_by_keys_alone(tmp_path: Path) -> None:
    async with office(tmp_path) as (_, kim, made, server):
        key = key_of("q", server)
        await take(kim, "q", MakeQueue(name="Claims", sessions=("s2", "s1", "s3")))
        await take(kim, "q", TakeFromQueue(taken="s2"))
        await eventually(lambda: len(made.place.queues.items(key)) == 3)
        show(made, key)
        await eventually(lambda: [row.who for row in rows(made)] == ["kim", "–", "–"])
        QTest.keyClick(made.window, Qt.Key.Key_Q)
        await eventually(lambda: made.cursor.session == key_of("s1", server))
        assert made.window.layouts.current == "read"
        bar = made.window.docks["review"].widget().bar  # type: ignore[attr-defined]
        await eventually(lambda: bar.count.text() == "0/2 judged")
        head = made.window.head.queue
        assert head.isVisible() and (head.name.text(), head.count.text()) == ("Claims", "session 2 of 3")
        for step in (1, 2):
            made.cursor.to_step(step)
            await eventually(lambda n=step: sees(made, n))  # the first press on what is not in sight only shows it
            QTest.keyClick(made.window, Qt.Key.Key_K)
            await eventually(lambda n=step: bar.count.text() in (f"{n}/2 judged", "All 2 judged"))
        await eventually(lambda: item(kim, "s1").is_done)
        assert bar.following.isVisibleTo(bar) and not bar.ahead.isVisibleTo(bar)
        bar.following.click()
        await eventually(lambda: made.cursor.session == key_of("s3", server))
        assert [h.person for h in item(kim, "s3").holders] == ["me"]
        await eventually(lambda: kim.replica.queue_items() and made.place.queues.readers(key_of("s3", server)) == [])
        QTest.keyClick(made.window, Qt.Key.Key_Q, Qt.KeyboardModifier.ShiftModifier)
        assert made.cursor.session == key_of("s3", server), "what is done is not gone back to"


async def test_errors_answers_and_reports_are_all_that_such_a_queue_asks_for(tmp_path: Path) -> None:
    async with office(tmp_path) as (server_of_it, kim, made, server):
        words = [StepBody(number=3, thought="All tests pass."), StepBody(number=4, actions=(
            Action(call_id="c", tool="finish", arguments={"result": "done"}),))]
        await fill(server_of_it, "s4", [*steps(2), *(
            encode_event(make_event(StepAdded(head=make_head(b), body="0" * 64), AGENT)) for b in words)])
        dialog, chosen = MakeQueueDialog(1, "", made.window), []
        dialog.chosen.connect(chosen.append)
        dialog.name.setText("Claims")
        dialog.steps.setCurrentIndex(dialog.steps.findData("reports"))
        dialog.buttons.accepted.emit()
        await take(kim, "q", MakeQueue(name="Claims", sessions=("s4",), work=chosen[0].work))
        await eventually(lambda: len(made.place.queues.items(key_of("q", server))) == 1)
        show(made, key_of("q", server))
        QTest.keyClick(made.window, Qt.Key.Key_Q)
        bar = made.window.docks["review"].widget().bar  # type: ignore[attr-defined]
        await eventually(lambda: bar.count.text() == "0/2 judged")
        for step in (3, 4):
            QTest.keyClick(made.window, Qt.Key.Key_X)
            await eventually(lambda n=step: made.cursor.step == n and sees(made, n))
            QTest.keyClick(made.window, Qt.Key.Key_K)
            await eventually(lambda n=step: bar.count.text() in (f"{n - 2}/2 judged", "All 2 judged"))
        await eventually(lambda: item(kim, "s4").is_done)


async def test_a_queue_is_made_of_what_a_filter_lists_and_everybody_has_it(tmp_path: Path) -> None:
    async with office(tmp_path) as (_, kim, made, server):
        made.place.queues.show(Shown(query="is:undecided", title="Undecided"))
        await eventually(lambda: len(rows(made)) == 3)
        made.actions["queue.make"].trigger()
        dialog = made.window.findChild(MakeQueueDialog)
        dialog.name.setText("First look 初看")
        dialog.steps.setCurrentIndex(dialog.steps.findData("some"))
        dialog.count.setValue(1)
        dialog.twice.setValue(50)
        assert dialog.twice.lineEdit().width() > 40 and dialog.count.lineEdit().width() > 40, "figures can be read"
        dialog.buttons.accepted.emit()
        await eventually(lambda: [q.name for q in kim.replica.queues()] == ["First look 初看"])
        (queue,) = kim.replica.queues()
        assert queue.work == QueueWork(steps="some", count=1, twice=50) and queue.filter == "is:undecided"
        await eventually(lambda: made.place.queues.shown.queue == key_of(queue.queue, server))
        await eventually(lambda: len(kim.replica.queue_items()) == 3)
        assert sorted(i.wanted for i in kim.replica.queue_items()) == [1, 1, 2]


async def test_who_reads_is_seen_and_blind_people_see_no_progress_of_others(tmp_path: Path) -> None:
    async with office(tmp_path) as (_, kim, made, server):
        key = key_of("q", server)
        await take(kim, "q", MakeQueue(name="Q", sessions=("s1", "s2"), work=QueueWork(twice=50)))
        await take(kim, "q", TakeFromQueue(taken="s2"))
        await judge(kim, "s2", "keep", "mask")
        kim.read("s1")
        show(made, key)
        await eventually(lambda: [(r.icon, r.word) for r in rows(made)] == [("lock", "kim is reading"),
                                                                           ("circle", "")])
        head = made.window.docks["queue"].widget().head  # type: ignore[attr-defined]
        await eventually(lambda: rows(made)[1].judged.total == 2)
        made.place.queues.send(key, TakeFromQueue(taken="s2"))
        await eventually(lambda: rows(made)[1].who == "kim, you")
        assert rows(made)[1].judged.total == 0, "the own progress, of a session that the reader has"
        for step, value in ((1, "keep"), (2, "mask")):
            made.place.sender.send(key_of("s2", server), GiveVerdict(step=step, value=value))  # type: ignore[arg-type]
        await eventually(lambda: rows(made)[1].agreement == "κ 1.00" and "κ" in head.numbers[4].text())
        made.place.settings.set("review.blind", True)
        await eventually(lambda: rows(made)[1].agreement == "" and "κ" not in head.numbers[4].text())
        assert made.place.queues.review(made.desks.of(key).row(key_of("s1", server))).judged == 0  # type: ignore[arg-type]
        spoken = [row.spoken for row in rows(made)]
        assert not any("2 of" in text and "kim" in text and "you" not in text for text in spoken)


async def test_who_opens_a_session_of_a_blind_queue_is_blind_before_they_take_it_and_has_it_once_they_judge(
        tmp_path: Path) -> None:
    async with office(tmp_path) as (_, kim, made, server):
        key, session = key_of("q", server), key_of("s1", server)
        await take(kim, "q", MakeQueue(name="Claims", sessions=("s1",), work=QueueWork(twice=100, blind=True)))
        await take(kim, "q", TakeFromQueue(taken="s1"))
        await judge(kim, "s1", "mask")
        await eventually(lambda: len(made.place.queues.items(key)) == 1)
        show(made, key)
        head = made.window.docks["queue"].widget().head  # type: ignore[attr-defined]
        await eventually(lambda: head.numbers[4].text() == "No session of it is with you yet: Q takes one")
        made.place.queues.enter(session)
        assert made.place.queues.is_blind(session) and made.place.queues.asking(session) is None
        made.cursor.to_step(2)
        await eventually(lambda: sees(made, 2))
        QTest.keyClick(made.window, Qt.Key.Key_K)
        await eventually(lambda: sorted(h.person for h in item(kim, "s1").holders) == ["kim", "me"])


async def test_without_a_network_a_wish_waits_and_the_refusal_is_said_in_words(tmp_path: Path) -> None:
    async with office(tmp_path) as (_, kim, made, server):
        key = key_of("q", server)
        await take(kim, "q", MakeQueue(name="Q", sessions=("s1", "s2")))
        await eventually(lambda: len(made.place.queues.items(key)) == 2)
        heard: list[str] = []
        made.notices.posted.connect(lambda notice: heard.append(notice.sentence))
        desk = made.desks.of(key)
        made.place.servers.set_connected(server, False)
        await eventually(lambda: desk.link.state != "online")
        made.place.queues.send(key, TakeFromQueue(taken="s1"))
        assert any("waits here" in text for text in heard)
        await take(kim, "q", TakeFromQueue(taken="s1"))
        made.place.servers.set_connected(server, True)
        await eventually(lambda: any("is with kim already" in text for text in heard))
        await take(kim, "q", GiveBack(given="s1"))


async def test_a_reader_who_goes_away_holds_no_session_from_others(tmp_path: Path) -> None:
    async with office(tmp_path) as (_, kim, made, server):
        readers: list[tuple[Reader, ...]] = []
        kim.on_readers.append(readers.append)
        await take(kim, "q", MakeQueue(name="Q", sessions=("s1",)))
        made.cursor.move(key_of("s1", server))
        await eventually(lambda: readers and readers[-1] == (Reader("s1", "me"),))
        made.place.queues.leave()
        await eventually(lambda: readers[-1] == ())
        await take(kim, "q", TakeFromQueue())
